// An access log line's template, read from the text of -F: literal text, and specifiers behind a percent sign.
// What the transaction must be searched for (headers, std.log keys, log records) is collected on the way, so
// that a line costs one walk over its records.
//
// Awkward: texts are latin1, one character a byte, as the log's are; what comes from a command line or a file
// must be turned into that first. The field's name `Varnish:` and the neutral `Proxy:` are the same family.

import { TAGS } from '../../protocol/tables/tags.ts';

/** What of a transaction a specifier prints. `integer` pieces are null in JSON when there is nothing. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'fact'; fact: FactName; integer: boolean; otherwise: string }
  | { kind: 'request-line' | 'user' | 'side' | 'vxid' | 'hitmiss' | 'handling' }
  | { kind: 'time'; format: string }
  | { kind: 'duration'; unit: DurationUnit }
  | { kind: 'request-header' | 'response-header'; watch: number }
  | { kind: 'std-log'; watch: number }
  | { kind: 'record'; watch: number };

export type FactName = 'b' | 'H' | 'h' | 'I' | 'm' | 'O' | 'q' | 's' | 'U' | 'firstByte';
export type DurationUnit = 's' | 'ms' | 'us';

/** A log record looked for: its tag, the prefix of its text, one of its fields (from 1; 0 is all). */
export interface RecordWatch {
  tag: number;
  prefix: string;
  field: number;
}

export interface Template {
  pieces: Piece[];
  /** Lower-case names of request and response fields, and std.log keys, looked for. */
  requestHeaders: string[];
  responseHeaders: string[];
  logKeys: string[];
  records: RecordWatch[];
}

export const DEFAULT_TEMPLATE = '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i"';
const TIME_FORMAT = '[%d/%b/%Y:%T %z]';

const SIMPLE: Readonly<Record<string, Piece>> = {
  b: { kind: 'fact', fact: 'b', integer: true, otherwise: '-' },
  D: { kind: 'duration', unit: 'us' },
  H: { kind: 'fact', fact: 'H', integer: false, otherwise: 'HTTP/1.0' },
  h: { kind: 'fact', fact: 'h', integer: false, otherwise: '-' },
  I: { kind: 'fact', fact: 'I', integer: true, otherwise: '-' },
  l: { kind: 'text', text: '-' },
  m: { kind: 'fact', fact: 'm', integer: false, otherwise: '-' },
  O: { kind: 'fact', fact: 'O', integer: true, otherwise: '-' },
  q: { kind: 'fact', fact: 'q', integer: false, otherwise: '' },
  r: { kind: 'request-line' },
  s: { kind: 'fact', fact: 's', integer: true, otherwise: '-' },
  t: { kind: 'time', format: TIME_FORMAT },
  T: { kind: 'duration', unit: 's' },
  U: { kind: 'fact', fact: 'U', integer: false, otherwise: '-' },
  u: { kind: 'user' },
};

const VARIABLES: Readonly<Record<string, Piece>> = {
  time_firstbyte: { kind: 'fact', fact: 'firstByte', integer: true, otherwise: '-' },
  hitmiss: { kind: 'hitmiss' },
  handling: { kind: 'handling' },
  side: { kind: 'side' },
  vxid: { kind: 'vxid' },
};

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };

/** The template, or what is wrong with it in the words of the field's tool. */
export function parseTemplate(source: string, json: boolean): Template | string {
  const out: Template = { pieces: [], requestHeaders: [], responseHeaders: [], logKeys: [], records: [] };
  let literal = '';
  const add = (piece: Piece): void => {
    if (literal !== '') out.pieces.push({ kind: 'text', text: literal });
    literal = '';
    out.pieces.push(piece);
  };
  for (let i = 0; i < source.length; i++) {
    const c = source[i] as string;
    if (c === '\\' && i + 1 < source.length) {
      const escaped = source[++i] as string;
      literal += ESCAPES[escaped] ?? escaped;
    } else if (c !== '%') {
      literal += c;
    } else if (source[i + 1] !== '{') {
      const piece = SIMPLE[source[i + 1] ?? ''];
      if (piece === undefined) return `Unknown format specifier at: ${source.slice(i)}`;
      add(piece);
      i++;
    } else {
      const close = closingBracket(source, i + 1);
      if (close < 0) return `Unmatched bracket at: ${source.slice(i)}`;
      const piece = bracketed(source.slice(i + 2, close), source[close + 1] ?? '', out, json);
      if (piece === undefined) return `Unknown format specifier at: ${source.slice(i)}`;
      if (typeof piece === 'string') return piece;
      add(piece);
      i = close + 1;
    }
  }
  if (literal !== '') out.pieces.push({ kind: 'text', text: literal });
  return out;
}

/** Time formats hold brackets of their own. */
function closingBracket(source: string, open: number): number {
  let depth = 0;
  for (let i = open; i < source.length; i++) {
    if (source[i] === '{') depth++;
    else if (source[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

function watch<T>(list: T[], item: T): number {
  return list.push(item) - 1;
}

function bracketed(name: string, letter: string, out: Template, json: boolean): Piece | string | undefined {
  switch (letter) {
    case 'i':
      return { kind: 'request-header', watch: watch(out.requestHeaders, name.toLowerCase()) };
    case 'o':
      return { kind: 'response-header', watch: watch(out.responseHeaders, name.toLowerCase()) };
    case 't':
      return { kind: 'time', format: name };
    case 'T':
      if (name !== 's' && name !== 'ms' && name !== 'us') return `Unknown specifier: %{${name}}T`;
      return { kind: 'duration', unit: name };
    case 'x':
      return extended(name, out, json);
    default:
      return undefined;
  }
}

function extended(name: string, out: Template, json: boolean): Piece | string {
  const [, family = '', rest = ''] = /^(\w+):(.*)$/s.exec(name) ?? [];
  if (family === 'Varnish' || family === 'Proxy') {
    const piece = Object.hasOwn(VARIABLES, rest) ? VARIABLES[rest] : undefined;
    if (piece !== undefined) return piece;
  }
  if (family === 'VCL_Log') return { kind: 'std-log', watch: watch(out.logKeys, rest) };
  if (family !== 'VSL') return `Unknown formatting extension: ${name}`;
  const found = recordWatch(rest, json);
  return typeof found === 'string' ? found : { kind: 'record', watch: watch(out.records, found) };
}

/** tag[:prefix][[field]] */
function recordWatch(text: string, json: boolean): RecordWatch | string {
  if (text === '') return 'Missing tag in VSL:';
  let body = text;
  let field = 0;
  const open = text.lastIndexOf('[');
  if (text.endsWith(']') && open >= 0) {
    const digits = text.slice(open + 1, -1);
    if (!/^\s*[+-]?\d+$/.test(digits)) return `Syntax error: VSL:${text}`;
    field = Number(digits);
    if (field < 1 || field > 255) {
      return `Syntax error. Field specifier must be between 1 and 255: ${text}`;
    }
    body = text.slice(0, open);
  }
  const colon = body.indexOf(':');
  const tagName = colon < 0 ? body : body.slice(0, colon);
  const tag = tagByName(tagName);
  if (typeof tag === 'number' && !json && isBinary(tag)) {
    return `Tag ${TAGS[tag - 1]?.name} can contain control characters`;
  }
  if (typeof tag === 'string') return tag;
  return { tag, prefix: colon < 0 ? '' : body.slice(colon + 1), field };
}

/** A tag by its name or an unambiguous beginning of it, in any case. */
function tagByName(name: string): number | string {
  const wanted = name.toLowerCase();
  let found = 0;
  for (const [i, row] of TAGS.entries()) {
    const tag = row.name.toLowerCase();
    if (tag === wanted) return i + 1;
    if (!tag.startsWith(wanted)) continue;
    if (found !== 0) return `Tag not unique: ${name}`;
    found = i + 1;
  }
  return found === 0 ? `Unknown log tag: ${name}` : found;
}

/** JSON can hold any byte, other lines cannot. */
function isBinary(tag: number): boolean {
  const flags: readonly string[] = TAGS[tag - 1]?.flags ?? [];
  return flags.includes('binary');
}
