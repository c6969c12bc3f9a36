// From the figures that providers publish, so many a month or an hour, to those of a limit, and back.

const MINUTES_A_DAY = 24 * 60;

/** Calls a minute that use no more than `quota` in so many days: rounded down, and at least 1. */
export function perMinuteFromQuota(quota: number, days = 30): number {
  positive('perMinuteFromQuota(): the quota', quota, 'calls');
  positive('perMinuteFromQuota(): the time', days, 'days');
  return Math.max(1, Math.floor(quota / (days * MINUTES_A_DAY)));
}

/** How many days a quota lasts at a limit that is always used in full; in hundredths. */
export function daysUntilUsedUp(quota: number, limit: { calls: number; period: number }): number {
  positive('daysUntilUsedUp(): the quota', quota, 'calls');
  positive('daysUntilUsedUp(): calls', limit?.calls, 'calls a period');
  positive('daysUntilUsedUp(): period', limit?.period, 'seconds');
  return Math.round(((quota / limit.calls) * limit.period * 100) / 86_400) / 100;
}

/** Calls a minute of so many an hour, rounded down. Fewer than 60 an hour are no limit a minute. */
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
