// strftime(3) in the C locale and UTC, with the flags and widths that the GNU library adds: "%-d", "%_H", "%^a",
// "%#Z", "%010Y". A conversion it does not know is left as it is written. Results are bounded: a width is a number
// in a program, but a large one in a loop of requests is memory.

import { calendarDate, shownYear } from '../../vcl/runtime/calendar.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
const MAX_LENGTH = 64 * 1024;

/** What a conversion gives before flags: a text, or a number with its width and the character that fills it. */
type Piece = string | { n: number; width: number; fill: string };

interface PointInTime {
  /** Since the epoch. */
  seconds: number;
  /** Between the near date and the real one. */
  years: number;
}

const two = (n: number, fill = '0'): Piece => ({ n, width: 2, fill });
const bare = (n: number): Piece => ({ n, width: 1, fill: '0' });

function dayOfYear(d: Date): number {
  return Math.floor((d.getTime() - new Date(d).setUTCMonth(0, 1)) / 86_400_000);
}

/** ISO 8601 week and the year it belongs to. */
function isoWeek(d: Date): { year: number; week: number } {
  const thursday = new Date(d.getTime() + (3 - ((d.getUTCDay() + 6) % 7)) * 86_400_000);
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

/** Week of the year when weeks begin `first` days after Sunday. */
function weekFrom(d: Date, first: number): number {
  return Math.floor((dayOfYear(d) + 7 - ((d.getUTCDay() + 7 - first) % 7)) / 7);
}

const modulo = (n: number, by: number): number => ((n % by) + by) % by;
const hour12 = (d: Date): number => modulo(d.getUTCHours() - 1, 12) + 1;

/** @param at the point in time whose near date `d` is */
const CONVERSIONS: Readonly<Record<string, (d: Date, at: PointInTime) => Piece>> = {
  a: (d) => (DAYS[d.getUTCDay()] as string).slice(0, 3),
  A: (d) => DAYS[d.getUTCDay()] as string,
  b: (d) => (MONTHS[d.getUTCMonth()] as string).slice(0, 3),
  B: (d) => MONTHS[d.getUTCMonth()] as string,
  c: (d, at) => expand('%a %b %e %H:%M:%S %Y', d, at),
  C: (d, at) => bare(Math.floor(shownYear(d, at.years) / 100)),
  d: (d) => two(d.getUTCDate()),
  D: (d, at) => expand('%m/%d/%y', d, at),
  e: (d) => two(d.getUTCDate(), ' '),
  F: (d, at) => expand('%Y-%m-%d', d, at),
  g: (d) => two(modulo(isoWeek(d).year, 100)),
  G: (d, at) => bare((isoWeek(d).year + at.years) | 0),
  h: (d) => (MONTHS[d.getUTCMonth()] as string).slice(0, 3),
  H: (d) => two(d.getUTCHours()),
  I: (d) => two(hour12(d)),
  j: (d) => ({ n: dayOfYear(d) + 1, width: 3, fill: '0' }),
  k: (d) => two(d.getUTCHours(), ' '),
  l: (d) => two(hour12(d), ' '),
  m: (d) => two(d.getUTCMonth() + 1),
  M: (d) => two(d.getUTCMinutes()),
  n: () => '\n',
  p: (d) => (d.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (d) => (d.getUTCHours() < 12 ? 'am' : 'pm'),
  r: (d, at) => expand('%I:%M:%S %p', d, at),
  R: (d, at) => expand('%H:%M', d, at),
  s: (_d, at) => bare(at.seconds),
  S: (d) => two(d.getUTCSeconds()),
  t: () => '\t',
  T: (d, at) => expand('%H:%M:%S', d, at),
  u: (d) => bare(d.getUTCDay() === 0 ? 7 : d.getUTCDay()),
  U: (d) => two(weekFrom(d, 0)),
  V: (d) => two(isoWeek(d).week),
  w: (d) => bare(d.getUTCDay()),
  W: (d) => two(weekFrom(d, 1)),
  x: (d, at) => expand('%m/%d/%y', d, at),
  X: (d, at) => expand('%H:%M:%S', d, at),
  y: (d) => two(modulo(d.getUTCFullYear(), 100)),
  Y: (d, at) => bare(shownYear(d, at.years)),
  z: () => '+0000',
  Z: () => 'GMT',
  '%': () => '%',
};

/** A piece as text, with its flags: `-` no filling, `_` blanks, `0` zeros, `^` capitals, `#` the other case. */
function render(piece: Piece, flags: string, width: number, letter: string): string {
  const last = [...flags].filter((f) => '-_0'.includes(f)).at(-1);
  if (typeof piece === 'string') {
    let text = piece;
    if (flags.includes('^')) text = text.toUpperCase();
    else if (flags.includes('#')) text = 'pZ'.includes(letter) ? text.toLowerCase() : text.toUpperCase();
    return text.padStart(width, last === '0' ? '0' : ' ');
  }
  const fill = last === '_' || last === '-' ? ' ' : last === '0' ? '0' : piece.fill;
  const digits = String(Math.abs(piece.n));
  const sign = piece.n < 0 ? '-' : '';
  const wide = width > 0 ? width : last === '-' ? 0 : piece.width;
  if (fill === ' ') return `${sign}${digits}`.padStart(wide, ' ');
  return sign + digits.padStart(wide - sign.length, '0');
}

function expand(format: string, d: Date, at: PointInTime): string {
  return format.replace(
    /%([-_0^#]*)(\d{0,5})([EO]?)([A-Za-z%])/g,
    (whole, flags: string, width: string, _modifier: string, letter: string) => {
      const convert = CONVERSIONS[letter];
      if (convert === undefined) return whole;
      return render(convert(d, at), flags, Number(width), letter);
    },
  );
}

/**
 * The empty string when the result would be too long.
 * @param t epoch seconds; fractions are cut
 */
export function strftime(t: number, format: string): string {
  const date = calendarDate(t);
  if (date === null) return '';
  const text = expand(format, date.near, { seconds: Math.trunc(t) + 0, years: date.years });
  return text.length > MAX_LENGTH ? '' : text;
}
