// The formats of param.show: the short table, the long description, JSON.
//
// Pure functions of a row and its value; layout (columns, indentation, line width) as in Varnish, because scripts parse
// it.

import type { ParamFlag, ParamRow } from '../../protocol/tables/params.ts';
import type { Params } from './parameter-set.ts';
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

/** One line of the short table, including the newline. */
export function showShort(params: Params, row: ParamRow): string {
  return `${row.name.padEnd(NAME_WIDTH)}${valueText(params, row)}\n`;
}

/** The long description; ends with an empty line. */
export function showLong(params: Params, at: ParamRow): string {
  const row = params.asOfNow(at);
  const out = [row.name, `${' '.repeat(INDENT)}Value is: ${valueText(params, row)}`];
  const fact = (label: string, text: string | undefined): void => {
    if (text !== undefined) out.push(`${' '.repeat(INDENT)}${label} is: ${text}`);
  };
  if (!params.isDefault(row)) fact('Default', row.default);
  fact('Minimum', row.min);
  fact('Maximum', row.max);
  out.push('');
  for (const paragraph of description(row)) {
    for (const line of paragraph) out.push(line);
    out.push('');
  }
  for (const flag of row.flags ?? []) {
    out.push(...wrap(`NB: ${NOTES[flag]}`, INDENT), '');
  }
  return `${out.join('\n')}\n`;
}

/** The JSON object, indented like the other JSON replies. */
export function showJson(params: Params, at: ParamRow): string {
  const row = params.asOfNow(at);
  const fields: string[] = [`"name": ${JSON.stringify(row.name)}`, '"implemented": true'];
  fields.push(`"value": ${jsonValue(params, row)}`);
  if (row.unit !== undefined) fields.push(`"units": ${JSON.stringify(row.unit)}`);
  fields.push(`"default": ${JSON.stringify(row.default)}`);
  if (row.min !== undefined) fields.push(`"minimum": ${JSON.stringify(row.min)}`);
  if (row.max !== undefined) fields.push(`"maximum": ${JSON.stringify(row.max)}`);
  fields.push(`"description": ${JSON.stringify(jsonDescription(row))}`);
  const flags = (row.flags ?? []).map((f) => `\n      ${JSON.stringify(f)}`).join(',');
  fields.push(`"flags": [${flags}${flags === '' ? '' : '\n    '}]`);
  return `  {\n    ${fields.join(',\n    ')}\n  }`;
}

function valueText(params: Params, row: ParamRow): string {
  const unit = row.unit === undefined ? '' : ` [${row.unit}]`;
  return `${params.shown(row)}${unit}${params.isDefault(row) ? ' (default)' : ''}`;
}

function jsonValue(params: Params, row: ParamRow): string {
  const value = params.snapshot()[row.name];
  if (typeof value === 'string') return JSON.stringify(value);
  if (row.type === 'choice') return JSON.stringify(params.shown(row));
  if (row.type === 'timeout') return Number(value).toFixed(3);
  return value === UNLIMITED ? '"unlimited"' : String(value);
}

function bitsIntro(row: ParamRow): { words: [string, string][]; use: string } | null {
  const off: [string, string] = ['none', 'All off.'];
  const usual: [string, string] = ['default', 'The default set.'];
  if (row.type === 'bits')
    return {
      words: row.default === 'none' ? [off] : [usual, off],
      use: 'With a + or - before its name, one bit goes on or off:',
    };
  if (row.type === 'mask') {
    return {
      words: [usual],
      use: 'With a + or - before the name of a log tag, its records are written or left out.',
    };
  }
  return null;
}

function description(row: ParamRow): string[][] {
  const paragraphs = row.help.split('\n\n').map((p) => wrap(p, INDENT));
  const intro = bitsIntro(row);
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

function jsonDescription(row: ParamRow): string {
  const intro = bitsIntro(row);
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
