// Any point in time as a date: the calendar of JavaScript ends 273,000 years from now, that of the C library with
// the last year that has 32 bits. 400 years are always 146,097 days, so a far date looks like a near one.

const FOUR_CENTURIES = 146_097 * 86_400;
/** The C library counts years from 1900 in 32 bits. */
const LAST_YEAR = 2 ** 31 - 1 + 1900;
const FIRST_YEAR = -(2 ** 31) + 1900;

export interface CalendarDate {
  /** The same day and time in one of the years 1970 to 2369. */
  near: Date;
  /** To be added to the year of `near`. */
  years: number;
}

/** @param t epoch seconds, fractions are cut; null when no year has it */
export function calendarDate(t: number): CalendarDate | null {
  const whole = Math.trunc(t);
  const eras = Math.floor(whole / FOUR_CENTURIES);
  const near = new Date((whole - eras * FOUR_CENTURIES) * 1000);
  const years = eras * 400;
  const year = near.getUTCFullYear() + years;
  return year >= FIRST_YEAR && year <= LAST_YEAR ? { near, years } : null;
}

/** The year as the C library shows it: in 32 bits. */
export function shownYear(date: Date, years: number): number {
  return (date.getUTCFullYear() + years) | 0;
}
