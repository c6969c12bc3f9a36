// A time zone by rules, in the syntax of POSIX.1 section 8.3 for TZ: `CET-1CEST,M3.5.0,M10.5.0/3`, `<+03>-3`. The
// same text ends a file of the zone database, for all times after its last entry (RFC 8536 section 3.3). Missing or
// invalid parts are interpreted as in the GNU library: summer time is an hour ahead and follows the rules of the
// United States; an invalid text is UTC with the abbreviation that it begins with.

/** Offset and abbreviation at some moment. */
export interface LocalType {
  /** Seconds ahead of UTC. */
  readonly offset: number;
  readonly name: string;
}

/** The day and local time of a change of clocks. */
interface Change {
  /** J: from 1, February 29 is never counted. D: from 0. M: a weekday of a month. */
  readonly kind: 'J' | 'D' | 'M';
  readonly day: number;
  readonly week: number;
  readonly month: number;
  readonly second: number;
}

export interface PosixZone {
  readonly standard: LocalType;
  /** Null without summer time. */
  readonly summer: { readonly type: LocalType; readonly from: Change; readonly to: Change } | null;
}

const DAY = 86_400;
/** Default time of a change. */
const TWO_O_CLOCK = 7200;
const USUAL = ',M3.2.0,M11.1.0';

/** The zone, or null for an invalid text. */
export function parsePosixZone(text: string): PosixZone | null {
  const reader = new RuleReader(text);
  const name = reader.name();
  const offset = name === null ? null : reader.offset();
  if (name === null || offset === null) return null;
  const standard = { offset, name };
  const summerName = reader.isOver ? null : reader.name();
  if (summerName === null) return { standard, summer: null };
  const type = { offset: reader.offset() ?? offset + 3600, name: summerName };
  const rules = reader.isOver || reader.rest === ',' ? new RuleReader(USUAL) : reader;
  const from = rules.change();
  const to = from === null ? null : rules.change();
  return { standard, summer: from === null || to === null ? null : { type, from, to } };
}

/** The abbreviation at the start of such a text; empty without one. */
export function nameOfZone(text: string): string {
  return new RuleReader(text).name() ?? '';
}

/** Offset and abbreviation at a time in epoch seconds. */
export function posixTypeAt({ standard, summer }: PosixZone, seconds: number): LocalType {
  if (summer === null) return standard;
  // Before 1970 the GNU library uses the rules of that year.
  const year = Math.max(1970, new Date((seconds + standard.offset) * 1000).getUTCFullYear());
  const from = startOf(summer.from, year) - standard.offset;
  const to = startOf(summer.to, year) - summer.type.offset;
  // In the southern hemisphere it spans the new year.
  const isSummer = from <= to ? seconds >= from && seconds < to : seconds >= from || seconds < to;
  return isSummer ? summer.type : standard;
}

/** Time of a change in epoch seconds of the local clock before it. */
function startOf({ kind, day, week, month, second }: Change, year: number): number {
  const first = Date.UTC(year, 0, 1) / 1000;
  if (kind === 'D') return first + day * DAY + second;
  if (kind === 'J') return first + (day - 1 + (day >= 60 && isLeap(year) ? 1 : 0)) * DAY + second;
  const weekday = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  let date = 1 + ((day - weekday + 7) % 7) + (week - 1) * 7;
  if (date > days) date -= 7;
  return Date.UTC(year, month - 1, date) / 1000 + second;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

class RuleReader {
  rest: string;

  constructor(text: string) {
    this.rest = text;
  }

  get isOver(): boolean {
    return this.rest === '';
  }

  name(): string | null {
    const [all, plain, quoted] = this.take(/^(?:([A-Za-z]{3,})|<([A-Za-z0-9+-]{3,})>)/) ?? [];
    return all === undefined ? null : ((plain ?? quoted) as string);
  }

  /** Seconds ahead of UTC; the sign in the text is inverted. */
  offset(): number | null {
    const [all, sign, hours, minutes, seconds] =
      this.take(/^([+-]?)(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?/) ?? [];
    if (all === undefined) return null;
    const size = Math.min(Number(hours), 24) * 3600 + sixtieths(minutes) * 60 + sixtieths(seconds);
    // Never -0.
    return size === 0 ? 0 : sign === '-' ? size : -size;
  }

  /** A comma and a day of change. */
  change(): Change | null {
    const [all, month, week, weekday, julian, day] =
      this.take(/^,(?:M(\d{1,2})\.(\d)\.(\d)|J(\d{1,3})|(\d{1,3}))/) ?? [];
    if (all === undefined) return null;
    const [time, sign, hours, minutes, seconds] =
      this.take(/^\/([+-]?)(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?/) ?? [];
    const size = Number(hours) * 3600 + sixtieths(minutes) * 60 + sixtieths(seconds);
    const second = time === undefined ? TWO_O_CLOCK : sign === '-' ? -size : size;
    const change = {
      day: Number(weekday ?? julian ?? day),
      week: Number(week),
      month: Number(month),
      second,
    };
    if (month !== undefined) {
      const fits = change.month >= 1 && change.month <= 12 && change.week >= 1 && change.week <= 5;
      return fits && change.day <= 6 ? { kind: 'M', ...change } : null;
    }
    if (julian !== undefined) return change.day >= 1 && change.day <= 365 ? { kind: 'J', ...change } : null;
    return change.day <= 365 ? { kind: 'D', ...change } : null;
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    const found = pattern.exec(this.rest);
    if (found !== null) this.rest = this.rest.slice(found[0].length);
    return found;
  }
}

function sixtieths(digits: string | undefined): number {
  return Math.min(Number(digits ?? 0), 59);
}
