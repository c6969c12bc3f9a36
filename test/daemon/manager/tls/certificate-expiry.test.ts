import { expect, it } from 'vitest';
import { countExpiry, ExpiryReports } from '../../../../daemon/manager/tls/certificate-expiry.ts';
import { newTlsCertCounters } from '../../../../daemon/stats/counter-fields.ts';
import type { TlsCertificate } from '../../../../daemon/tls/tls-settings.ts';

const DAY = 86_400;
const NOW = 1_800_000_000;
const until = (days: number, fingerprint = String(days)): TlsCertificate =>
  ({
    id: `c${days}`,
    names: ['a.example'],
    subject: '',
    fingerprint,
    notAfter: NOW + days * DAY,
  }) as unknown as TlsCertificate;

it('counts what expires', () => {
  const counters = newTlsCertCounters();
  countExpiry(counters, [until(30), until(14), until(13.9), until(-1)], NOW);
  expect(counters).toEqual({ certs: 4, certs_expiring: 2, certs_expired: 1, days_left: 0 });
  countExpiry(counters, [until(30), until(14.5)], NOW);
  expect(counters).toEqual({ certs: 2, certs_expiring: 0, certs_expired: 0, days_left: 14 });
  countExpiry(counters, [], NOW);
  expect(counters).toEqual({ certs: 0, certs_expiring: 0, certs_expired: 0, days_left: 99_999 });
});

it('reports each once a day, and once more when it has expired', () => {
  const reports = new ExpiryReports();
  const all = [until(30), until(1.5), until(3), until(-1)];
  expect(reports.due(all, NOW)).toEqual([
    'Certificate c1.5 (a.example) expires in 1 day, on 2027-01-16T20:00:00.000Z: renew it',
    'Certificate c3 (a.example) expires in 3 days, on 2027-01-18T08:00:00.000Z: renew it',
    'Certificate c-1 (a.example) expired on 2027-01-14T08:00:00.000Z: clients refuse it',
  ]);
  expect(reports.due(all, NOW + DAY - 1)).toEqual([]);
  expect(reports.due(all, NOW + DAY)).toHaveLength(3);
  expect(reports.due(all, NOW + 1.6 * DAY)).toEqual([
    'Certificate c1.5 (a.example) expired on 2027-01-16T20:00:00.000Z: clients refuse it',
  ]);
  expect(new ExpiryReports().due([until(0.4)], NOW)).toEqual([
    'Certificate c0.4 (a.example) expires in less than a day, on 2027-01-15T17:36:00.000Z: renew it',
  ]);
  // The same one in two places.
  expect(new ExpiryReports().due([until(2, 'x'), until(3, 'x')], NOW)).toHaveLength(1);
});
