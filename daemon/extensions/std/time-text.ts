// Points in time as std.time parses them: the three HTTP date formats, ISO 8601 to the second without a zone (taken
// as UTC), and seconds since the epoch. Stricter than for dates of origins: the day of the week must be right. The
// epoch itself is not a valid time, as in Varnish.

import { LARGEST_INT, realOf } from './number-text.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const CLOCK = '(?<time>\\d\\d:\\d\\d:\\d\\d)';
const FORMATS = [
  `(?<short>[A-Z][a-z]{2}), (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${CLOCK} GMT`,
  `(?<long>[A-Z][a-z]+), (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${CLOCK} GMT`,
  `(?<short>[A-Z][a-z]{2}) (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${CLOCK} (?<year>\\d{4})`,
  `(?<year>\\d{4})-(?<number>\\d\\d)-(?<day>\\d\\d)T${CLOCK}`,
].map((f) => new RegExp(`^${f}$`));

/** Feature `http_date_postel`: the first format with a one-digit day. */
const LENIENT_FORMATS = [
  ...FORMATS,
  new RegExp(`^(?<short>[A-Z][a-z]{2}), (?<day>\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${CLOCK} GMT$`),
];

/**
 * Epoch seconds, or null.
 * @param lenient whether a one-digit day of the month is accepted
 */
export function timeOf(text: string, lenient = false): number | null {
  const trimmed = text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
  for (const format of lenient ? LENIENT_FORMATS : FORMATS) {
    const groups = format.exec(trimmed)?.groups;
    if (groups !== undefined) return nonZero(calendar(groups));
  }
  const seconds = realOf(text, LARGEST_INT);
  return typeof seconds === 'number' && seconds > 0 ? seconds : null;
}

function nonZero(t: number | null): number | null {
  return t === 0 ? null : t;
}

function calendar(part: Record<string, string | undefined>): number | null {
  let year = Number(part.year);
  // Two-digit years are 1969 to 2068.
  if (part.year?.length === 2) year += year < 69 ? 2000 : 1900;
  const month = part.number !== undefined ? Number(part.number) - 1 : MONTHS.indexOf(part.month ?? '');
  const day = Number(part.day);
  const [hour = 0, minute = 0, second = 0] = (part.time ?? '').split(':').map(Number);
  if (year < 1899 || month < 0 || month > 11 || day < 1 || hour > 23 || minute > 59 || second > 60)
    return null;
  const date = new Date(Date.UTC(year, month, day));
  // A day past the end of its month would roll over into the next.
  if (date.getUTCMonth() !== month) return null;
  const weekday = DAYS[date.getUTCDay()] as string;
  if (part.long !== undefined && part.long !== weekday) return null;
  if (part.short !== undefined && part.short !== weekday.slice(0, 3)) return null;
  // A leap second is the second before it.
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + Math.min(second, 59);
}
