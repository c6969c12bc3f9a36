// The latency view: columns without gaps that the scale has made, and percentiles over time that have none where there were
// requests.
import { expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { LatencyMeter, LatencySpan, latencyTrail } from '../../../../console/model/traffic/latency-meter.ts';
import { RecentFacts } from '../../../../console/model/traffic/recent-facts.ts';
import type { TrafficFacts } from '../../../../console/model/traffic/traffic-facts.ts';
import { histogramRows } from '../../../../console/views/latency/latency-rows.ts';
import { fakeRecording } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

const UNICODE = makeTheme('none', false);

/** One request for each, hits below a millisecond. */
function measured(times: readonly number[]): LatencyMeter {
  const latency = new LatencyMeter();
  for (const time of times) latency.add(time, time < 0.001, 1000);
  return latency;
}

/** Every step of the scale from ten microseconds to ten milliseconds, this many times each. */
const EVEN = Array.from({ length: 59 }, (_, i) => 10 ** (-5 + (i + 0.5) / 20));

it.each([49, 69, 91, 111, 129, 191])('draws an even distribution without gaps over %i columns', (width) => {
  for (const ascii of [false, true]) {
    const rows = histogramRows(measured(EVEN), 'all', width + 9, 12, makeTheme('none', ascii)).map(plain);
    const plot = rows.slice(0, 10).map((row) => row.slice(8).trimEnd());
    // All the way to the end of the last decade but for the one step that is empty.
    expect(plot[9]?.length).toBeGreaterThan(width * 0.93);
    expect(plot.map((row) => /\S +\S/.test(row))).toEqual(Array(10).fill(false));
  }
});

it('draws heights in eighths, and what is there once', () => {
  const rows = histogramRows(
    measured([...Array.from({ length: 80 }, () => 2e-5), ...Array.from({ length: 10 }, () => 4e-5), 8e-5]),
    'all',
    89,
    10,
    UNICODE,
  ).map(plain);
  const marks = (row: number): string => [...new Set(rows[row]?.slice(8).replaceAll(' ', ''))].join('');
  expect(marks(0)).toBe('█');
  // Eight rows for eighty: a row for ten, an eighth for one.
  expect(marks(7)).toBe('█▁');
});

function facts(seconds: number, handling: TrafficFacts['handling'] = 'hit'): TrafficFacts {
  const page = { method: 'GET', url: '/', host: '', lookupUrl: '/', lookupHost: '' };
  const text = { ...page, client: '', forwarded: '', agent: '', backend: '', error: '' };
  return { ...text, kind: 'request', handling, seconds } as unknown as TrafficFacts;
}

it('has the times of the last minute apart from those before, and the slowest of them', () => {
  const recent = new RecentFacts();
  for (let at = 801; at <= 1000; at++) {
    const slow = at > 950 && at % 2 === 0;
    recent.add(facts(slow ? 2 : 0.0001, slow ? 'miss' : 'hit'), at);
  }
  const minute = new LatencySpan(recent, 60, 1000, 0);
  expect([minute.size, minute.since]).toEqual([61, 940]);
  expect(minute.percentile(0.5)).toBeCloseTo(0.0001, 4);
  expect(minute.percentile(0.5, 'others')).toBeCloseTo(2, 0);
  expect(minute.slowest(0.99)).toMatchObject({ since: 952 });
  const all = new LatencySpan(recent, 300, 1000, 0);
  expect([all.size, all.percentile(0.5)]).toEqual([200, minute.percentile(0.5)]);
  expect(new LatencySpan(recent, 60, 1000, 990).size).toBe(11);
  expect(new LatencySpan(recent, 60, 1000, 1001).slowest(0.99)).toBeNull();
});

it('knows percentiles of each slice, and none where there was no request', () => {
  const recent = new RecentFacts();
  for (let at = 901; at <= 1000; at++) {
    if (at > 940 && at <= 960) continue;
    for (let i = 0; i < 98; i++) recent.add(facts(0.0001), at);
    for (let i = 0; i < 2; i++) recent.add(facts(at === 980 ? 5 : 0.05, 'miss'), at);
  }
  const options = { now: 1000.5, seconds: 100, slices: 10, from: 0, quantity: 'all' } as const;
  const { p50, p99 } = latencyTrail(recent, options);
  expect(p50.map(Number.isNaN)).toEqual([0, 0, 0, 0, 1, 1, 0, 0, 0, 0].map(Boolean));
  expect(p50[0]).toBeCloseTo(0.0001, 5);
  expect(p99[0]).toBeCloseTo(0.05, 2);
  expect(latencyTrail(recent, { ...options, slices: 100 }).p99.filter((v) => v > 4)).toHaveLength(1);
  expect(latencyTrail(recent, { ...options, quantity: 'hits' }).p99[0]).toBeCloseTo(0.0001, 5);
  expect(latencyTrail(recent, { ...options, quantity: 'others' }).p50[0]).toBeCloseTo(0.05, 2);
  expect(latencyTrail(recent, { ...options, from: 985 }).p50.filter((v) => !Number.isNaN(v))).toHaveLength(2);
});

it.each([
  [80, 24, 'p99 p50 over time'],
  [200, 60, 'p99 p50 over time'],
  [60, 20, null],
])('shows them below the histogram on %ix%i', async (columns, rows, legend) => {
  const stage = new Stage({ recording: fakeRecording(), columns, rows });
  try {
    await stage.play(80);
    await stage.keys('0');
    const screen = await stage.screen();
    if (legend === null) expect(screen).not.toContain('over time');
    else {
      expect(screen).toContain(legend);
      expect(screen).toMatch(/[\u2801-\u28ff]{20}/);
    }
  } finally {
    stage.close();
  }
});
