// Dates beyond JavaScript's range: its calendar ends in 273,000 years, the C library's with the last 32-bit year. 400
// years are always 146,097 days, so a distant date is computed from a near one.

const FOUR_CENTURIES = 146_097 * 86_400;
/** The C library counts years from 1900 in 32 bits. */
const LAST_YEAR = 2 ** 31 - 1 + 1900;
const FIRST_YEAR = -(2 ** 31) + 1900;

export interface CalendarDate {
  /** The same day and time in one of the years 1970 to 2369. */
  near: Date;
  /** Years to add to `near`. */
  years: number;
}

/**
 * @param t epoch seconds, truncated
 * @returns null if the year is out of range
 */
export function calendarDate(t: number): CalendarDate | null {
  const whole = Math.trunc(t);
  const eras = Math.floor(whole / FOUR_CENTURIES);
  const near = new Date((whole - eras * FOUR_CENTURIES) * 1000);
  const years = eras * 400;
  const year = near.getUTCFullYear() + years;
  return year >= FIRST_YEAR && year <= LAST_YEAR ? { near, years } : null;
}

/** The year as the C library prints it: in 32 bits. */
export function shownYear(date: Date, years: number): number {
  return (date.getUTCFullYear() + years) | 0;
}
