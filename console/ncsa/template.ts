// The template of an access log line, parsed from the text of -F: literal text, and specifiers introduced by a
// percent sign. Headers, std.log keys and log records to look for are collected while parsing, so that a line costs
// one pass over its records. Texts are latin1, one character per byte, as in the log; text from the command line or a
// file must be converted first. The prefixes `Varnish:` and `Proxy:` are equivalent.

import { TAGS, tagNamed } from '../../protocol/tables/tags.ts';
import {
  BRACKETED,
  DEFAULT_FORMAT,
  DEFAULT_FORMAT_VARIABLE,
  DURATION_UNITS,
  ESCAPES,
  FAMILIES,
  type Piece,
  SIMPLE,
  VARIABLES,
} from './specifiers.ts';

/** A log record to look for: its tag, the prefix of its text, one of its fields (from 1; 0 is all). */
export interface RecordWatch {
  tag: number;
  prefix: string;
  field: number;
}

/** A header to look for. */
export interface HeaderWatch {
  /** In lower case. */
  name: string;
  /** The first or the last one that was received or set, whatever became of it; else as the release has it. */
  of: 'first' | 'last' | 'usual';
}

export interface Template {
  pieces: Piece[];
  requestHeaders: HeaderWatch[];
  responseHeaders: HeaderWatch[];
  logKeys: string[];
  records: RecordWatch[];
}

const SIMPLE_PIECES = new Map(SIMPLE.map((row) => [row.letter, row.piece]));
const VARIABLE_PIECES = new Map(VARIABLES.map((row) => [row.name, row.piece]));
const ESCAPED = new Map(ESCAPES.map((row) => [row.letter, row.text]));

/** The template, or an error in the words of varnishncsa. */
export function parseTemplate(source: string, json: boolean): Template | string {
  const out: Template = { pieces: [], requestHeaders: [], responseHeaders: [], logKeys: [], records: [] };
  return parseInto(out, source, json) ?? out;
}

/** Appends what a format says; an error, or null. */
function parseInto(out: Template, source: string, json: boolean): string | null {
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
      literal += ESCAPED.get(escaped) ?? escaped;
    } else if (c !== '%') {
      literal += c;
    } else if (source[i + 1] !== '{') {
      const piece = SIMPLE_PIECES.get(source[i + 1] ?? '');
      if (piece === undefined) return `Unknown format specifier at: ${source.slice(i)}`;
      add(piece);
      i++;
    } else {
      const close = closingBracket(source, i + 1);
      if (close < 0) return `Unmatched bracket at: ${source.slice(i)}`;
      const inside = source.slice(i + 2, close);
      if (source[close + 1] === 'x' && DEFAULT_FORMAT_NAME.test(inside)) {
        if (literal !== '') out.pieces.push({ kind: 'text', text: literal });
        literal = '';
        parseInto(out, DEFAULT_FORMAT, json);
        i = close + 1;
        continue;
      }
      const piece = bracketed(inside, source[close + 1] ?? '', out, json);
      if (piece === undefined) return `Unknown format specifier at: ${source.slice(i)}`;
      if (typeof piece === 'string') return piece;
      add(piece);
      i = close + 1;
    }
  }
  if (literal !== '') out.pieces.push({ kind: 'text', text: literal });
  return null;
}

/** It stands for a whole format, not for a value. */
const DEFAULT_FORMAT_NAME = new RegExp(`^(Proxy|Varnish):${DEFAULT_FORMAT_VARIABLE}$`);

/** `NAME`, `NAME:first` or `NAME:last`; no name has a colon. */
function headerWatch(text: string): HeaderWatch {
  const [, name = '', of] = /^(.*?)(?::(first|last))?$/s.exec(text) ?? [];
  return { name: name.toLowerCase(), of: of === 'first' || of === 'last' ? of : 'usual' };
}

/** Time formats may contain brackets. */
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
  const row = BRACKETED.find((r) => r.letter === letter);
  if (row === undefined) return undefined;
  switch (row.letter) {
    case 'i':
      return { kind: 'request-header', watch: watch(out.requestHeaders, headerWatch(name)) };
    case 'o':
      return { kind: 'response-header', watch: watch(out.responseHeaders, headerWatch(name)) };
    case 't':
      return { kind: 'time', format: name };
    case 'T': {
      const unit = DURATION_UNITS.find((u) => u.unit === name)?.unit;
      return unit === undefined ? `Unknown specifier: %{${name}}T` : { kind: 'duration', unit };
    }
    case 'x':
      return extended(name, out, json);
  }
}

function extended(name: string, out: Template, json: boolean): Piece | string {
  const [, before = '', rest = ''] = /^(\w+):(.*)$/s.exec(name) ?? [];
  const family = FAMILIES.find((f) => (f.names as readonly string[]).includes(before))?.names[0];
  switch (family) {
    case 'Proxy':
      return VARIABLE_PIECES.get(rest) ?? `Unknown formatting extension: ${name}`;
    case 'VCL_Log':
      return { kind: 'std-log', watch: watch(out.logKeys, rest) };
    case 'VSL': {
      const found = recordWatch(rest, json);
      return typeof found === 'string' ? found : { kind: 'record', watch: watch(out.records, found) };
    }
    case undefined:
      return `Unknown formatting extension: ${name}`;
  }
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
  const tag = tagNamed(tagName);
  if (tag === 'none') return `Unknown log tag: ${tagName}`;
  if (tag === 'ambiguous') return `Tag not unique: ${tagName}`;
  if (!json && isBinary(tag)) return `Tag ${TAGS[tag - 1]?.name} can contain control characters`;
  return { tag, prefix: colon < 0 ? '' : body.slice(colon + 1), field };
}

/** JSON can represent any byte, other lines cannot. */
function isBinary(tag: number): boolean {
  const flags: readonly string[] = TAGS[tag - 1]?.flags ?? [];
  return flags.includes('binary');
}
