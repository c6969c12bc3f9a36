// strftime(3) in local time and the C locale, for the %{…}t of access logs. Unknown conversions stay as they
// are, as in glibc. It knows no locales.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

export interface ConversionRow {
  letter: string;
  help: string;
  /** A format that it is short for, or its text. */
  as: string | ((t: Date) => string);
}

/** Each letter behind a percent sign. */
export const CONVERSIONS: readonly ConversionRow[] = [
  { letter: 'a', help: 'Day of the week, three letters', as: (t) => dayName(t).slice(0, 3) },
  { letter: 'A', help: 'Day of the week', as: (t) => dayName(t) },
  { letter: 'b', help: 'Month, three letters', as: (t) => monthName(t).slice(0, 3) },
  { letter: 'B', help: 'Month', as: (t) => monthName(t) },
  { letter: 'c', help: 'Date and time', as: '%a %b %e %H:%M:%S %Y' },
  { letter: 'C', help: 'Century, two digits', as: (t) => two(Math.floor(t.getFullYear() / 100)) },
  { letter: 'd', help: 'Day of the month, two digits', as: (t) => two(t.getDate()) },
  { letter: 'D', help: 'Date as in the United States', as: '%m/%d/%y' },
  { letter: 'e', help: 'Day of the month, with a blank for a zero', as: (t) => blank(t.getDate()) },
  { letter: 'F', help: 'Date, the year first', as: '%Y-%m-%d' },
  { letter: 'g', help: 'Year of the week in ISO 8601, two digits', as: (t) => two(isoWeek(t).year % 100) },
  { letter: 'G', help: 'Year of the week in ISO 8601', as: (t) => String(isoWeek(t).year) },
  { letter: 'h', help: 'Month, three letters', as: '%b' },
  { letter: 'H', help: 'Hour, 00 to 23', as: (t) => two(t.getHours()) },
  { letter: 'I', help: 'Hour, 01 to 12', as: (t) => two(hour12(t)) },
  {
    letter: 'j',
    help: 'Day of the year, three digits',
    as: (t) => String(dayOfYear(t) + 1).padStart(3, '0'),
  },
  { letter: 'k', help: 'Hour, 0 to 23, with a blank for a zero', as: (t) => blank(t.getHours()) },
  { letter: 'l', help: 'Hour, 1 to 12, with a blank for a zero', as: (t) => blank(hour12(t)) },
  { letter: 'm', help: 'Month, two digits', as: (t) => two(t.getMonth() + 1) },
  { letter: 'M', help: 'Minute', as: (t) => two(t.getMinutes()) },
  { letter: 'n', help: 'The end of a line', as: () => '\n' },
  { letter: 'p', help: 'AM or PM', as: (t) => (t.getHours() < 12 ? 'AM' : 'PM') },
  { letter: 'P', help: 'am or pm', as: (t) => (t.getHours() < 12 ? 'am' : 'pm') },
  { letter: 'r', help: 'Time with AM or PM', as: '%I:%M:%S %p' },
  { letter: 'R', help: 'Hour and minute', as: '%H:%M' },
  { letter: 's', help: 'Seconds since the epoch', as: (t) => String(t.getTime() / 1000) },
  { letter: 'S', help: 'Second', as: (t) => two(t.getSeconds()) },
  { letter: 't', help: 'A tab', as: () => '\t' },
  { letter: 'T', help: 'Time', as: '%H:%M:%S' },
  { letter: 'u', help: 'Day of the week, 1 is Monday', as: (t) => String(t.getDay() || 7) },
  {
    letter: 'U',
    help: 'Week of the year, from the first Sunday on',
    as: (t) => two(weekFrom(t, t.getDay())),
  },
  { letter: 'V', help: 'Week in ISO 8601', as: (t) => two(isoWeek(t).week) },
  { letter: 'w', help: 'Day of the week, 0 is Sunday', as: (t) => String(t.getDay()) },
  {
    letter: 'W',
    help: 'Week of the year, from the first Monday on',
    as: (t) => two(weekFrom(t, (t.getDay() + 6) % 7)),
  },
  { letter: 'x', help: 'Date', as: '%m/%d/%y' },
  { letter: 'X', help: 'Time', as: '%H:%M:%S' },
  { letter: 'y', help: 'Year, two digits', as: (t) => two(t.getFullYear() % 100) },
  { letter: 'Y', help: 'Year', as: (t) => String(t.getFullYear()) },
  { letter: 'z', help: 'Difference to UTC, as +0130', as: (t) => offsetText(t) },
  { letter: 'Z', help: 'Name of the time zone', as: (t) => zoneName(t) },
  { letter: '+', help: 'Date and time as date(1) has them', as: '%a %b %e %H:%M:%S %Z %Y' },
  { letter: '%', help: 'A percent sign', as: () => '%' },
];

const BY_LETTER = new Map(CONVERSIONS.map((row) => [row.letter, row.as]));

/** `seconds` since the epoch. */
export function strftime(format: string, seconds: number): string {
  return expand(format, new Date(Math.floor(seconds) * 1000));
}

function expand(format: string, t: Date): string {
  return format.replace(/%([_\-0^#]?)(\d*)[EO]?([a-zA-Z%+])/g, (all, flag, width, letter) => {
    const text = convert(letter, t);
    if (text === undefined) return all;
    return pad(text, flag, width === '' ? undefined : Number(width));
  });
}

function pad(text: string, flag: string, width: number | undefined): string {
  let out = text;
  const numeric = /^[\s0]*\d+$/.test(text);
  if (flag === '^') out = out.toUpperCase();
  else if (numeric && flag === '-') out = out.replace(/^[\s0]+(?=\d)/, '');
  else if (numeric && flag === '_') out = out.replace(/^0+(?=\d)/, (zeros) => ' '.repeat(zeros.length));
  else if (numeric && flag === '0') out = out.replace(/^\s+/, (blanks) => '0'.repeat(blanks.length));
  if (width === undefined) return out;
  return out.padStart(width, numeric && flag !== '_' ? '0' : ' ');
}

function convert(letter: string, t: Date): string | undefined {
  const as = BY_LETTER.get(letter);
  return typeof as === 'string' ? expand(as, t) : as?.(t);
}

function dayName(t: Date): string {
  return DAYS[t.getDay()] as string;
}

function monthName(t: Date): string {
  return MONTHS[t.getMonth()] as string;
}

function hour12(t: Date): number {
  return t.getHours() % 12 || 12;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

function blank(n: number): string {
  return String(n).padStart(2);
}

/** Weeks that have begun; `day` counts from the day on which they begin. */
function weekFrom(t: Date, day: number): number {
  return Math.floor((dayOfYear(t) + 7 - day) / 7);
}

function offsetText(t: Date): string {
  const east = -t.getTimezoneOffset();
  const ahead = Math.abs(east);
  return `${east < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}${two(ahead % 60)}`;
}

function dayOfYear(t: Date): number {
  const day = Date.UTC(t.getFullYear(), t.getMonth(), t.getDate());
  return Math.round((day - Date.UTC(t.getFullYear(), 0, 1)) / 86_400_000);
}

/** ISO 8601: the week belongs to the year that has its Thursday. */
function isoWeek(t: Date): { year: number; week: number } {
  const thursday = new Date(t.getFullYear(), t.getMonth(), t.getDate() + 4 - (t.getDay() || 7));
  return { year: thursday.getFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

function zoneName(t: Date): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(t);
  return parts.find((p) => p.type === 'timeZoneName')?.value ?? '';
}
