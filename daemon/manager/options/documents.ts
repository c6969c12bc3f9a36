// The documents that proxyd prints: usage, -V and -x, all generated from the tables.

import { helpText, optstring, versionLine } from '../../../protocol/command-line.ts';
import { COMMANDS } from '../../../protocol/tables/commands.ts';
import { PARAMS, type ParamRow } from '../../../protocol/tables/params.ts';
import { PROXYD } from '../../../protocol/tables/proxyd-options.ts';
import { RELEASES } from '../../../protocol/tables/release-changes.ts';
import { TAGS } from '../../../protocol/tables/tags.ts';
import type { OptionRow } from '../../../protocol/tables/tool-row.ts';
import { runtimeSupport } from './runtime-support.ts';

export function usageText(): string {
  return helpText(PROXYD);
}

/** The getopt(3) string, in Varnish's order. */
export function optionLetters(): string {
  const sorted = PROXYD.options.toSorted((a, b) => letter(a).localeCompare(letter(b)));
  return optstring(sorted);
}

function letter({ flags }: OptionRow): string {
  return (flags[1] ?? '').toLowerCase();
}

/** @param now milliseconds since the epoch, for the support of the runtime */
export function versionText(version: string, now = Date.now()): string {
  const releases = `Programs mean what they mean in Varnish ${RELEASES[0]}, with -p varnish_release=${RELEASES[1]} in ${RELEASES[1]}\n`;
  const { node } = process.versions;
  const support = runtimeSupport(node, now);
  const runtime = `Node ${node}, ${process.platform} ${process.arch}${support === '' ? '' : `\n${support}`}`;
  return `${versionLine('proxyd', version)}\n${releases}${runtime}\n`;
}

export async function documentText(what: string): Promise<string> {
  switch (what) {
    case 'builtin':
      return (await import('../../vcl/own-programs.ts')).builtinText();
    case 'cli':
      return COMMANDS.map((c) => `${c.syntax}\n  ${c.help}\n`).join('\n');
    case 'lint': {
      const { RULES } = await import('../../vcl/lint/rules.ts');
      const { RELEASE_RULES } = await import('../../vcl/lint/rules/releases.ts');
      return [...RULES, ...RELEASE_RULES]
        .map((r) => `${r.slug} (${r.severity})\n  ${r.explanation}\n`)
        .join('\n');
    }
    case 'parameter':
      return PARAMS.map((row) => parameterText(row)).join('\n');
    case 'vsl':
      return TAGS.filter((t) => !(t.flags as readonly string[]).includes('unused'))
        .map((t) => `${t.name}\n\t${t.help}\n`)
        .join('\n');
    default:
      return `${optionLetters()}\n`;
  }
}

function parameterText(row: ParamRow): string {
  const facts: string[] = [];
  if (row.unit !== undefined) facts.push(`\t* Units: ${row.unit}`);
  facts.push(`\t* Default: ${row.defaultIs ?? row.default}`);
  if (row.min !== undefined) facts.push(`\t* Minimum: ${row.min}`);
  if (row.max !== undefined) facts.push(`\t* Maximum: ${row.max}`);
  if (row.flags !== undefined) facts.push(`\t* Flags: ${row.flags.join(', ')}`);
  const bits = (row.bits ?? []).map((b) => `\t${b.name}\n\t\t${b.help}\n`).join('');
  const rule = '~'.repeat(row.name.length);
  return `.. _ref_param_${row.name}:\n\n${row.name}\n${rule}\n${facts.join('\n')}\n\n${row.help}\n${bits === '' ? '' : `\n${bits}`}`;
}
