// strftime(3) in the C locale, with the flags and widths of the GNU library: "%-d", "%_H", "%^a", "%#Z", "%010Y".
// Unknown conversions are copied unchanged. Results are bounded: widths come from programs, and a large one in a loop
// of requests costs memory.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
/** Chosen: more than a log line or a header can hold. */
const MAX_LENGTH = 64 * 1024;

/** A point in time, with its local date in some zone. */
export interface WallTime {
  /** Epoch seconds, integral. */
  seconds: number;
  /** The local date and time in its UTC members. */
  date: Date;
  /** Added to the year of `date`; for dates outside the range of Date. */
  years: number;
  /** Ahead of UTC; fractional before standard time. */
  offsetMinutes: number;
  zone: string;
}

/** The value of a conversion before flags: a text, or a number with its width and fill character. */
type Piece = string | { n: number; width: number; fill: string };

export interface ConversionRow {
  letter: string;
  help: string;
  /** An equivalent format, or a function for the value. */
  as: string | ((t: WallTime) => Piece);
}

/** All letters that may follow a percent sign. */
export const CONVERSIONS: readonly ConversionRow[] = [
  { letter: 'a', help: 'Day of the week, three letters', as: (t) => dayName(t).slice(0, 3) },
  { letter: 'A', help: 'Day of the week', as: dayName },
  { letter: 'b', help: 'Month, three letters', as: (t) => monthName(t).slice(0, 3) },
  { letter: 'B', help: 'Month', as: monthName },
  { letter: 'c', help: 'Date and time', as: '%a %b %e %H:%M:%S %Y' },
  { letter: 'C', help: 'Century', as: (t) => bare(Math.floor(year(t) / 100)) },
  { letter: 'd', help: 'Day of the month, two digits', as: (t) => two(t.date.getUTCDate()) },
  { letter: 'D', help: 'Date as in the United States', as: '%m/%d/%y' },
  { letter: 'e', help: 'Day of the month, with a blank for a zero', as: (t) => blank(t.date.getUTCDate()) },
  { letter: 'F', help: 'Date, the year first', as: '%Y-%m-%d' },
  {
    letter: 'g',
    help: 'Year of the week in ISO 8601, two digits',
    as: (t) => two(modulo(isoWeek(t).year, 100)),
  },
  { letter: 'G', help: 'Year of the week in ISO 8601', as: (t) => bare((isoWeek(t).year + t.years) | 0) },
  { letter: 'h', help: 'Month, three letters', as: '%b' },
  { letter: 'H', help: 'Hour, 00 to 23', as: (t) => two(t.date.getUTCHours()) },
  { letter: 'I', help: 'Hour, 01 to 12', as: (t) => two(hour12(t)) },
  {
    letter: 'j',
    help: 'Day of the year, three digits',
    as: (t) => ({ n: dayOfYear(t.date) + 1, width: 3, fill: '0' }),
  },
  { letter: 'k', help: 'Hour, 0 to 23, with a blank for a zero', as: (t) => blank(t.date.getUTCHours()) },
  { letter: 'l', help: 'Hour, 1 to 12, with a blank for a zero', as: (t) => blank(hour12(t)) },
  { letter: 'm', help: 'Month, two digits', as: (t) => two(t.date.getUTCMonth() + 1) },
  { letter: 'M', help: 'Minute', as: (t) => two(t.date.getUTCMinutes()) },
  { letter: 'n', help: 'The end of a line', as: () => '\n' },
  { letter: 'p', help: 'AM or PM', as: (t) => (t.date.getUTCHours() < 12 ? 'AM' : 'PM') },
  { letter: 'P', help: 'am or pm', as: (t) => (t.date.getUTCHours() < 12 ? 'am' : 'pm') },
  { letter: 'r', help: 'Time with AM or PM', as: '%I:%M:%S %p' },
  { letter: 'R', help: 'Hour and minute', as: '%H:%M' },
  { letter: 's', help: 'Seconds since the epoch', as: (t) => bare(t.seconds) },
  { letter: 'S', help: 'Second', as: (t) => two(t.date.getUTCSeconds()) },
  { letter: 't', help: 'A tab', as: () => '\t' },
  { letter: 'T', help: 'Time', as: '%H:%M:%S' },
  { letter: 'u', help: 'Day of the week, 1 is Monday', as: (t) => bare(t.date.getUTCDay() || 7) },
  { letter: 'U', help: 'Week of the year, from the first Sunday on', as: (t) => two(weekFrom(t.date, 0)) },
  { letter: 'V', help: 'Week in ISO 8601', as: (t) => two(isoWeek(t).week) },
  { letter: 'w', help: 'Day of the week, 0 is Sunday', as: (t) => bare(t.date.getUTCDay()) },
  { letter: 'W', help: 'Week of the year, from the first Monday on', as: (t) => two(weekFrom(t.date, 1)) },
  { letter: 'x', help: 'Date', as: '%m/%d/%y' },
  { letter: 'X', help: 'Time', as: '%H:%M:%S' },
  { letter: 'y', help: 'Year, two digits', as: (t) => two(modulo(t.date.getUTCFullYear(), 100)) },
  { letter: 'Y', help: 'Year', as: (t) => bare(year(t)) },
  { letter: 'z', help: 'Difference to UTC, as +0130', as: offsetText },
  { letter: 'Z', help: 'Name of the time zone', as: (t) => t.zone },
  { letter: '%', help: 'A percent sign', as: () => '%' },
];

const BY_LETTER: ReadonlyMap<string, ConversionRow['as']> = new Map(
  CONVERSIONS.map((row) => [row.letter, row.as]),
);

/** Empty if the result would be too long. */
export function strftime(format: string, time: WallTime): string {
  const text = expand(format, time);
  return text.length > MAX_LENGTH ? '' : text;
}

function expand(format: string, time: WallTime): string {
  return format.replace(
    /%([-_0^#]*)(\d{0,5})[EO]?([A-Za-z%])/g,
    (all, flags: string, width: string, letter: string) => {
      const as = BY_LETTER.get(letter);
      if (as === undefined) return all;
      return render(typeof as === 'string' ? expand(as, time) : as(time), flags, Number(width), letter);
    },
  );
}

/** A piece as text, with its flags: `-` no padding, `_` blanks, `0` zeros, `^` upper case, `#` opposite case. */
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

function two(n: number): Piece {
  return { n, width: 2, fill: '0' };
}

function blank(n: number): Piece {
  return { n, width: 2, fill: ' ' };
}

function bare(n: number): Piece {
  return { n, width: 1, fill: '0' };
}

function modulo(n: number, by: number): number {
  return ((n % by) + by) % by;
}

function dayName({ date }: WallTime): string {
  return DAYS[date.getUTCDay()] as string;
}

function monthName({ date }: WallTime): string {
  return MONTHS[date.getUTCMonth()] as string;
}

/** 32 bits wide, as in the C library. */
function year({ date, years }: WallTime): number {
  return (date.getUTCFullYear() + years) | 0;
}

function hour12({ date }: WallTime): number {
  return modulo(date.getUTCHours() - 1, 12) + 1;
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - new Date(date).setUTCMonth(0, 1)) / 86_400_000);
}

/** ISO 8601: the week belongs to the year that has its Thursday. */
function isoWeek({ date }: WallTime): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (3 - modulo(date.getUTCDay() - 1, 7)) * 86_400_000);
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

/** Week of the year when weeks begin `first` days after Sunday. */
function weekFrom(date: Date, first: number): number {
  return Math.floor((dayOfYear(date) + 7 - modulo(date.getUTCDay() - first, 7)) / 7);
}

function offsetText({ offsetMinutes }: WallTime): string {
  const minutes = Math.abs(offsetMinutes);
  const digits = String(Math.floor(minutes / 60) * 100 + Math.floor(minutes % 60)).padStart(4, '0');
  return `${offsetMinutes < 0 ? '-' : '+'}${digits}`;
}
