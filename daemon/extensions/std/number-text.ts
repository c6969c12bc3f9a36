// Numbers in strings as std parses them: surrounding whitespace, a sign, at most 15 digits including leading zeros,
// of which 12 may be significant before a point and three after it. Nothing here throws; errors have Varnish's text,
// or none.

import { TIME_UNITS } from '../../../protocol/units.ts';

/** Largest INT, and the whole part of the largest REAL that has decimals. */
export const LARGEST_INT = 999_999_999_999_999;
export const LARGEST_REAL = 999_999_999_999;
/** Larger sizes are not exact. */
const LARGEST_BYTES = 2 ** 53;

/** Reason why a text is not a number; empty if Varnish gives none. */
export type NumberError = 'Invalid number' | 'Too many digits' | '';

interface Leading {
  value: number;
  whole: boolean;
  /** The rest, without leading whitespace. */
  rest: string;
}

const LEADING = /^[ \t\n\v\f\r]*(-?)(\d*)(\.?)(\d*)[ \t\n\v\f\r]*/;

/** @param largest maximum without a point */
function leading(text: string, largest: number): Leading | NumberError {
  const m = LEADING.exec(text) as RegExpExecArray;
  const [all, minus, whole, point, decimals] = m as unknown as [string, string, string, string, string];
  if (whole === '' && decimals === '') return 'Invalid number';
  const limit = point === '' ? largest : LARGEST_REAL;
  if (whole.length > 15 || Number(whole) > limit) return 'Too many digits';
  const thousandths = decimals.slice(0, 3);
  const size = Number(`${whole === '' ? '0' : whole}.${thousandths === '' ? '0' : thousandths}`);
  const value = minus === '' ? size : -size;
  return { value, whole: Number.isInteger(size), rest: text.slice(all.length) };
}

export function integerOf(text: string): number | NumberError {
  const n = leading(text, LARGEST_INT);
  if (typeof n === 'string') return n;
  return n.rest === '' && n.whole ? n.value + 0 : '';
}

/** @param largest maximum without decimals */
export function realOf(text: string, largest = LARGEST_REAL): number | NumberError {
  const n = leading(text, largest);
  if (typeof n === 'string') return n;
  return n.rest === '' ? n.value : '';
}

/** Seconds; null if invalid. */
export function durationOf(text: string): number | null {
  const n = leading(text, LARGEST_INT);
  if (typeof n === 'string') return null;
  const unit = TIME_UNITS.get(n.rest.replace(/[ \t\n\v\f\r]+$/, ''));
  return unit === undefined ? null : n.value * unit;
}

const BYTES = /^[ \t\n\v\f\r]*(-?\d+)(?:\.(\d{1,3}))?[ \t\n\v\f\r]*([kmgtp]?)b?[ \t\n\v\f\r]*$/i;

/** Whole bytes; null if invalid. Decimals need a multiplier, unless they are zeros. */
export function bytesOf(text: string): number | null {
  const m = BYTES.exec(text);
  if (m === null) return null;
  const [, whole = '', decimals, unit = ''] = m;
  if (whole.length > 15 || (decimals !== undefined && Number(whole) > LARGEST_REAL)) return null;
  const size = Number(`${whole}.${decimals ?? '0'}`) + 0;
  if (size < 0) return null;
  if (unit === '') return Number.isInteger(size) ? size : null;
  const bytes = size * 1024 ** ('kmgtp'.indexOf(unit.toLowerCase()) + 1);
  return bytes < LARGEST_BYTES ? Math.floor(bytes) : null;
}

/** Truncated to an INT; null if out of range. */
export function truncated(n: number): number | null {
  const t = Math.trunc(n) + 0;
  return Math.abs(t) <= LARGEST_INT ? t : null;
}

/** A non-negative number of bytes, rounded down, or null. */
export function wholeBytes(n: number): number | null {
  return n >= 0 && n < LARGEST_BYTES ? Math.floor(n) : null;
}

/** Rounds half away from zero, as round(3). */
export function round(n: number): number {
  return n < 0 ? -Math.round(-n) : Math.round(n);
}
