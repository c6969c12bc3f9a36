// The charts of the dashboard: bursts are seen after minutes, a hit rate needs lookups, windows say what they cover.
import { expect, it } from 'vitest';
import type { Source, SourceEvents } from '../../../../console/client/source.ts';
import { ChartPainter } from '../../../../console/draw/chart.ts';
import { plain, type Row } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { axisEnds } from '../../../../console/views/chart-period.ts';
import {
  requestRows,
  requestsRemark,
  servedRemark,
  servedRows,
} from '../../../../console/views/dashboard/dashboard-charts.ts';
import { trafficRows } from '../../../../console/views/dashboard/dashboard-traffic.ts';
import type { CounterInfo } from '../../../../protocol/messages.ts';

const NAMES = ['MAIN.client_req', 'MAIN.cache_hit', 'MAIN.cache_miss', 'MAIN.uptime', 'MAIN.s_pass'];
const CHART = new ChartPainter(makeTheme('none', true));

/** A session that has seen one reading a second; each of `rates` is requests, a tenth of which miss; as many as `passed` times
 * these pass. */
function after(
  rates: readonly number[],
  history?: Source['history'],
  {
    up = true,
    passed = 0,
    ...facts
  }: { up?: boolean; passed?: number; canReplay?: boolean; recorded?: boolean } = {},
): DaemonSession {
  let events: SourceEvents | null = null;
  let now = 1000;
  const session = new DaemonSession({
    source: {
      label: 'made up',
      start: (e) => {
        events = e;
      },
      command: () => Promise.resolve({ status: 101, body: '' }),
      log: () => ({ close: () => undefined }),
      setInterval: () => undefined,
      sampleNow: () => undefined,
      close: () => undefined,
      ...facts,
      ...(history === undefined ? {} : { history }),
    },
    now: () => now,
    later: (fn) => fn(),
    utc: true,
  });
  session.start();
  const info = NAMES.map(
    (name): CounterInfo => ({ name, flag: 'c', format: 'i', level: 'info', description: '' }),
  );
  const to = events as SourceEvents | null;
  to?.counters(info);
  let total = 0;
  let hits = 0;
  for (const rate of [0, ...rates]) {
    now++;
    total += rate;
    hits += Math.round(rate * 0.9);
    to?.values(now, [total, hits, total - hits, now, total * passed].map(BigInt));
  }
  if (!up) to?.connection({ state: 'waiting', attempt: 1, retryAt: now + 1, reason: 'gone' });
  return session;
}

const text = (rows: readonly Row[]): string[] => rows.map(plain);

it('draws a burst as high as it was, minutes after it', () => {
  const quiet = Array.from({ length: 280 }, () => 100);
  const session = after([...quiet.slice(0, 10), 20_000, ...quiet]);
  const rows = text(requestRows(session, 50, 12, CHART));
  expect(rows[0]).toMatch(/^ *20\.0k \|.*\*/);
  // Means fit, and a legend distinguishes them.
  expect(rows.join('')).toContain('o');
  expect(plain(requestsRemark(session, 52, 14))).toBe('peak, mean, now 100/s');
  expect(plain(requestsRemark(session, 52, 8))).toBe('100/s');
});

it('draws no hit rate where nothing was looked up', () => {
  const session = after([...Array.from({ length: 20 }, () => 100), ...Array.from({ length: 30 }, () => 0)]);
  const rows = text(servedRows(session, 68, 10, CHART));
  // One slice a second: the last half minute is empty.
  for (const row of rows.slice(0, 8)) expect(row.slice(-25).trim()).toBe('');
  expect(rows.join('')).toContain('*');
});

it('shows a hit rate of a single second', () => {
  const session = after([
    ...Array.from({ length: 20 }, () => 0),
    100,
    ...Array.from({ length: 20 }, () => 0),
  ]);
  for (const ascii of [true, false]) {
    const rows = text(servedRows(session, 68, 10, new ChartPainter(makeTheme('none', ascii))));
    expect(rows.slice(0, 8).join('')).toMatch(/[*\u2801-\u28ff]/);
  }
});

it('counts passes in the share served from cache, and shows the hit rate beside it', () => {
  const session = after(
    Array.from({ length: 27 }, () => 10),
    undefined,
    { passed: 1 },
  );
  expect(plain(servedRemark(session, 60))).toBe('hit rate 90.0%   10s 45.0%  27s 45.0%');
  expect(plain(servedRemark(session, 40))).toBe('hit rate 90.0%   10s 45.0%');
  expect(plain(servedRemark(session, 30))).toBe('10s 45.0%');
  expect(text(servedRows(session, 68, 10, CHART)).findIndex((row) => row.includes('*'))).toBeGreaterThan(3);
});

it('has no rates of a single sample: nothing is known of the time before it', () => {
  const traffic = (session: DaemonSession): string =>
    text(
      trafficRows(
        Object.create(session, { everUp: { value: true } }),
        40,
        8,
        false,
        makeTheme('none', true),
        null,
      ),
    ).join('\n');
  expect(traffic(after([]))).toBe('collecting…');
  expect(traffic(after([10]))).toMatch(/^hit +9\.0\/s/);
});

it('shows the present length of each window', () => {
  expect(plain(servedRemark(after(Array.from({ length: 27 }, () => 10)), 60))).toBe('10s 90.0%  27s 90.0%');
});

/** A daemon that has kept its counters for a day: ten requests a second, and a burst of 500 for ten seconds so long ago. */
function keptFor(burstAgo: number): NonNullable<Source['history']> {
  return ({ from, step }) => {
    const points = [];
    let total = 0;
    for (let at = Math.ceil(from / step) * step; at <= 1000; at += step) {
      total += (at > 1000 - burstAgo && at <= 1010 - burstAgo ? 500 : 10) * step;
      points.push({ at, names: NAMES, values: Float64Array.from([total, total / 2, total / 2, 1e6 + at]) });
    }
    return Promise.resolve(points);
  };
}

it.each([
  [3600, 3000, '1 h ago', /500 \|(.*)$/],
  [86_400, 60_000, '24 h ago', /500 \|(.*)$/],
])('shows the last %i seconds, with what the daemon kept', async (window, burst, label, top) => {
  const session = after(
    Array.from({ length: 20 }, () => 10),
    keptFor(burst),
  );
  await new Promise((resolve) => setTimeout(resolve, 1));
  const rows = text(requestRows(session, 68, 10, CHART, window));
  expect(rows.at(-1)).toContain(label);
  const plot = top.exec(rows[0] as string)?.[1] as string;
  expect(plot.indexOf('*') / plot.length).toBeCloseTo(1 - burst / window, 1);
  // As it was before, the hit rate too.
  expect(text(servedRows(session, 68, 10, CHART, window))[3]).toContain('*****');
});

it('has holes where the daemon kept nothing, and no burst where a worker began again', async () => {
  const history: Source['history'] = ({ step }) => {
    const points = [];
    for (let at = 900; at < 1000; at += step) {
      if (at > 960 && at < 980) continue;
      const total = at < 950 ? 1e6 + 10 * at : 10 * (at - 949);
      const up = at < 950 ? at : at - 949;
      points.push({ at, names: NAMES, values: Float64Array.from([total, total, 0, up]) });
    }
    return Promise.resolve(points);
  };
  const session = after([10, 10], history);
  await new Promise((resolve) => setTimeout(resolve, 1));
  const { requests } = session.rates.over(3600);
  const kept = Array.from({ length: requests.length }, (_, i) => requests.get(i) as number);
  expect([...new Set(kept)]).toEqual([10, Number.NaN]);
  expect(kept.filter(Number.isNaN)).toHaveLength(1);
});

it('calls the right end now only while that is so', () => {
  const rates = Array.from({ length: 100 }, () => 10);
  const live = after(rates, undefined, { canReplay: true });
  expect(axisEnds(live, 120)).toEqual({ left: '2 min ago', right: 'now' });
  const recorded = after(rates, undefined, { canReplay: true, recorded: true });
  expect(axisEnds(recorded, 120)).toEqual({ left: '00:16:21', right: '00:18:21' });
  const lost = after(rates, undefined, { up: false });
  expect(axisEnds(lost, 120)).toEqual({ left: '00:16:21', right: '00:18:21' });
});

it('collects nothing where nobody answers', () => {
  const words = (up: boolean): string =>
    requestRows(after([10], undefined, { up }), 60, 10, CHART)
      .map(plain)
      .join('');
  expect([words(true), words(false)]).toEqual(['collecting…', 'no connection']);
});
