// Parsers of proxylog's option values: numbers, durations, groupings, filters. They accept what varnishlog accepts
// (leading blanks, octal and hexadecimal where it does) and reject the rest with its messages.

import type { Grouping } from '../../protocol/messages.ts';
import { TIME_UNIT_NAMES, TIME_UNITS } from '../../protocol/units.ts';

const INT_MAX = 0x7fff_ffff;
const GROUPINGS: readonly Grouping[] = ['raw', 'vxid', 'request', 'session'];

const DURATION = new RegExp(`^\\s*(\\d*\\.?\\d*)\\s*(${TIME_UNIT_NAMES})\\s*$`);

/** A grouping by name or unique prefix, ignoring case. */
export function parseGrouping(text: string): Grouping | 'ambiguous' | 'unknown' {
  const found = GROUPINGS.filter((name) => name.startsWith(text.toLowerCase()));
  if (found.length > 1) return 'ambiguous';
  return found[0] ?? 'unknown';
}

/** -k: a decimal number from 1 to 2^31 - 1; NaN otherwise. */
export function parseCount(text: string): number {
  const n = /^\s*[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return n >= 1 && n <= INT_MAX ? n : Number.NaN;
}

/** The number at the start of a text by the rules of C's strtol, and the index of its end; 0 without digits. */
function leadingInteger(text: string): { value: number; end: number } {
  const m = /^\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9]\d*))/.exec(text);
  if (m === null) return { value: 0, end: 0 };
  const [all, sign, hex, octal, decimal] = m;
  let value = Number(decimal ?? 0);
  if (hex !== undefined) value = Number.parseInt(hex, 16);
  else if (octal !== undefined) value = Number.parseInt(octal, 8);
  return { value: sign === '-' ? -value : value, end: all.length };
}

/** -L: a number from 1 to 2^31 - 1, or an error. */
export function parseLimit(text: string): number | string {
  const { value, end } = leadingInteger(text);
  if (text.slice(end).trim() !== '') return 'Syntax error';
  return value < 1 || value > INT_MAX ? 'Range error' : value;
}

/** -T: seconds, not negative, or an error. At most 15 digits, or 12 before a point. */
export function parseTimeout(text: string): number | string {
  const m = /^\s*(-?)(\d*)(\.\d*)?\s*$/.exec(text);
  if (m === null) return 'Syntax error';
  const [, sign, whole = '', fraction] = m;
  if (whole === '' && (fraction ?? '.') === '.') return 'Syntax error';
  if (whole.length > (fraction === undefined ? 15 : 12)) return 'Syntax error';
  const seconds = Number(`${whole || '0'}${fraction === undefined ? '' : `${fraction}0`}`);
  return sign === '-' && seconds > 0 ? 'Range error' : seconds;
}

/** -R: count[/duration], with duration [number]unit and a default of one second, or an error. */
export function parseRate(text: string): { count: number; period: number } | string {
  const { value, end } = leadingInteger(text);
  if (value < 1 || value > INT_MAX) return 'Range error';
  const rest = text.slice(end);
  if (rest === '') return { count: value, period: 1 };
  if (!rest.startsWith('/') || rest === '/') return 'Syntax error';
  const m = DURATION.exec(rest.slice(1));
  const [, number = '', unit = 's'] = m ?? [];
  const period = (/\d/.test(number) ? Number(number) : 1) * (TIME_UNITS.get(unit) as number);
  return m === null || !(period > 0) ? 'Syntax error: Invalid duration' : { count: value, period };
}

/** The argument of -I and -X: [taglist:]regex. A leading colon means an empty tag list. */
export function splitRegexFilter(argument: string): { tags: string; regex: string } {
  const colon = argument.indexOf(':');
  return colon < 0
    ? { tags: '*', regex: argument }
    : { tags: argument.slice(0, colon), regex: argument.slice(colon + 1) };
}
