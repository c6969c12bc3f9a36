// The formats of param.show: the short table, the long description, JSON.
//
// Pure functions of a row and its value; layout (columns, indentation, line width) as in Varnish, because scripts parse
// it.

import { PARAMS, type ParamFlag, type ParamName, type ParamRow } from '../../protocol/tables/params.ts';
import type { Params } from './parameter-set.ts';
import { ALIASES } from './related.ts';
import { UNLIMITED } from './value.ts';

const NAME_WIDTH = 30;
const LINE_WIDTH = 72;
const INDENT = 8;

const NOTES: Readonly<Record<ParamFlag, string>> = {
  obj_sticky:
    'This is looked at when an object is made. Objects in the cache keep what they have until they are fetched again.',
  delayed_effect: 'A change may take a while until all of it is seen.',
  must_restart: 'A change takes effect when the worker is started the next time.',
  must_reload: 'A change takes effect for programs that are loaded after it.',
  experimental: 'Little is known about good values other than the default. Change it with care, and measure.',
  wizard: 'Change it only on the advice of those who make this program.',
  protected: 'It was made read-only when the daemon was started (-r).',
  build_options: 'The default depends on how the program was installed.',
};

const NEVER_NOTE = 'With the value never there is no limit.';

/** One line of the short table, including the newline. */
export function showShort(params: Params, row: ParamRow): string {
  return `${row.name.padEnd(NAME_WIDTH)}${valueText(params, row)}\n`;
}

/** The long description; ends with an empty line. */
export function showLong(params: Params, at: ParamRow): string {
  const alias = aliasOf(params, at);
  if (alias !== null) {
    const margin = ' '.repeat(INDENT);
    return `${at.name}\n${margin}Value is: ${alias.value}\n${margin}Alias of: ${alias.of}\n\n${margin}${alias.help}\n\n`;
  }
  const row = params.asOfNow(at);
  const out = [row.name, `${' '.repeat(INDENT)}Value is: ${valueText(params, row)}`];
  const fact = (label: string, text: string | undefined): void => {
    if (text !== undefined) out.push(`${' '.repeat(INDENT)}${label} is: ${text}`);
  };
  if (!params.isDefault(row)) fact('Default', defaultText(params, row));
  fact('Minimum', row.min);
  fact('Maximum', row.max);
  out.push('');
  for (const paragraph of description(params, row)) {
    for (const line of paragraph) out.push(line);
    out.push('');
  }
  if (row.never === true && params.changes.bitSets) out.push(...wrap(`NB: ${NEVER_NOTE}`, INDENT), '');
  for (const flag of row.flags ?? []) {
    out.push(...wrap(`NB: ${NOTES[flag]}`, INDENT), '');
  }
  return `${out.join('\n')}\n`;
}

/** The JSON object, indented like the other JSON replies. */
export function showJson(params: Params, at: ParamRow): string {
  const alias = aliasOf(params, at);
  if (alias !== null) {
    const members = {
      name: at.name,
      alias: alias.of,
      implemented: true,
      value: alias.value,
      description: alias.help,
    };
    const lines = Object.entries(members).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
    return `  {\n    ${[...lines, '"flags": []'].join(',\n    ')}\n  }`;
  }
  const row = params.asOfNow(at);
  const fields: string[] = [`"name": ${JSON.stringify(row.name)}`, '"implemented": true'];
  fields.push(`"value": ${jsonValue(params, row)}`);
  if (row.unit !== undefined) fields.push(`"units": ${JSON.stringify(row.unit)}`);
  fields.push(`"default": ${JSON.stringify(defaultText(params, row))}`);
  if (row.min !== undefined) fields.push(`"minimum": ${JSON.stringify(row.min)}`);
  if (row.max !== undefined) fields.push(`"maximum": ${JSON.stringify(row.max)}`);
  fields.push(`"description": ${JSON.stringify(jsonDescription(params, row))}`);
  const flags = (row.flags ?? []).map((f) => `\n      ${JSON.stringify(f)}`).join(',');
  fields.push(`"flags": [${flags}${flags === '' ? '' : '\n    '}]`);
  return `  {\n    ${fields.join(',\n    ')}\n  }`;
}

/** A name of Varnish 7.1 for a bit of another parameter, where it is one: it is not listed, and shows all bits. */
function aliasOf(params: Params, row: ParamRow): { of: string; value: string; help: string } | null {
  const of = params.changes.parameterAliases ? ALIASES.get(row.name) : undefined;
  const target = PARAMS.find(({ name }) => name === of);
  if (of === undefined || target === undefined) return null;
  return { of, value: params.shown(target), help: `An old name for a bit of ${of}.` };
}

/** Whether param.show lists it. */
export function isListed(params: Params, row: ParamRow): boolean {
  return aliasOf(params, row) === null;
}

function defaultText(params: Params, row: ParamRow): string {
  return row.type === 'bits' || row.type === 'mask' ? params.format(row, row.default) : row.default;
}

function valueText(params: Params, row: ParamRow): string {
  const unit = row.unit === undefined ? '' : ` [${row.unit}]`;
  return `${params.shown(row)}${unit}${params.isDefault(row) ? ' (default)' : ''}`;
}

function jsonValue(params: Params, row: ParamRow): string {
  const value = params.get(row.name as ParamName);
  if (typeof value === 'string' || row.type === 'choice') return JSON.stringify(params.shown(row));
  if (row.type === 'timeout') {
    const shown = params.shown(row);
    return shown === 'never' ? '"never"' : shown;
  }
  return value === UNLIMITED ? '"unlimited"' : String(value);
}

function bitsIntro(params: Params, row: ParamRow): { words: [string, string][]; use: string } | null {
  const off: [string, string] = ['none', 'All off.'];
  const usual: [string, string] = ['default', 'The default set.'];
  const on: [string, string] = ['all', row.type === 'mask' ? 'Every record is written.' : 'All on.'];
  const { bitSets } = params.changes;
  if (row.type === 'bits')
    return {
      words: [...(row.default === 'none' ? [] : [usual]), off, ...(bitSets ? [on] : [])],
      use: 'With a + or - before its name, one bit goes on or off:',
    };
  if (row.type === 'mask') {
    return {
      words: bitSets ? [on, usual] : [usual],
      use: 'With a + or - before the name of a log tag, its records are written or left out.',
    };
  }
  return null;
}

function description(params: Params, row: ParamRow): string[][] {
  const paragraphs = row.help.split('\n\n').map((p) => wrap(p, INDENT));
  const intro = bitsIntro(params, row);
  if (intro === null) return paragraphs;
  const bits = (row.bits ?? []).map((b): [string, string] => [b.name, b.help]);
  const width = Math.max(20, ...[...intro.words, ...bits].map(([name]) => name.length + 2));
  const item = ([name, help]: [string, string]): string[] => {
    const lines = wrap(help, INDENT + 3 + width);
    lines[0] = `${' '.repeat(INDENT + 3)}${name.padEnd(width)}${(lines[0] ?? '').trimStart()}`;
    return lines;
  };
  paragraphs.at(-1)?.push(...intro.words.flatMap(item));
  paragraphs.push([...wrap(intro.use, INDENT), ...bits.flatMap(item)]);
  return paragraphs;
}

function jsonDescription(params: Params, row: ParamRow): string {
  const intro = bitsIntro(params, row);
  if (intro === null) return row.help;
  const item = ([name, help]: [string, string]): string => `\n\t${name}\t${help}`;
  const bits = (row.bits ?? []).map((b): [string, string] => [b.name, b.help]);
  return `${row.help}${intro.words.map(item).join('')}\n\n${intro.use}${bits.map(item).join('')}`;
}

function wrap(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent + line.length + 1 + word.length >= LINE_WIDTH) {
      lines.push(' '.repeat(indent) + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(' '.repeat(indent) + line);
  return lines;
}
