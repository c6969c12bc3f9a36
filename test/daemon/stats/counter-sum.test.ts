import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type MainCounters,
  newMainCounters,
  newMgtCounters,
  newTlsCounters,
  newVbeCounters,
  newWrkCounters,
  type VbeCounters,
  type WrkCounters,
} from '../../../daemon/stats/counter-fields.ts';
import { CounterRelay, type CountersMessage } from '../../../daemon/stats/counter-relay.ts';
import { CounterSum } from '../../../daemon/stats/counter-sum.ts';
import { CountersFile } from '../../../daemon/stats/counters-file.ts';
import { CountersReader } from '../../../daemon/stats/counters-reader.ts';
import { ThreadRow } from '../../../daemon/stats/thread-row.ts';
import { MAIN_COUNTERS, THR_COUNTERS, VBE_COUNTERS } from '../../../protocol/tables/counters.ts';
import { drained } from '../../harness/steps.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'relay-'));
  path = join(dir, 'counters');
});
afterEach(() => rmSync(dir, { recursive: true }));

interface Thread {
  readonly main: MainCounters;
  readonly wrk: WrkCounters;
  readonly counters: CountersFile | CounterRelay;
  sessions: number;
  /** Sent and not yet received. */
  readonly sent: CountersMessage[];
}

function makeThread(number: number): Thread {
  const main = newMainCounters();
  const wrk = newWrkCounters();
  const sent: CountersMessage[] = [];
  const facts = { sessions: () => thread.sessions, lockWaits: () => number };
  const row = new ThreadRow(number, main, wrk, facts);
  const counters =
    number === 0
      ? new CountersFile(path, main, wrk)
      : new CounterRelay(main, wrk, newTlsCounters(), row, (m) => sent.push(m));
  const thread: Thread = { main, wrk, counters, sessions: 0, sent };
  if (counters instanceof CountersFile) counters.addThread(row);
  return thread;
}

/** A first thread and this many others. */
class Threads {
  readonly all: readonly Thread[];
  readonly file: CountersFile;

  constructor(others: number) {
    this.all = Array.from({ length: others + 1 }, (_, i) => makeThread(i));
    this.file = this.at(0).counters as CountersFile;
  }

  at(i: number): Thread {
    return this.all[i] as Thread;
  }

  /** As its timer does, and what it sends arrives as a copy. */
  report(i: number): void {
    this.at(i).counters.publish();
    this.deliver(i);
  }

  deliver(i: number): void {
    for (const message of this.at(i).sent.splice(0)) this.file.merge(i, structuredClone(message));
  }

  /** All reports, then a publication. */
  settle(): Record<string, number> {
    for (let i = this.all.length - 1; i > 0; i--) this.report(i);
    this.file.publish();
    return read();
  }
}

function read(): Record<string, number> {
  const { info, values } = drained(new CountersReader(path, newMgtCounters()).reading());
  return Object.fromEntries(info.map((c, i) => [c.name, Number(values[i])]));
}

const row = (name: string): number => MAIN_COUNTERS.findIndex((r) => r.name === name);

describe('reports', () => {
  it('say all at first, then what has changed, and nothing when nothing has', () => {
    const { all } = new Threads(1);
    const { main, counters, sent } = all[1] as Thread;
    main.cache_hit = 4;
    counters.publish();
    const summed = MAIN_COUNTERS.filter((r) => (r as { threads?: string }).threads !== 'first');
    expect(sent[0]?.main).toHaveLength(2 * summed.length);
    expect(sent[0]?.main.filter((_, i) => i % 2 === 0)).not.toContain(row('uptime'));
    counters.publish();
    expect(sent).toHaveLength(1);
    main.cache_hit++;
    main.n_object--;
    counters.publish();
    expect(sent[1]?.main).toEqual([row('cache_hit'), 5, row('n_object'), -1]);
    expect(sent[1]?.thr).toEqual([]);
    counters.close();
    expect(sent).toHaveLength(2);
  });

  it('take many backends by turns, and all at the end', () => {
    const { all } = new Threads(1);
    const { counters, sent } = all[1] as Thread;
    const backends = Array.from({ length: 990 }, newVbeCounters);
    for (const [i, c] of backends.entries()) counters.addBackend('boot', `b${i}`, c);
    for (let beat = 0; beat < 10; beat++) counters.publish();
    expect(sent.map((m) => m.backends.length)).toEqual(Array(10).fill(99));
    for (const c of backends) c.req++;
    counters.publish();
    counters.close();
    expect(sent.slice(10).map((m) => m.backends.length)).toEqual([99, 891]);
  });
});

describe('what is published of several threads', () => {
  it('is the sum, the worst, or what the first one knows', () => {
    const threads = new Threads(2);
    const values = [
      { cache_hit: 5, n_object: 7, uptime: 100, lag: 20, rss: 4000, heap: 300, errors: 0 },
      { cache_hit: 11, n_object: -3, uptime: 3, lag: 900, rss: 5000, heap: 200, errors: 2 },
      { cache_hit: 100, n_object: -1, uptime: 2, lag: 40, rss: 5000, heap: 100, errors: 1 },
    ];
    for (const [i, v] of values.entries()) {
      const { main, wrk } = threads.at(i);
      Object.assign(main, { cache_hit: v.cache_hit, n_object: v.n_object, uptime: v.uptime });
      Object.assign(wrk, {
        loop_lag_us: v.lag,
        rss_bytes: v.rss,
        heap_bytes: v.heap,
        write_errors: v.errors,
      });
    }
    expect(threads.settle()).toMatchObject({
      'MAIN.cache_hit': 116,
      'MAIN.n_object': 3,
      'MAIN.uptime': 100,
      'WRK.loop_lag_us': 900,
      'WRK.rss_bytes': 4000,
      'WRK.heap_bytes': 600,
      'WRK.write_errors': 3,
    });
    // The worst falls as well.
    threads.at(1).wrk.loop_lag_us = 10;
    expect(threads.settle()['WRK.loop_lag_us']).toBe(40);
  });

  it('has a row of each thread, in order, before the process', () => {
    const threads = new Threads(2);
    for (const i of [2, 1, 0]) {
      const thread = threads.at(i);
      thread.main.client_req = 10 + i;
      thread.main.sess_conn = 20 + i;
      thread.sessions = 30 + i;
      thread.wrk.loop_lag_us = 40 + i;
      thread.wrk.loop_busy = 50 + i;
      threads.report(i);
    }
    const got = threads.settle();
    const rows = Object.entries(got).filter(([name]) => name.startsWith('THR.'));
    expect(rows.map(([, value]) => value)).toEqual(
      [0, 1, 2].flatMap((i) => [10 + i, 20 + i, 30 + i, 50 + i, 40 + i, i, 0]),
    );
    expect(rows.map(([name]) => name)).toEqual(
      [0, 1, 2].flatMap((i) => THR_COUNTERS.map((r) => `THR.${i}.${r.name}`)),
    );
    expect(Object.keys(got).findIndex((name) => name.startsWith('WRK.'))).toBe(
      Object.keys(got).indexOf('THR.2.silent') + 1,
    );
  });

  it('is one row with one thread', () => {
    const names = Object.keys(new Threads(0).settle()).filter((name) => name.startsWith('THR.'));
    expect(names).toEqual(THR_COUNTERS.map((r) => `THR.0.${r.name}`));
  });

  it('takes in what a thread reports after the first one has closed', () => {
    const threads = new Threads(1);
    threads.settle();
    threads.at(1).main.cache_miss = 9;
    threads.file.close();
    expect(read()['MAIN.cache_miss']).toBe(0);
    threads.at(1).counters.close();
    threads.deliver(1);
    expect(read()['MAIN.cache_miss']).toBe(9);
  });
});

describe('backends of several threads', () => {
  const req = 'VBE.boot.a.req';
  const conn = 'VBE.boot.a.conn';

  function withBackend(): { threads: Threads; own: VbeCounters; other: VbeCounters } {
    const threads = new Threads(1);
    const own = newVbeCounters();
    const other = newVbeCounters();
    threads.at(0).counters.addBackend('boot', 'a', own);
    threads.at(1).counters.addBackend('boot', 'a', other);
    Object.assign(own, { req: 3, conn: 1, happy: 0b101n });
    Object.assign(other, { req: 40, conn: 2, happy: 0b111n });
    return { threads, own, other };
  }

  it('are sums, but for the results of probes', () => {
    const { threads } = withBackend();
    expect(threads.settle()).toMatchObject({ [req]: 43, [conn]: 3, 'VBE.boot.a.happy': 0b101 });
  });

  it('stay with all that was counted until no thread has them, without what was open', () => {
    const { threads, own, other } = withBackend();
    threads.settle();
    other.req++;
    threads.at(1).counters.removeBackend(other);
    expect(threads.settle()).toMatchObject({ [req]: 44, [conn]: 1 });
    threads.at(0).counters.removeBackend(own);
    expect(threads.settle()[req]).toBeUndefined();
  });

  it('may be those of another thread alone', () => {
    const { threads, own, other } = withBackend();
    threads.settle();
    threads.at(0).counters.removeBackend(own);
    expect(threads.settle()).toMatchObject({ [req]: 43, [conn]: 2, 'VBE.boot.a.happy': 0 });
    threads.at(0).counters.addBackend('boot', 'a', own);
    expect(threads.settle()).toMatchObject({ [req]: 43, [conn]: 3 });
    threads.at(0).counters.removeBackend(own);
    expect(threads.settle()).toMatchObject({ [req]: 43, [conn]: 2 });
    threads.at(1).counters.removeBackend(other);
    expect(threads.settle()[req]).toBeUndefined();
  });

  it('that come again count once, whether anybody saw them go or not', () => {
    const { threads, other } = withBackend();
    const { counters } = threads.at(1);
    for (const between of [() => undefined, () => threads.settle()]) {
      other.conn = 2;
      threads.settle();
      counters.removeBackend(other);
      between();
      other.conn = 0;
      counters.addBackend('boot', 'a', other);
      expect(threads.settle()).toMatchObject({ [req]: 43, [conn]: 1 });
    }
  });

  it('make no new file when they went before anybody saw them', () => {
    const { threads } = withBackend();
    const before = threads.settle();
    const short = newVbeCounters();
    threads.at(1).counters.addBackend('boot', 'short', short);
    threads.at(1).counters.removeBackend(short);
    threads.report(1);
    const { changes, changesMade } = threads.file as unknown as { changes: number; changesMade: number };
    expect(changes).toBe(changesMade);
    expect(threads.settle()).toEqual(before);
  });

  it('that come and go at run time are added up in bounded memory', () => {
    const { threads } = withBackend();
    threads.settle();
    for (let i = 0; i < 100; i++) {
      const made = newVbeCounters();
      made.req = 2;
      threads.at(1).counters.addBackend('boot', 'a', made);
      threads.report(1);
      threads.at(1).counters.removeBackend(made);
      threads.report(1);
    }
    expect(threads.settle()[req]).toBe(243);
    const sums = (threads.file as unknown as { backends: Map<string, CounterSum> }).backends;
    const { size } = (sums.get('VBE.boot.a') as unknown as { reported: Map<string, unknown> }).reported;
    expect(size).toBeLessThan(12);
  });

  it('with one name on one thread are shown once, as their sum', () => {
    const threads = new Threads(0);
    const { counters } = threads.at(0);
    const [old, young] = [newVbeCounters(), newVbeCounters()];
    counters.addBackend('boot', 'a', old);
    counters.addBackend('boot', 'a', young);
    Object.assign(old, { req: 5, happy: 1n });
    Object.assign(young, { req: 2, happy: 3n });
    expect(threads.settle()).toMatchObject({ [req]: 7, 'VBE.boot.a.happy': 3 });
  });

  it('agree with a count by hand after any history', () => {
    const threads = new Threads(3);
    let state = 7;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % below;
    };
    // Each thread has its own objects of two backends, the first one among them for good.
    const objects = threads.all.map(() => [newVbeCounters(), newVbeCounters()]);
    const has = threads.all.map(() => [false, false]);
    const toggle = (t: number, b: number): void => {
      const object = objects[t]?.[b] as VbeCounters;
      const mine = has[t] as boolean[];
      if (mine[b]) threads.at(t).counters.removeBackend(object);
      else threads.at(t).counters.addBackend('boot', `b${b}`, object);
      mine[b] = !mine[b];
    };
    toggle(0, 0);
    toggle(0, 1);
    for (let step = 0; step < 5000; step++) {
      const t = random(4);
      const b = random(2);
      switch (random(6)) {
        case 0:
          threads.at(t).main.client_req++;
          break;
        case 1:
          threads.at(t).main.n_object += random(2) === 0 ? 1 : -1;
          break;
        case 2:
          if (has[t]?.[b]) (objects[t]?.[b] as VbeCounters).req += random(5);
          break;
        case 3:
          if (t > 0) toggle(t, b);
          break;
        default:
          threads.report(t);
      }
    }
    const got = threads.settle();
    const total = (of: (t: number) => number): number => threads.all.reduce((sum, _, t) => sum + of(t), 0);
    expect(got['MAIN.client_req']).toBe(total((t) => threads.at(t).main.client_req));
    expect(got['MAIN.n_object']).toBe(
      Math.max(
        0,
        total((t) => threads.at(t).main.n_object),
      ),
    );
    for (const b of [0, 1]) expect(got[`VBE.boot.b${b}.req`]).toBe(total((t) => objects[t]?.[b]?.req ?? 0));
  });
});

it('of counters the highest of own and others may be own', () => {
  const sum = new CounterSum('X', [{ ...VBE_COUNTERS[9], threads: 'worst' }], { req: 7 });
  sum.report('1', [0, 5], true);
  expect(sum.value(0)).toBe(7);
  sum.report('2', [0, 9], true);
  expect(sum.value(0)).toBe(9);
  sum.report('2', [], false);
  expect(sum.value(0)).toBe(7);
});
