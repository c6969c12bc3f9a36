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

const COMPOSED: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  r: '%I:%M:%S %p',
  R: '%H:%M',
  T: '%H:%M:%S',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
  h: '%b',
  '+': '%a %b %e %H:%M:%S %Z %Y',
};

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
  const composed = Object.hasOwn(COMPOSED, letter) ? COMPOSED[letter] : undefined;
  if (composed !== undefined) return expand(composed, t);
  const two = (n: number): string => String(n).padStart(2, '0');
  const hour12 = t.getHours() % 12 || 12;
  switch (letter) {
    case 'a':
      return (DAYS[t.getDay()] as string).slice(0, 3);
    case 'A':
      return DAYS[t.getDay()];
    case 'b':
      return (MONTHS[t.getMonth()] as string).slice(0, 3);
    case 'B':
      return MONTHS[t.getMonth()];
    case 'C':
      return two(Math.floor(t.getFullYear() / 100));
    case 'd':
      return two(t.getDate());
    case 'e':
      return String(t.getDate()).padStart(2);
    case 'g':
      return two(isoWeek(t).year % 100);
    case 'G':
      return String(isoWeek(t).year);
    case 'H':
      return two(t.getHours());
    case 'I':
      return two(hour12);
    case 'j':
      return String(dayOfYear(t) + 1).padStart(3, '0');
    case 'k':
      return String(t.getHours()).padStart(2);
    case 'l':
      return String(hour12).padStart(2);
    case 'm':
      return two(t.getMonth() + 1);
    case 'M':
      return two(t.getMinutes());
    case 'n':
      return '\n';
    case 'p':
      return t.getHours() < 12 ? 'AM' : 'PM';
    case 'P':
      return t.getHours() < 12 ? 'am' : 'pm';
    case 's':
      return String(t.getTime() / 1000);
    case 'S':
      return two(t.getSeconds());
    case 't':
      return '\t';
    case 'u':
      return String(t.getDay() || 7);
    case 'U':
      return two(Math.floor((dayOfYear(t) + 7 - t.getDay()) / 7));
    case 'V':
      return two(isoWeek(t).week);
    case 'w':
      return String(t.getDay());
    case 'W':
      return two(Math.floor((dayOfYear(t) + 7 - ((t.getDay() + 6) % 7)) / 7));
    case 'y':
      return two(t.getFullYear() % 100);
    case 'Y':
      return String(t.getFullYear());
    case 'z': {
      const east = -t.getTimezoneOffset();
      const ahead = Math.abs(east);
      return `${east < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}${two(ahead % 60)}`;
    }
    case 'Z':
      return zoneName(t);
    case '%':
      return '%';
    default:
      return undefined;
  }
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
