// Backends on the dashboard: how each answered in the last minute, as far as there is room.
import { expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { CounterHistory } from '../../../../console/model/counters/counter-history.ts';
import { parseBackendList } from '../../../../console/model/session/backends.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { TrafficSample } from '../../../../console/model/traffic/traffic-sample.ts';
import { backendRows } from '../../../../console/views/dashboard/dashboard-rows.ts';
import { record } from '../../fake-recording.ts';

const NOW = 1_000_000;

function answered(sample: TrafficSample, id: number, seconds: number, status: number, at: number): void {
  const records = Buffer.concat([
    record('b', id, 'Timestamp', `Start: ${at}.000000 0.000000 0.000000`),
    record('b', id, 'BackendOpen', '5 shop 127.0.0.1 8080 127.0.0.1 40000 connect'),
    record('b', id, 'Timestamp', `Beresp: ${at}.000000 ${seconds} ${seconds}`),
    record('b', id, 'BerespStatus', String(status)),
  ]);
  sample.add([{ level: 1, type: 'bereq', reason: 'fetch', vxid: id, parent: 0, records }], at);
}

it('leaves out that there is no probe before it cuts it', () => {
  const sample = new TrafficSample();
  for (let i = 0; i < 10; i++) answered(sample, i + 1, 0.01, i < 4 ? 503 : 200, NOW - 5);
  const session = {
    backends: parseBackendList(
      JSON.stringify([
        3,
        ['backend.list', '-j'],
        NOW,
        { 'boot.shop': { type: 'backend', admin_health: 'probe', probe_message: 'healthy' } },
      ]),
    ),
    everUp: true,
    cutOff: false,
    counters: new CounterHistory(),
    traffic: { sample },
    dataAt: NOW,
  } as unknown as DaemonSession;
  const theme = makeTheme('none', false);
  for (let width = 30; width < 90; width++) {
    const row = plain(backendRows(session, width, theme)[0] ?? []);
    expect(row).not.toContain('…');
    expect(row.length).toBe(width);
  }
  expect(plain(backendRows(session, 90, theme)[0] ?? [])).toMatch(/healthy {2}– no probe .* 40\.0% failed$/);
});

const backends = parseBackendList(
  JSON.stringify([
    3,
    ['backend.list', '-j'],
    NOW,
    {
      'boot.shop': { type: 'backend', admin_health: 'probe', probe_message: [1, 1, 'healthy'] },
      'boot.idle': { type: 'backend', admin_health: 'probe', probe_message: [1, 1, 'healthy'] },
    },
  ]),
);

it('has the times and failures of the last minute beside each, the failures first where there is little room', () => {
  const sample = new TrafficSample();
  for (let i = 0; i < 100; i++) answered(sample, i + 1, 0.001, 200, NOW - 200);
  for (let i = 0; i < 10; i++) answered(sample, i + 500, i < 5 ? 2 : 0.01, i < 4 ? 503 : 200, NOW - 5);
  const session = {
    backends,
    everUp: true,
    cutOff: false,
    counters: new CounterHistory(),
    traffic: { sample },
    dataAt: NOW,
  } as unknown as DaemonSession;
  const shop = (width: number): string =>
    backendRows(session, width, makeTheme('none', true))
      .map(plain)
      .find((row) => row.includes('shop')) ?? '';
  expect(shop(80)).toMatch(/boot\.shop .* p50 10\.0ms p99 2\.00s 40\.0% failed$/);
  expect(shop(44)).toMatch(/ 40\.0% failed$/);
  const idle = backendRows(session, 80, makeTheme('none', true)).map(plain).join('\n');
  expect(idle.split('\n').find((row) => row.includes('idle'))).not.toMatch(/p50|failed/);
});
