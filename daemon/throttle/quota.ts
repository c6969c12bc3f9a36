// Converts the figures that providers publish, per month or per hour, to those of a limit, and back.

const MINUTES_A_DAY = 24 * 60;

/** Calls per minute that use no more than `quota` in this number of days: rounded down, and at least 1. */
export function perMinuteFromQuota(quota: number, days = 30): number {
  positive('perMinuteFromQuota(): the quota', quota, 'calls');
  positive('perMinuteFromQuota(): the time', days, 'days');
  return Math.max(1, Math.floor(quota / (days * MINUTES_A_DAY)));
}

/** Days that a quota lasts at a limit that is always used up; in hundredths. */
export function daysUntilUsedUp(quota: number, limit: { calls: number; period: number }): number {
  positive('daysUntilUsedUp(): the quota', quota, 'calls');
  positive('daysUntilUsedUp(): calls', limit?.calls, 'calls a period');
  positive('daysUntilUsedUp(): period', limit?.period, 'seconds');
  return Math.round(((quota / limit.calls) * limit.period * 100) / 86_400) / 100;
}

/** Calls per minute for a number per hour, rounded down. Fewer than 60 per hour cannot be expressed per minute. */
export function perMinuteFromHourly(hourly: number): number {
  positive('perMinuteFromHourly(): the number', hourly, 'calls an hour');
  if (hourly < 60)
    throw new RangeError(
      `perMinuteFromHourly(): ${hourly} an hour is less than one a minute; use limit({ calls: ${Math.max(1, Math.floor(hourly))}, period: 3600 })`,
    );
  return Math.floor(hourly / 60);
}

function positive(what: string, value: unknown, unit: string): void {
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return;
  throw new RangeError(`${what} is ${String(value)}; give a number above 0: ${unit}`);
}
