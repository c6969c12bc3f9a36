// HTTP dates (RFC 9110 section 5.6.7): writes IMF-fixdate, reads the three historical formats in any case. Parsing
// never guesses: a malformed date is null, so that a malformed Expires counts as past. Only the day of the week is
// ignored: it is redundant.

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}

/** "Sun, 06 Nov 1994 08:49:37 GMT" for epoch seconds; fractions are cut. */
export function httpDate(at: number): string {
  const d = new Date(Math.floor(at) * 1000);
  const day = DAYS[d.getUTCDay()];
  const month = MONTHS[d.getUTCMonth()];
  const year = String(d.getUTCFullYear()).padStart(4, '0');
  const time = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
  return `${day}, ${two(d.getUTCDate())} ${month} ${year} ${time} GMT`;
}

/** Formats each second once; the worker keeps one. */
export class DateCache {
  private second = -1;
  private text = '';

  /** @param now epoch seconds */
  at(now: number): string {
    const second = Math.floor(now);
    if (second !== this.second) {
      this.second = second;
      this.text = httpDate(second);
    }
    return this.text;
  }
}

const IMF = /^(\w{3}), (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/i;
const RFC850 = /^(\w{6,9}), (\d\d)-(\w{3})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/i;
/** IMF-fixdate except that a day of the month below ten has one digit: the `http_date_postel` feature. */
const IMF_SHORT = /^(\w{3}), (\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/i;
const ASCTIME = /^(\w{3}) (\w{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

/** Two-digit years: the century that puts the date at most 50 years ahead of `now` (RFC 9110 section 5.6.7). */
function fullYear(two: number, now: number): number {
  const current = new Date(now * 1000).getUTCFullYear();
  const year = current - (current % 100) + two;
  if (year > current + 50) return year - 100;
  return year <= current - 50 ? year + 100 : year;
}

/**
 * Epoch seconds of an HTTP date, or null if it is malformed.
 * @param now epoch seconds, for the century of two-digit years
 * @param lenient also accepts a day of the month of one digit
 */
export function parseDate(text: string, now: number = Date.now() / 1000, lenient = false): number | null {
  const usual = usualDate(text);
  if (usual >= 0) return usual;
  const comma = text.indexOf(',');
  if (comma === 3) {
    const m = IMF.exec(text) ?? (lenient ? IMF_SHORT.exec(text) : null);
    if (m === null) return null;
    return epoch(Number(m[4]), m[3] as string, m[2] as string, m[5], m[6], m[7]);
  }
  if (comma > 3) {
    const m = RFC850.exec(text);
    if (m === null) return null;
    return epoch(fullYear(Number(m[4]), now), m[3] as string, m[2] as string, m[5], m[6], m[7]);
  }
  const m = ASCTIME.exec(text);
  if (m === null) return null;
  return epoch(Number(m[7]), m[2] as string, m[3] as string, m[4], m[5], m[6]);
}

const MONTH_NAMES = MONTHS.join('');

/** Reads the form that nearly every origin sends, without a regular expression, because each response has one. -1 for
 * all others and for the last days of a month, which need a closer check. */
function usualDate(text: string): number {
  if (text.length !== 29 || !text.endsWith(' GMT')) return -1;
  for (let i = 0; i < 3; i++) {
    const letter = text.charCodeAt(i) | 32;
    if (letter < 97 || letter > 122) return -1;
  }
  const marks =
    text.charCodeAt(3) === 44 &&
    text.charCodeAt(4) === 32 &&
    text.charCodeAt(7) === 32 &&
    text.charCodeAt(11) === 32 &&
    text.charCodeAt(16) === 32 &&
    text.charCodeAt(19) === 58 &&
    text.charCodeAt(22) === 58;
  const place = MONTH_NAMES.indexOf(text.slice(8, 11));
  const day = twoDigits(text, 5);
  const century = twoDigits(text, 12);
  const year = century * 100 + twoDigits(text, 14);
  const hour = twoDigits(text, 17);
  const minute = twoDigits(text, 20);
  const second = twoDigits(text, 23);
  if (!marks || place < 0 || place % 3 !== 0 || !(year >= 1970 && day >= 1 && day <= 28)) return -1;
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return -1;
  return Date.UTC(year, place / 3, day, hour, minute, second) / 1000;
}

/** NaN unless there are two digits. */
function twoDigits(text: string, at: number): number {
  const high = text.charCodeAt(at) - 48;
  const low = text.charCodeAt(at + 1) - 48;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
}

function epoch(
  year: number,
  monthName: string,
  day: string,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
): number | null {
  const name = monthName.charAt(0).toUpperCase() + monthName.slice(1).toLowerCase();
  const month = MONTHS.indexOf(name as (typeof MONTHS)[number]);
  const d = Number(day);
  const h = Number(hour);
  const mi = Number(minute);
  const s = Number(second);
  // Second 60 is a leap second; it counts as the next second.
  if (month < 0 || d < 1 || h > 23 || mi > 59 || s > 60) return null;
  // Date.UTC takes years below 100 for 19xx; setUTCFullYear does not.
  const date = new Date(0);
  date.setUTCFullYear(year, month, d);
  // A day past the end of its month rolls over into another.
  if (date.getUTCMonth() !== month) return null;
  return date.getTime() / 1000 + h * 3600 + mi * 60 + s;
}
