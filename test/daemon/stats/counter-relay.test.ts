// Counters of several threads: what a thread reports, and what the first one makes of it in the file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  newMainCounters,
  newMgtCounters,
  newTlsCounters,
  newVbeCounters,
  newWrkCounters,
} from '../../../daemon/stats/counter-fields.ts';
import { CounterRelay, type CountersMessage } from '../../../daemon/stats/counter-relay.ts';
import { CountersFile } from '../../../daemon/stats/counters-file.ts';
import { CountersReader } from '../../../daemon/stats/counters-reader.ts';
import { ThreadRow } from '../../../daemon/stats/thread-row.ts';
import { drained } from '../../harness/steps.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'counters-'));
  path = join(dir, 'counters');
});
afterEach(() => rmSync(dir, { recursive: true }));

function thread(number: number) {
  const main = newMainCounters();
  const wrk = newWrkCounters();
  const facts = { sessions: () => number, lockWaits: () => 0 };
  return { main, wrk, row: new ThreadRow(number, main, wrk, facts) };
}

function setUp() {
  const first = thread(0);
  const other = thread(1);
  const file = new CountersFile(path, first.main, first.wrk);
  file.addThread(first.row);
  const sent: CountersMessage[] = [];
  const relay = new CounterRelay(other.main, other.wrk, newTlsCounters(), other.row, (message) =>
    sent.push(message),
  );
  const pass = (): void => {
    relay.publish();
    // As a port does it.
    for (const message of sent.splice(0)) file.merge(1, structuredClone(message));
    file.publish();
  };
  const read = (): Record<string, bigint> => {
    const { info, values } = drained(new CountersReader(path, newMgtCounters()).reading());
    return Object.fromEntries(info.map((c, i) => [c.name, values[i] as bigint]));
  };
  return { first, other, file, relay, sent, pass, read };
}

describe('the sums of two threads', () => {
  it('are those of their counters; gauges below zero of one thread are made up by the other', () => {
    const { first, other, pass, read } = setUp();
    first.main.cache_hit = 3;
    other.main.cache_hit = 4;
    first.main.n_object = 5;
    other.main.n_object = -2;
    pass();
    expect(read()).toMatchObject({ 'MAIN.cache_hit': 7n, 'MAIN.n_object': 3n });
    other.main.cache_hit++;
    pass();
    expect(read()['MAIN.cache_hit']).toBe(8n);
  });

  it('have a row for each thread, the worst loop, and one uptime', () => {
    const { first, other, pass, read } = setUp();
    Object.assign(first.main, { uptime: 9, client_req: 1, n_vcl: 1 });
    Object.assign(other.main, { uptime: 9, client_req: 2, n_vcl: 2 });
    first.wrk.loop_lag_us = 100;
    other.wrk.loop_lag_us = 700;
    pass();
    expect(read()).toMatchObject({
      'MAIN.uptime': 9n,
      'MAIN.n_vcl': 2n,
      'MAIN.client_req': 3n,
      'THR.0.requests': 1n,
      'THR.1.requests': 2n,
      'THR.1.connections_open': 1n,
      'WRK.loop_lag_us': 700n,
    });
  });

  it('count a backend of both once, keep what a thread has counted that has it no more, and forget one that nobody has', () => {
    const { file, relay, pass, read } = setUp();
    const own = newVbeCounters();
    const others = newVbeCounters();
    Object.assign(own, { req: 1, happy: 5n });
    Object.assign(others, { req: 2, happy: 7n });
    file.addBackend('boot', 'b', own);
    relay.addBackend('boot', 'b', others);
    pass();
    expect(read()).toMatchObject({ 'VBE.boot.b.req': 3n, 'VBE.boot.b.happy': 5n });
    relay.removeBackend(others);
    pass();
    expect(read()['VBE.boot.b.req']).toBe(3n);
    file.removeBackend(own);
    pass();
    expect(read()['VBE.boot.b.req']).toBeUndefined();
  });
});

describe('a report', () => {
  it('is made of what has changed, and of nothing else', () => {
    const { other, relay, sent } = setUp();
    relay.publish();
    sent.length = 0;
    relay.publish();
    expect(sent).toEqual([]);
    other.main.cache_hit++;
    relay.publish();
    expect(sent.map(({ main }) => main.length)).toEqual([2]);
    // Values from the first thread only, and invalid numbers.
    other.main.uptime++;
    relay.publish();
    expect(sent.length).toBe(1);
  });

  it('reports the time up to which everything was read, also without changes', () => {
    const { relay, file, first } = setUp();
    vi.useFakeTimers({ now: 1000 });
    const looks: number[] = [];
    relay.scanned = (at) => looks.push(at);
    // Increments during the read may have been missed.
    relay.sample = () => void vi.setSystemTime(2000);
    relay.publish();
    relay.publish();
    expect(looks).toEqual([1000, 2000]);
    vi.useRealTimers();
    // The file is whole until then, and not until now.
    file.reports = { until: () => 1234, wholeUntil: () => 1234 };
    first.main.cache_hit++;
    file.publish();
    expect(drained(new CountersReader(path, newMgtCounters()).reading()).info.length).toBeGreaterThan(0);
  });
});

it('a thread that does not report has been silent for that long, in the file that the first one writes', () => {
  const { file, pass, read } = setUp();
  let reportedAt = Date.now();
  const reports = { until: () => reportedAt, wholeUntil: () => reportedAt };
  file.reports = reports;
  pass();
  expect(read()).toMatchObject({ 'THR.0.silent': 0n, 'THR.1.silent': 0n });
  reportedAt -= 9500;
  // It is brought up to date once a second.
  for (let i = 0; i < 20; i++) file.publish();
  const { 'THR.0.silent': own, 'THR.1.silent': other } = read();
  expect([own, Number(other) >= 9 && Number(other) < 60]).toEqual([0n, true]);
  reportedAt = Date.now() + 1000;
  for (let i = 0; i < 20; i++) file.publish();
  expect(read()['THR.1.silent']).toBe(0n);
});

describe('the backends of a report', () => {
  const backends = ({ backends: all }: CountersMessage) =>
    all.map(({ part, name, live, changes }) => ({ part, name, live, changed: changes.length > 0 }));

  it('are reported once after their removal, with their last counts', () => {
    const { relay, sent, pass, read } = setUp();
    const [stays, goes] = [newVbeCounters(), newVbeCounters()];
    relay.addBackend('boot', 'b', stays);
    relay.addBackend('boot', 'b', goes);
    pass();
    goes.req = 5;
    relay.removeBackend(goes);
    relay.removeBackend(newVbeCounters());
    pass();
    expect(read()['VBE.boot.b.req']).toBe(5n);
    goes.req = 6;
    relay.publish();
    expect(sent).toEqual([]);
  });

  it('keep their number when they come again', () => {
    const { relay, sent } = setUp();
    const counters = newVbeCounters();
    relay.addBackend('boot', 'b', counters);
    relay.publish();
    // Before its removal was noticed.
    relay.removeBackend(counters);
    relay.addBackend('boot', 'b', counters);
    relay.publish();
    expect(sent.splice(0).map(backends)).toEqual([[{ part: 1, name: 'b', live: true, changed: true }]]);
    counters.req++;
    relay.publish();
    expect(sent.splice(0).map(backends)).toEqual([[{ part: 1, name: 'b', live: true, changed: true }]]);
    relay.removeBackend(counters);
    relay.publish();
    relay.addBackend('boot', 'b', counters);
    relay.publish();
    expect(sent.splice(0).map(backends)).toEqual([
      [{ part: 1, name: 'b', live: false, changed: false }],
      [{ part: 1, name: 'b', live: true, changed: true }],
    ]);
  });

  it('take turns where they are many, and are all there at the end', () => {
    const { relay, sent } = setUp();
    const all = Array.from({ length: 70 }, (_, i) => ({ name: `b${i}`, counters: newVbeCounters() }));
    for (const { name, counters } of all) relay.addBackend('boot', name, counters);
    const names = (): string[] => sent.flatMap((message) => message.backends.map(({ name }) => name));
    for (let second = 0; second < 2; second++) {
      for (let beat = 0; beat < 10; beat++) relay.publish();
      expect(names()).toEqual(all.map(({ name }) => name));
      expect(Math.max(...sent.splice(0).map((message) => message.backends.length))).toBe(7);
      for (const { counters } of all) counters.req++;
    }
    relay.close();
    expect(names()).toEqual(all.map(({ name }) => name));
  });
});

it('reports ten times a second from the start to the end, and samples once a second and at the end', () => {
  const { relay, other, sent } = setUp();
  vi.useFakeTimers();
  try {
    let samples = 0;
    relay.sample = () => {
      other.main.n_object = ++samples;
    };
    relay.start();
    // With what was sampled for it.
    expect(sent.splice(0).map(({ main }) => main.includes(1))).toEqual([true]);
    for (let beat = 1; beat <= 25; beat++) {
      other.main.cache_hit++;
      vi.advanceTimersByTime(100);
      expect(sent.splice(0).length).toBe(1);
    }
    expect(samples).toBe(3);
    relay.close();
    expect([samples, sent.splice(0).length]).toEqual([4, 1]);
    other.main.cache_hit++;
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
