// Certificates that expire: their counters, and a report once a day for each that has less than two weeks left.

import type { TlsCertCounters } from '../../stats/counter-fields.ts';
import { DAYS_BEFORE_EXPIRY, type TlsCertificate } from '../../tls/tls-settings.ts';

const DAY = 86_400;
/** The value of days_left without any certificate: its row says so. */
const NEVER = 99_999;

/** Whole days left at `now` (epoch seconds); negative once it has expired. */
export function daysLeft({ notAfter }: Pick<TlsCertificate, 'notAfter'>, now: number): number {
  return Math.floor((notAfter - now) / DAY);
}

export function countExpiry(
  counters: TlsCertCounters,
  certificates: readonly TlsCertificate[],
  now: number,
): void {
  const left = certificates.map((one) => daysLeft(one, now));
  counters.certs = certificates.length;
  counters.certs_expiring = left.filter((days) => days < DAYS_BEFORE_EXPIRY).length;
  counters.certs_expired = certificates.filter(({ notAfter }) => notAfter <= now).length;
  counters.days_left = Math.max(
    0,
    left.reduce((least, days) => Math.min(least, days), NEVER),
  );
}

export class ExpiryReports {
  /** When each certificate was last reported, by fingerprint; epoch seconds. */
  #reported: ReadonlyMap<string, number> = new Map();

  /** Texts for certificates that expire soon or have expired, unless they were reported within a day. */
  due(certificates: readonly TlsCertificate[], now: number): string[] {
    const texts: string[] = [];
    const reported = new Map<string, number>();
    for (const one of certificates) {
      if (daysLeft(one, now) >= DAYS_BEFORE_EXPIRY) continue;
      const isExpired = one.notAfter <= now;
      const key = `${one.fingerprint} ${isExpired}`;
      const last = this.#reported.get(key);
      const isDue = last === undefined || now - last >= DAY || now < last;
      if (isDue && !reported.has(key)) texts.push(text(one, now, isExpired));
      reported.set(key, isDue ? now : last);
    }
    this.#reported = reported;
    return texts;
  }
}

function text(one: TlsCertificate, now: number, isExpired: boolean): string {
  const date = new Date(one.notAfter * 1000).toISOString();
  const which = `Certificate ${one.id} (${one.names[0] ?? one.subject})`;
  if (isExpired) return `${which} expired on ${date}: clients refuse it`;
  const days = daysLeft(one, now);
  const span = days === 0 ? 'less than a day' : days === 1 ? '1 day' : `${days} days`;
  return `${which} expires in ${span}, on ${date}: renew it`;
}
