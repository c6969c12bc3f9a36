// Formats a transaction's facts by a template. Strings are quoted so that a line stays a line: C style, or JSON style
// with -j, where missing values are "" or 0 and invalid UTF-8 becomes one character per byte.

import { isUtf8 } from 'node:buffer';
import { localTime } from '../../protocol/local-time.ts';
import { strftime } from '../../protocol/strftime.ts';
import { unreachable } from '../../protocol/units.ts';
import type { Facts } from './facts.ts';
import { DURATION_UNITS, type DurationUnit, type Piece, TIME_WORDS, whole } from './specifiers.ts';
import type { Template } from './template.ts';

/** The line, latin1, with its newline; empty if it needs a time that the log lacks. */
export function accessLine(template: Template, facts: Facts, json: boolean): string {
  let out = '';
  for (const piece of template.pieces) {
    const text = render(piece, facts, json);
    if (text === null) return '';
    out += text;
  }
  return `${out}\n`;
}

function render(piece: Piece, f: Facts, json: boolean): string | null {
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'fact': {
      const value = f.values[piece.fact];
      // Numbers are unquoted: an invalid one, possible in a recording, would break the JSON.
      const number = !json || (value !== undefined && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value));
      if (value !== undefined && (number || !piece.integer)) {
        return piece.integer ? value : quote(value, json);
      }
      if (!json) return piece.otherwise;
      return piece.integer ? '0' : piece.otherwise === '-' ? '' : piece.otherwise;
    }
    case 'request-line': {
      const { m = '-', U = '', q = '', H = 'HTTP/1.0' } = f.values;
      const host = f.host ?? 'localhost';
      return quote(`${m} http://${host}${U}${q} ${H}`, json);
    }
    case 'user':
      return quote(userOf(f.authorization), json);
    case 'side':
      return f.side;
    case 'vxid':
      return String(f.vxid);
    case 'hitmiss':
      return f.hitmiss;
    case 'handling':
      return f.handling;
    case 'time':
      return timeText(piece.format, f);
    case 'duration':
      return durationText(piece.unit, f);
    case 'request-header':
      return optional(f.requestHeaders[piece.watch], json);
    case 'response-header':
      return optional(f.responseHeaders[piece.watch], json);
    case 'std-log':
      return quote(f.logKeys[piece.watch] ?? '', json);
    case 'record':
      return optional(f.records[piece.watch], json);
    default:
      return unreachable(piece);
  }
}

function nothing(json: boolean): string {
  return json ? '' : '-';
}

function optional(value: string | undefined, json: boolean): string {
  return value === undefined ? nothing(json) : quote(value, json);
}

/** The user name in base64 `name:password`; a dash without one. */
function userOf(credentials: string | undefined): string {
  if (credentials === undefined || !/^[A-Za-z0-9+/=]+$/.test(credentials)) return '-';
  const text = Buffer.from(credentials, 'base64').toString('latin1');
  const colon = text.indexOf(':');
  return colon < 0 ? text : text.slice(0, colon);
}

const TIME_TEXTS = new Map(TIME_WORDS.map((row) => [row.word, row.text]));
const PER_SECOND = new Map<DurationUnit, number>(DURATION_UNITS.map((row) => [row.unit, row.perSecond]));

function timeText(format: string, f: Facts): string | null {
  const t = seconds(f.start);
  if (t === null) return null;
  return TIME_TEXTS.get(format)?.(t) ?? strftime(format, localTime(t));
}

function durationText(unit: DurationUnit, f: Facts): string | null {
  const start = seconds(f.start);
  if (start === null) return null;
  return whole(((seconds(f.end) ?? start) - start) * (PER_SECOND.get(unit) as number));
}

function seconds(text: string | undefined): number | null {
  const n = text === undefined ? Number.NaN : Number.parseFloat(text);
  return Number.isNaN(n) ? null : n;
}

const SHORT: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  '\\': '\\\\',
};
const QUOTED = /[\x00-\x1f\x7f-\xff"\\]/g;
/** JSON takes UTF-8 unchanged. */
const QUOTED_JSON = /[\x00-\x1f"\\]/g;
const QUOTED_JSON_BYTES = /[\x00-\x1f"\\\x80-\xff]/g;

function quote(text: string, json: boolean): string {
  const special = !json ? QUOTED : isUtf8(Buffer.from(text, 'latin1')) ? QUOTED_JSON : QUOTED_JSON_BYTES;
  return text.replace(special, (c) => {
    const short = SHORT[c];
    if (short !== undefined) return short;
    const code = c.charCodeAt(0).toString(16);
    return json ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}
