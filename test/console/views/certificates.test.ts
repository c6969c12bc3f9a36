// The words about certificates on the dashboard, and the view's rows.
import { expect, it } from 'vitest';
import type { DaemonSession } from '../../../console/model/session/daemon-session.ts';
import { CERTIFICATES_VIEW, expiryText } from '../../../console/views/certificates/certificates-view.ts';

/** A session whose counters have these values. */
function session(counters: Readonly<Record<string, number>>, list = '', automatic = ''): DaemonSession {
  const get = (name: string): unknown => (name in counters ? { current: counters[name] } : undefined);
  return {
    counters: { get, value: (name: string) => counters[name] ?? 0, rate: () => 0, all: () => [] },
    admin: { body: (line: string) => (line.startsWith('tls.acme') ? automatic : list) },
    utc: true,
    now: () => 0,
    connection: { state: 'up' },
  } as unknown as DaemonSession;
}

it.each([
  [{}, null],
  [{ 'TLS.days_left': 99999, 'TLS.certs': 0 }, null],
  [{ 'TLS.days_left': 14, 'TLS.certs': 1 }, null],
  [
    { 'TLS.days_left': 13, 'TLS.certs': 1 },
    { text: 'cert expires in 13d', tone: 'warn' },
  ],
  [
    { 'TLS.days_left': 0, 'TLS.certs': 1 },
    { text: 'cert expires today', tone: 'warn' },
  ],
  [
    { 'TLS.days_left': -3, 'TLS.certs': 2, 'TLS.certs_expired': 1 },
    { text: '1 cert expired', tone: 'bad' },
  ],
])('with %j the dashboard says %j', (counters, text) => {
  expect(expiryText(session(counters as Record<string, number>))).toEqual(text);
});

it('has a row for each certificate, with the days that are left', () => {
  const item = (id: string, status: string, daysLeft: number): object => ({
    ...{ id, status, daysLeft, frontend: 'default', subject: `CN=${id}`, names: [`${id}.example`] },
    ...{
      issuer: 'CN=root',
      serial: '1',
      notBefore: '2026-01-01T00:00:00Z',
      notAfter: '2026-12-01T00:00:00Z',
    },
  });
  const answer = JSON.stringify([
    2,
    ['tls.cert.list', '-j'],
    0,
    item('a', 'active', 3),
    item('b', 'staged', -1),
  ]);
  const rows = CERTIFICATES_VIEW.definition.rows(session({ 'TLS.handshakes': 1 }, answer), '');
  const text = rows.map(({ cells }) => cells.map((cell) => cell.text));
  expect(text).toEqual([
    ['a', 'active', '3', 'a.example', 'all', 'CN=root'],
    ['b', 'staged', 'expired', 'b.example', 'all', 'CN=root'],
  ]);
  expect(rows[0]?.cells[2]?.tone).toBe('warn');
  expect(rows[1]?.cells[2]?.tone).toBe('bad');
});

it('shows those that an authority refuses, in its words', () => {
  const one = {
    id: 'a',
    frontend: null,
    names: ['a.example'],
    state: 'refused',
    notAfter: null,
    next: 0,
    problem: 'no',
  };
  const answer = JSON.stringify([
    2,
    ['tls.acme.list', '-j'],
    0,
    one,
    { ...one, id: 'b', state: 'valid', problem: null },
  ]);
  const rows = CERTIFICATES_VIEW.definition.rows(session({ 'TLS.handshakes': 1 }, '', answer), '');
  expect(rows.map(({ cells }) => cells.map((cell) => cell.text))).toEqual([
    ['a', 'refused', '', 'a.example', 'automatic', 'no'],
  ]);
});
