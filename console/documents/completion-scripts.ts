// Completion for bash, zsh and fish, generated from the tables of tools, commands, parameters, counters and tags. The
// scripts are static and run no program while completing.

import { COMMANDS } from '../../protocol/tables/commands.ts';
import { MAIN_COUNTERS, MGT_COUNTERS } from '../../protocol/tables/counters.ts';
import { PARAMS } from '../../protocol/tables/params.ts';
import { TAGS } from '../../protocol/tables/tags.ts';
import { TOOLS } from '../../protocol/tables/tools.ts';

/** Possible values of an option: files, folders, one of these words, or anything. */
type Values = 'file' | 'dir' | readonly string[] | 'any';

const COMMAND_NAMES = COMMANDS.filter((c) => !('hidden' in c)).map((c) => c.name);
const PARAM_NAMES = PARAMS.map((p) => p.name);
const TAG_NAMES = TAGS.filter((t) => !(t.flags as readonly string[]).includes('unused')).map((t) => t.name);
const COUNTER_NAMES = [
  ...MGT_COUNTERS.map((c) => `MGT.${c.name}`),
  ...MAIN_COUNTERS.map((c) => `MAIN.${c.name}`),
];

/** An option under one of its names. */
interface Flag {
  flag: string;
  /** '' if it takes none. */
  argument: string;
  help: string;
}

function valuesOf(tool: string, o: Flag): Values {
  if (tool === 'proxystat' && 'fIX'.includes(o.flag[1] ?? '')) return COUNTER_NAMES;
  if (/^(taglist|\[taglist:\]regex)$/.test(o.argument)) return TAG_NAMES;
  if (/^dir/.test(o.argument)) return 'dir';
  if (/file/.test(o.argument)) return 'file';
  if (tool === 'proxyd' && (o.flag === '-p' || o.flag === '-r')) return PARAM_NAMES;
  if (/^[\w-]+(\|[\w-]+)+$/.test(o.argument)) return o.argument.split('|');
  return 'any';
}

interface Tool {
  name: string;
  options: Flag[];
}

const ALL: readonly Tool[] = TOOLS.map(({ name, options }) => ({
  name,
  options: options
    .filter((row) => row.hidden !== true)
    .flatMap((row) =>
      row.flags
        .split(', ')
        .map((flag) => ({ flag, argument: row.argument ?? '', help: row.help.split('\n')[0] ?? '' })),
    ),
}));

export function completionScripts(): Map<string, string> {
  return new Map([
    ['proxyd.bash', bash(ALL)],
    ['_proxyd', zsh(ALL)],
    ['proxyd.fish', fish(ALL)],
  ]);
}

function bash(all: readonly Tool[]): string {
  const body = all
    .map((tool) => {
      const cases = tool.options.flatMap((o) => {
        if (o.argument === '') return [];
        const values = valuesOf(tool.name, o);
        if (values === 'file') return [`    ${o.flag}) COMPREPLY=($(compgen -f -- "$word")); return ;;`];
        if (values === 'dir') return [`    ${o.flag}) COMPREPLY=($(compgen -d -- "$word")); return ;;`];
        if (values === 'any') return [`    ${o.flag}) return ;;`];
        return [`    ${o.flag}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word")); return ;;`];
      });
      const flags = tool.options.map((o) => o.flag).join(' ');
      const words =
        tool.name === 'proxyadm'
          ? `  case "$before" in\n    param.set|param.show|param.reset) COMPREPLY=($(compgen -W '${PARAM_NAMES.join(' ')}' -- "$word")); return ;;\n  esac\n  [[ $word == -* ]] || { COMPREPLY=($(compgen -W '${COMMAND_NAMES.join(' ')}' -- "$word")); return; }\n`
          : '';
      return `_${tool.name.replaceAll('-', '_')}() {\n  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n  case "$before" in\n${cases.join('\n')}\n  esac\n${words}  COMPREPLY=($(compgen -W '${flags}' -- "$word"))\n}\ncomplete -F _${tool.name.replaceAll('-', '_')} ${tool.name}\n`;
    })
    .join('\n');
  return `# Completion for bash: source it, or put it into a folder of bash-completion.\n\n${body}`;
}

function zsh(all: readonly Tool[]): string {
  const quote = (text: string): string => text.replaceAll("'", "'\\''").replace(/[[\]:]/g, (c) => `\\${c}`);
  const functions = all.map((tool) => {
    const specs = tool.options.map((o) => {
      const spec = `'*${o.flag}[${quote(o.help)}]`;
      if (o.argument === '') return `${spec}'`;
      const values = valuesOf(tool.name, o);
      const action =
        values === 'file'
          ? '_files'
          : values === 'dir'
            ? '_files -/'
            : values === 'any'
              ? ' '
              : `(${values.join(' ')})`;
      return `${spec}:${quote(o.argument)}:${action}'`;
    });
    if (tool.name === 'proxyadm') {
      specs.push(`'1:command:(${COMMAND_NAMES.join(' ')})'`, `'*:argument:(${PARAM_NAMES.join(' ')})'`);
    }
    return `    ${tool.name})\n      _arguments -s \\\n        ${specs.join(' \\\n        ')}\n      ;;`;
  });
  return `#compdef ${all.map((t) => t.name).join(' ')}\n# Completion for zsh: put it into a folder of $fpath.\n\n_proxyd_tools() {\n  case "$service" in\n${functions.join('\n')}\n  esac\n}\n\n_proxyd_tools "$@"\n`;
}

function fish(all: readonly Tool[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = all.flatMap((tool) => {
    const out = tool.options.map((o) => {
      const flag = o.flag.startsWith('--') ? `-l ${o.flag.slice(2)}` : `-s ${quote(o.flag.slice(1))}`;
      const help = `-d ${quote(o.help)}`;
      if (o.argument === '') return `complete -c ${tool.name} ${flag} ${help}`;
      const values = valuesOf(tool.name, o);
      const takes =
        values === 'file'
          ? '-r -F'
          : values === 'dir'
            ? "-x -a '(__fish_complete_directories)'"
            : values === 'any'
              ? '-x'
              : `-x -a ${quote(values.join(' '))}`;
      return `complete -c ${tool.name} ${flag} ${takes} ${help}`;
    });
    if (tool.name === 'proxyadm') {
      for (const c of COMMANDS) {
        if (!('hidden' in c))
          out.push(`complete -c proxyadm -n __fish_use_subcommand -f -a ${c.name} -d ${quote(c.help)}`);
      }
      out.push(
        `complete -c proxyadm -n '__fish_seen_subcommand_from param.set param.show param.reset' -f -a ${quote(PARAM_NAMES.join(' '))}`,
      );
    }
    return out;
  });
  return `# Completion for fish: put it into ~/.config/fish/completions or a folder of vendor_completions.d.\n\n${lines.join('\n')}\n`;
}
