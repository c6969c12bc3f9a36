import { describe, expect, it } from 'vitest';
import { CounterHistory } from '../../../../console/model/counters/counter-history.ts';
import { CounterTrail } from '../../../../console/model/counters/counter-trail.ts';
import { changesOf } from '../../../../console/model/session/changes.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { FactTrail } from '../../../../console/model/traffic/fact-trail.ts';
import { type AskedFor, UrlTrail } from '../../../../console/model/traffic/url-trail.ts';
import { describeCounters } from '../../../../daemon/stats/counters-reader.ts';

const NAMES = ['MAIN.uptime', 'MAIN.client_req', 'MAIN.fetch_failed'];
const point = (at: number, ...values: number[]) => ({ at, names: NAMES, values: Float64Array.from(values) });

/** A request for a host of one letter and a path. */
const asked = (page: string): AskedFor => {
  const [host, url] = [page.slice(0, 1), page.slice(1)];
  return { host, url, lookupHost: host, lookupUrl: url, ended: 0 };
};

/** Seconds 0 to `until`, with this many requests and failures so far. */
function trail(
  until: number,
  of: (at: number) => [number, number],
  uptime = (at: number) => at,
): CounterTrail {
  const out = new CounterTrail();
  for (let at = 1; at <= until; at++) out.add(point(at, uptime(at), ...of(at)));
  return out;
}

const requests = (t: CounterTrail, window: number) => {
  const { moved, seconds, secondsBefore } = t.movement(window);
  return [moved.find((one) => one.name === 'MAIN.client_req'), seconds, secondsBefore];
};

it('counts in a window and in as long a time before it', () => {
  const t = trail(150, (at) => [at <= 90 ? at * 10 : 900 + (at - 90) * 100, 0]);
  expect(requests(t, 60)).toEqual([{ name: 'MAIN.client_req', now: 5900, before: 690 }, 59, 60]);
});

it('goes over the end of a worker', () => {
  const t = trail(
    150,
    (at) => [at < 120 ? at * 10 : (at - 119) * 10, 0],
    (at) => (at < 120 ? at + 500 : at - 119),
  );
  const { moved } = t.movement(60);
  // Counts between the last point and the worker's end are unknown.
  expect(moved[1]?.now).toBeGreaterThanOrEqual(490);
  expect(moved[1]?.now).toBeLessThanOrEqual(590);
});

it('begins again when the clock was set back: what is later now was counted before', () => {
  const t = trail(100, (at) => [at * 10, 0]);
  const back = (until: number): unknown[] => {
    for (let at = -5000; at <= -5000 + until; at++) t.add(point(at, at + 5200, (at + 5200) * 50, 0));
    return requests(t, 60);
  };
  expect(back(60).at(1)).toBe(0);
  expect(back(140).slice(1)).toEqual([60, 60]);
});

it('shows nothing for a window without data, nor for the time before it', () => {
  expect(trail(50, (at) => [at, 0]).movement(60).seconds).toBe(0);
  expect(trail(75, (at) => [at, 0]).movement(60).seconds).toBe(0);
});

it('takes older points in front, each once', () => {
  const t = new CounterTrail();
  for (let at = 1101; at <= 1160; at++) t.add(point(at, at, at * 10, 0));
  t.recall(Array.from({ length: 20 }, (_, i) => point(950 + i * 10, 950 + i * 10, (950 + i * 10) * 10, 0)));
  expect(requests(t, 60)).toEqual([{ name: 'MAIN.client_req', now: 590, before: 610 }, 59, 61]);
});

it('takes those of a time in which nothing came', () => {
  const t = new CounterTrail();
  const came = [100, 110, 120, 200, 210];
  for (const at of came) t.add(point(at, at, at * 10, 0));
  const kept = Array.from({ length: 14 }, (_, i) => 82 + i * 10);
  t.recall(kept.map((at) => point(at, at, at * 10, 0)));
  // The window and the one before it, as far as there are points, though the half of both had been missed.
  expect(requests(t, 60)).toEqual([{ name: 'MAIN.client_req', now: 580, before: 520 }, 58, 52]);
});

it('knows a counter that is new', () => {
  const t = new CounterTrail();
  for (let at = 10; at <= 130; at += 10)
    t.add({ at, names: ['MAIN.uptime'], values: Float64Array.from([at]) });
  for (let at = 140; at <= 190; at += 10) t.add(point(at, at, 5 * at, 3));
  const failed = t.movement(60).moved.find((one) => one.name === 'MAIN.fetch_failed');
  expect(failed).toEqual({ name: 'MAIN.fetch_failed', now: 3, before: 0 });
});

it('keeps URLs of half an hour, the frequent ones, in whatever order they come', () => {
  const t = new UrlTrail();
  for (let at = 5000; at > 4000; at--) {
    t.count(asked('a/'), at);
    t.count(asked(`a/once/${at}`), at);
  }
  for (let n = 0; n < 5000; n++) t.count(asked(n % 2 === 0 ? 'a/often' : `a/${n}`), 6500);
  expect(t.between(4700, 4800).urls.get('a/')?.requests).toBe(100);
  expect(t.between(6500, 6510).urls.get('a/often')?.requests).toBe(2500);
  expect(t.between(6500, 6510).requests).toBe(5000);
  expect(t.between(6500, 6510).urls.size).toBeLessThan(500);
  t.count(asked('a/'), 9000);
  expect(t.between(0, 7000).requests).toBe(0);
  expect(t.since).toBe(7100);
});

describe('what moved', () => {
  /** Two minutes of this many requests to each URL, a minute each, all of them in the sample. */
  function session(before: Record<string, number>, now: Record<string, number>): DaemonSession {
    const urls = new UrlTrail();
    const counters = new CounterTrail();
    const info = describeCounters(NAMES);
    const history = new CounterHistory();
    history.describe(info);
    let all = 0;
    for (let at = 1001; at <= 1120; at++) {
      for (const [url, n] of Object.entries(at <= 1060 ? before : now)) {
        for (let i = 0; i < n; i++) urls.count(asked(url), at);
        all += n;
      }
      counters.add(point(at, at, all, 0));
    }
    return {
      trail: counters,
      counters: history,
      traffic: { sample: { urls, facts: new FactTrail(), unserved: { last: () => [] } } },
      lastDataAt: 1120,
    } as unknown as DaemonSession;
  }

  it('is ranked by how many times more or less it is', () => {
    const s = session({ 'a/': 10, 'a/gone': 10, 'a/same': 10 }, { 'a/': 20, 'a/new': 10, 'a/same': 10 });
    const { changes, counters, urls } = changesOf(s, 60);
    expect([counters, urls]).toEqual([true, true]);
    expect(
      changes.map(({ kind, name, before, now }) => [kind, name, before > now ? 'less' : 'more']),
    ).toEqual([
      ['url', 'a/new', 'more'],
      ['url', 'a/gone', 'less'],
      ['url', 'a/', 'more'],
      ['counter', 'MAIN.client_req', 'more'],
    ]);
  });

  it('is nothing where chance explains it', () => {
    expect(changesOf(session({ 'a/': 1, 'a/b': 20 }, { 'a/': 1, 'a/b': 21 }), 60).changes).toEqual([]);
  });

  it('is not known of URLs that were not seen for long enough', () => {
    const s = session({ 'a/': 10 }, { 'a/': 90 });
    s.traffic.sample.urls.since = 1050;
    const { changes, urls } = changesOf(s, 60);
    expect([urls, changes.map(({ kind }) => kind)]).toEqual([false, ['counter']]);
  });
});
