// strftime(3) in the C locale and UTC. A conversion it does not know is left as it is written.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

function pad(n: number, width: number, fill = '0'): string {
  return String(n).padStart(width, fill);
}

function dayOfYear(d: Date): number {
  return Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 1)) / 86_400_000);
}

/** ISO 8601 week and the year it belongs to. */
function isoWeek(d: Date): { year: number; week: number } {
  const thursday = new Date(d.getTime() + (3 - ((d.getUTCDay() + 6) % 7)) * 86_400_000);
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

/** @param t epoch seconds */
export function strftime(t: number, format: string): string {
  const d = new Date(Math.floor(t) * 1000);
  if (Number.isNaN(d.getTime())) return '';
  const one = (c: string): string | null => {
    const hour12 = d.getUTCHours() % 12 === 0 ? 12 : d.getUTCHours() % 12;
    switch (c) {
      case 'a':
        return (DAYS[d.getUTCDay()] as string).slice(0, 3);
      case 'A':
        return DAYS[d.getUTCDay()] as string;
      case 'b':
      case 'h':
        return (MONTHS[d.getUTCMonth()] as string).slice(0, 3);
      case 'B':
        return MONTHS[d.getUTCMonth()] as string;
      case 'c':
        return strftime(t, '%a %b %e %H:%M:%S %Y');
      case 'C':
        return pad(Math.floor(d.getUTCFullYear() / 100), 2);
      case 'd':
        return pad(d.getUTCDate(), 2);
      case 'D':
      case 'x':
        return strftime(t, '%m/%d/%y');
      case 'e':
        return pad(d.getUTCDate(), 2, ' ');
      case 'F':
        return strftime(t, '%Y-%m-%d');
      case 'g':
        return pad(isoWeek(d).year % 100, 2);
      case 'G':
        return String(isoWeek(d).year);
      case 'H':
        return pad(d.getUTCHours(), 2);
      case 'I':
        return pad(hour12, 2);
      case 'j':
        return pad(dayOfYear(d) + 1, 3);
      case 'k':
        return pad(d.getUTCHours(), 2, ' ');
      case 'l':
        return pad(hour12, 2, ' ');
      case 'm':
        return pad(d.getUTCMonth() + 1, 2);
      case 'M':
        return pad(d.getUTCMinutes(), 2);
      case 'n':
        return '\n';
      case 'p':
        return d.getUTCHours() < 12 ? 'AM' : 'PM';
      case 'P':
        return d.getUTCHours() < 12 ? 'am' : 'pm';
      case 'r':
        return strftime(t, '%I:%M:%S %p');
      case 'R':
        return strftime(t, '%H:%M');
      case 's':
        return String(Math.floor(t));
      case 'S':
        return pad(d.getUTCSeconds(), 2);
      case 't':
        return '\t';
      case 'T':
      case 'X':
        return strftime(t, '%H:%M:%S');
      case 'u':
        return String(d.getUTCDay() === 0 ? 7 : d.getUTCDay());
      case 'U':
        return pad(Math.floor((dayOfYear(d) + 7 - d.getUTCDay()) / 7), 2);
      case 'V':
        return pad(isoWeek(d).week, 2);
      case 'w':
        return String(d.getUTCDay());
      case 'W':
        return pad(Math.floor((dayOfYear(d) + 7 - ((d.getUTCDay() + 6) % 7)) / 7), 2);
      case 'y':
        return pad(d.getUTCFullYear() % 100, 2);
      case 'Y':
        return String(d.getUTCFullYear());
      case 'z':
        return '+0000';
      case 'Z':
        return 'GMT';
      case '%':
        return '%';
      default:
        return null;
    }
  };
  return format.replace(/%[EO]?([A-Za-z%])/g, (whole, c: string) => one(c) ?? whole);
}
