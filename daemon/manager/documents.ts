// What proxyd prints about itself: the usage text, -V and the -x documents, all from the tables.

import { COMMANDS } from '../../protocol/tables/commands.ts';
import { PARAMS, type ParamRow } from '../../protocol/tables/params.ts';
import { TAGS } from '../../protocol/tables/tags.ts';
import { OPTSTRING } from './options.ts';

export const USAGE = `Usage: proxyd [options]

Basic options:
  -a [<name>=]address[:port][,HTTP|PROXY]  # Where clients connect (default :80);
     [,user=<u>][,group=<g>][,mode=<m>]    #   repeatable; the last three for Unix sockets
  -b none | address[:port] | path          # One backend instead of a program
  -f file                                  # Program; repeatable, the last one is active
  -n dir                                   # Working directory: a path, or a sibling of the default, which is
                                           #   /run/proxyd for root, else $XDG_RUNTIME_DIR/proxyd, else
                                           #   $XDG_STATE_HOME/proxyd (~/.local/state/proxyd)

Documents:
  -? | -V                                  # This text, the version
  -x builtin|cli|lint|optstring|parameter|vsl  # Print a document
  -C                                       # Print the generated program of -f or -b
  --lint file [-j]                         # Check a program without loading it; -j prints JSON.
                                           #   Exit 0 clean, 1 warnings, 2 errors

Operation:
  -F                                       # Stay in the foreground, log to standard error
  -d                                       # Stay in the foreground, commands on standard input
  -P file                                  # Write the process id
  -i identity                              # Name of this instance
  -I file                                  # Commands to run at the start
  -T address:port                          # Text CLI; repeatable
  -M address:port                          # Text CLI, connecting out; repeatable
  --console address:port                   # Console protocol over TCP; repeatable
  --allow-origin origin                    # An Origin that may open console connections; repeatable
  --metrics address:port                   # Counters for Prometheus at /metrics
  --allow-host host[:port]                 # A name under which --metrics is asked, or an address that
                                           #   a tunnel to --console begins at; repeatable

Tuning:
  -t ttl                                   # Parameter default_ttl
  -p param=value                           # Parameter; repeatable
  -s [name=]malloc|default|umem[,size]     # Storage; repeatable
  -l size                                  # Size of the log ring

Security:
  -r param[,param...]                      # Parameters that cannot be changed
  -S file                                  # Secret of -T, -M and --console
  -j none | unix[,user=<u>]                # As whom worker and extensions run when root starts the daemon:
     [,workuser=<u>][,ccgroup=<g>]         #   as root (none), or as another user (default: proxyd or nobody)
  --read-group group                       # A group that may read log and counters, and use read.sock

Accepted without effect: -h, -W
`;

export function versionText(version: string): string {
  return `proxyd (proxyd-${version})\nNode ${process.versions.node}, ${process.platform} ${process.arch}\n`;
}

export async function documentText(what: string): Promise<string> {
  switch (what) {
    case 'builtin':
      return (await import('../vcl/builtin.ts')).builtinText();
    case 'cli':
      return COMMANDS.map((c) => `${c.syntax}\n  ${c.help}\n`).join('\n');
    case 'lint': {
      const { RULES } = await import('../vcl/lint/rules.ts');
      return RULES.map((r) => `${r.slug} (${r.severity})\n  ${r.explanation}\n`).join('\n');
    }
    case 'parameter':
      return PARAMS.map((row) => parameterText(row)).join('\n');
    case 'vsl':
      return TAGS.filter((t) => !(t.flags as readonly string[]).includes('unused'))
        .map((t) => `${t.name}\n\t${t.help}\n`)
        .join('\n');
    default:
      return `${OPTSTRING}\n`;
  }
}

function parameterText(row: ParamRow): string {
  const facts: string[] = [];
  if (row.unit !== undefined) facts.push(`\t* Units: ${row.unit}`);
  facts.push(`\t* Default: ${row.default}`);
  if (row.min !== undefined) facts.push(`\t* Minimum: ${row.min}`);
  if (row.max !== undefined) facts.push(`\t* Maximum: ${row.max}`);
  if (row.flags !== undefined) facts.push(`\t* Flags: ${row.flags.join(', ')}`);
  const bits = (row.bits ?? []).map((b) => `\t${b.name}\n\t\t${b.help}\n`).join('');
  const rule = '~'.repeat(row.name.length);
  return `.. _ref_param_${row.name}:\n\n${row.name}\n${rule}\n${facts.join('\n')}\n\n${row.help}\n${bits === '' ? '' : `\n${bits}`}`;
}
