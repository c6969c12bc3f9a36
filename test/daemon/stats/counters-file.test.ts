import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WriteTrouble } from '../../../daemon/log/write-trouble.ts';
import { CounterStreams, choosing } from '../../../daemon/manager/endpoints/streams/counter-stream.ts';
import {
  newMainCounters,
  newMgtCounters,
  newSmaCounters,
  newVbeCounters,
  newWrkCounters,
} from '../../../daemon/stats/counter-fields.ts';
import { CountersFile } from '../../../daemon/stats/counters-file.ts';
import { COUNTERS_HEAD } from '../../../daemon/stats/counters-format.ts';
import { CountersReader, describeCounters } from '../../../daemon/stats/counters-reader.ts';
import type { ServerMessage } from '../../../protocol/messages.ts';
import {
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../../protocol/tables/counters.ts';
import { runs } from '../../harness/runs.ts';
import { drained } from '../../harness/steps.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'counters-'));
  path = join(dir, 'counters');
});
afterEach(() => rmSync(dir, { recursive: true }));

function read(mgt = newMgtCounters()): Record<string, bigint> {
  const { info, values } = drained(new CountersReader(path, mgt).reading());
  return Object.fromEntries(info.map((c, i) => [c.name, values[i] as bigint]));
}

it('has one field for each row of the tables, in order', () => {
  const pairs = [
    [newMainCounters(), MAIN_COUNTERS],
    [newMgtCounters(), MGT_COUNTERS],
    [newSmaCounters(), SMA_COUNTERS],
    [newVbeCounters(), VBE_COUNTERS],
    [newWrkCounters(), WRK_COUNTERS],
  ] as const;
  for (const [counters, rows] of pairs) expect(Object.keys(counters)).toEqual(rows.map((r) => r.name));
});

it('carries all values to the last bit, and shows MGT alone before any worker ran', () => {
  const mgt = newMgtCounters();
  mgt.child_start = 3;
  expect(Object.keys(read(mgt))).toEqual(MGT_COUNTERS.map((r) => `MGT.${r.name}`));
  const main = newMainCounters();
  const file = new CountersFile(path, main, newWrkCounters());
  const vbe = newVbeCounters();
  file.addBackend('boot', 'default', vbe);
  file.addStorage('s0', newSmaCounters());
  vbe.happy = 0xfedc_ba98_7654_3211n;
  main.s_resp_bodybytes = 2 ** 53 - 1;
  main.cache_hit = 5;
  main.n_pipe = -1;
  file.close();
  const got = read(mgt);
  expect(got['VBE.boot.default.happy']).toBe(0xfedc_ba98_7654_3211n);
  expect(got['MAIN.s_resp_bodybytes']).toBe(2n ** 53n - 1n);
  expect(got['MAIN.cache_hit']).toBe(5n);
  expect(got['MAIN.n_pipe']).toBe(0n);
  expect(got['MGT.child_start']).toBe(3n);
  expect(got['SMA.s0.g_bytes']).toBe(0n);
});

it('writes up to when it counts even if nothing changed, and a new file when the set of instances changes', async () => {
  const main = newMainCounters();
  const file = new CountersFile(path, main, newWrkCounters());
  file.publish();
  const { ino } = statSync(path);
  const written = readFileSync(path);
  await delay(3);
  file.publish();
  const again = readFileSync(path);
  const timeAt = COUNTERS_HEAD + again.readUInt32LE(4);
  expect(again.readBigUInt64LE(timeAt)).toBeGreaterThan(written.readBigUInt64LE(timeAt));
  // The rest is as it was.
  written.copy(again, timeAt, timeAt, timeAt + 8);
  expect(again).toEqual(written);
  const reader = new CountersReader(path, newMgtCounters());
  const before = drained(reader.reading()).info;
  main.cache_miss++;
  file.publish();
  expect(statSync(path).ino).toBe(ino);
  expect(drained(reader.reading()).info).toBe(before);
  const vbe = newVbeCounters();
  file.addBackend('v1', 'a.b', vbe);
  vbe.req = 9;
  file.publish();
  expect(statSync(path).ino).not.toBe(ino);
  expect(read()['VBE.v1.a.b.req']).toBe(9n);
  expect(drained(reader.reading()).info.at(-1)?.name).toMatch(/^WRK\./);
  file.removeBackend(vbe);
  file.publish();
  expect(read()['VBE.v1.a.b.req']).toBeUndefined();
  file.close();
});

it('makes a new file when another took its place or it was removed', () => {
  const main = newMainCounters();
  const file = new CountersFile(path, main, newWrkCounters());
  const beats = (n: number): void => {
    for (let i = 0; i < n; i++) file.publish();
  };
  for (const takenBy of ['another', 'nobody']) {
    beats(10);
    rmSync(path);
    if (takenBy === 'another') writeFileSync(path, 'foreign');
    main.cache_hit++;
    beats(10);
    expect(read()['MAIN.cache_hit']).toBe(BigInt(main.cache_hit));
  }
  file.close();
});

it('is private to its user by default, and follows no link', () => {
  const file = new CountersFile(path, newMainCounters(), newWrkCounters());
  file.publish();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.close();
  const victim = join(dir, 'victim');
  writeFileSync(victim, 'precious');
  rmSync(path);
  symlinkSync(victim, `${path}.${process.pid}.new`);
  const errors = { write_errors: 0 };
  const messages: string[] = [];
  const trouble = new WriteTrouble('The file of counters', errors, (text) => messages.push(text));
  const shared = new CountersFile(path, newMainCounters(), newWrkCounters(), { mode: 0o640 }, trouble);
  shared.publish();
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect([errors.write_errors, messages.length]).toEqual([1, 1]);
  rmSync(`${path}.${process.pid}.new`);
  shared.publish();
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(messages.at(-1)).toBe('The file of counters is written again, after 1 failed writes');
  shared.close();
});

it('reads nothing but a plain file of a sensible size', () => {
  const only = Object.keys(read());
  execFileSync('mkfifo', [path]);
  expect(Object.keys(read())).toEqual(only);
  rmSync(path);
  new CountersFile(path, newMainCounters(), newWrkCounters()).close();
  expect(Object.keys(read()).length).toBeGreaterThan(only.length);
  truncateSync(path, 100 << 20);
  expect(Object.keys(read())).toEqual(only);
});

// A timer that was cleared as an immediate left the process with a wrong count of immediates: then a lone
// setImmediate() never ran, and the next subscription, of whatever connection, stood still.
it('begins a subscription after another has ended', async () => {
  const streams = new CounterStreams(dir, newMgtCounters());
  const subscribe = (id: number): Promise<() => void> =>
    new Promise((resolve) => {
      const got: ServerMessage[] = [];
      const opened = streams.open(
        id,
        { interval: 10 },
        {
          send: () => undefined,
          buffered: () => 0,
          run: (step) => step(),
          json: () => undefined,
          text: async (bytes) => {
            const m = JSON.parse(String(bytes)) as ServerMessage;
            got.push(m);
            if (m.t === 'values' && 'close' in opened) resolve(() => opened.close());
          },
        },
      );
    });
  for (let id = 1; id <= 3; id++) (await subscribe(id))();
  // Also when nothing but the immediate would wake the process.
  await new Promise((resolve) => setImmediate(resolve));
  streams.close();
});

it('filters by the first glob that matches', () => {
  const info = ['MGT.uptime', 'MAIN.cache_hit', 'MAIN.cache_miss', 'VBE.boot.a.req'].map((name) => ({
    name,
    flag: 'c' as const,
    format: 'i' as const,
    level: 'info' as const,
    description: '',
  }));
  const pick = (...f: string[]): string[] => {
    const filters = f.map((g) =>
      g.startsWith('^')
        ? { kind: 'exclude' as const, glob: g.slice(1) }
        : { kind: 'include' as const, glob: g },
    );
    return drained(choosing(info, filters)).map((i) => info[i]?.name ?? '');
  };
  expect(pick('MAIN.cache*')).toEqual(['MAIN.cache_hit', 'MAIN.cache_miss']);
  expect(pick('MAIN.cache*', '^*miss')).toEqual(['MAIN.cache_hit', 'MAIN.cache_miss']);
  expect(pick('^*miss', 'MAIN.cache*')).toEqual(['MAIN.cache_hit']);
  expect(pick('^MAIN.*')).toEqual(['MGT.uptime', 'VBE.boot.a.req']);
  expect(pick('MAIN.cache_?it', 'VBE.*')).toEqual(['MAIN.cache_hit', 'VBE.boot.a.req']);
  expect(pick('MAIN.cache_[hx]i*')).toEqual(['MAIN.cache_hit']);
  expect(pick('main.*')).toEqual([]);
  expect(pick()).toHaveLength(4);
});

it('publishes many backends by turns, each within a second, and all of them at the end', () => {
  const main = newMainCounters();
  const file = new CountersFile(path, main, newWrkCounters());
  const backends = Array.from({ length: 999 }, newVbeCounters);
  for (const [i, counters] of backends.entries()) file.addBackend('boot', `b${i}`, counters);
  file.publish();
  for (const counters of backends) counters.req = 7;
  main.cache_hit = 3;
  const shown = (): number =>
    Object.entries(read()).filter(([n, v]) => n.endsWith('.req') && v === 7n).length;
  file.publish();
  expect([shown(), read()['MAIN.cache_hit']]).toEqual([100, 3n]);
  for (let i = 0; i < 9; i++) file.publish();
  expect(shown()).toBe(999);
  (backends[500] as (typeof backends)[0]).happy = 5n;
  file.close();
  expect(read()['VBE.boot.b500.happy']).toBe(5n);
});

/** Publications after which all names of this many backends are readable; the file is consistent after each of them. */
async function publicationsUntil(file: CountersFile, count: number): Promise<number> {
  for (let n = 1; n < 100; n++) {
    file.publish();
    await new Promise((resolve) => setTimeout(resolve, 1));
    const names = Object.keys(read());
    expect(names.filter((name) => name.startsWith('MAIN.')).length).toBe(MAIN_COUNTERS.length);
    expect(new Set(names).size).toBe(names.length);
    if (names.filter((name) => name.endsWith('.req')).length === count) return n;
  }
  throw new Error('never');
}

it('makes a file of many backends in steps, when they have stopped coming', async () => {
  const file = new CountersFile(path, newMainCounters(), newWrkCounters());
  file.publish();
  const files = new Set<number>();
  const seen = (): void => void files.add(statSync(path).ino);
  seen();
  for (let i = 0; i < 3000; i++) {
    file.addBackend('boot', `b${i}`, newVbeCounters());
    if (i % 400 !== 0) continue;
    file.publish();
    await new Promise((resolve) => setTimeout(resolve, 1));
    seen();
  }
  await publicationsUntil(file, 3000);
  seen();
  // The first, those of few backends, and the one that has all.
  expect(files.size).toBeLessThanOrEqual(4);
  file.close();
});

it('waits a second at most for a continuous series of backends', async () => {
  const file = new CountersFile(path, newMainCounters(), newWrkCounters());
  for (let i = 0; i < 500; i++) file.addBackend('boot', `b${i}`, newVbeCounters());
  file.publish();
  let n = 0;
  do {
    file.addBackend('boot', `more${n}`, newVbeCounters());
    file.publish();
    await new Promise((resolve) => setTimeout(resolve, 1));
  } while (++n < 30 && !('VBE.boot.more0.req' in read()));
  expect(n).toBeGreaterThan(5);
  expect(n).toBeLessThan(20);
  file.close();
});

it('has all of them at the end, whatever is under way', async () => {
  const file = new CountersFile(path, newMainCounters(), newWrkCounters());
  file.publish();
  const all = Array.from({ length: 2000 }, newVbeCounters);
  for (const [i, counters] of all.entries()) file.addBackend('boot', `b${i}`, counters);
  file.publish();
  file.publish();
  (all[1999] as (typeof all)[0]).req = 9;
  file.close();
  const got = read();
  expect([got['VBE.boot.b0.req'], got['VBE.boot.b1999.req']]).toEqual([0n, 9n]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(read()).toEqual(got);
});

/** A file with this many counters, each with the value of its index times `by`. */
function writeMany(count: number, by: bigint, group = 'VBE.v'): void {
  const names = Array.from({ length: count }, (_, i) => `${group}.b${i}.req`);
  const text = Buffer.from(`${names.join('\n')}\n`);
  const padded = (text.length + 7) & ~7;
  const file = Buffer.alloc(16 + padded + (count + 1) * 8, '\n');
  file.writeUInt32LE(0x3143_4c50, 0);
  file.writeUInt32LE(padded, 4);
  file.writeUInt32LE(count, 8);
  text.copy(file, 16);
  file.writeBigUInt64LE(7n, 16 + padded);
  for (let i = 0; i < count; i++) file.writeBigUInt64LE(BigInt(i) * by, 16 + padded + (i + 1) * 8);
  writeFileSync(`${path}.new`, file);
  renameSync(`${path}.new`, path);
}

it('reads many counters in steps, and of known ones only what has changed', () => {
  const COUNT = 20_000;
  writeMany(COUNT, 1n);
  const reader = new CountersReader(path, newMgtCounters());
  const steps = (): { count: number; info: readonly { name: string }[]; values: readonly bigint[] } => {
    const reading = reader.reading();
    for (let count = 0; ; count++) {
      const { done, value } = reading.next();
      if (done === true) return { count, ...value };
    }
  };
  const first = steps();
  expect(first.count).toBeGreaterThan(COUNT / 128);
  const known = steps();
  expect(known.count).toBeLessThan(COUNT / 1000);
  expect(known.info).toBe(first.info);
  writeMany(COUNT, 2n ** 40n);
  const changed = steps();
  expect(changed.info).toBe(first.info);
  expect(changed.values.slice(-2)).toEqual([19_998n * 2n ** 40n, 19_999n * 2n ** 40n]);
  // A reading is what it was.
  expect(first.values.slice(-2)).toEqual([19_998n, 19_999n]);
  writeMany(COUNT, 3n, 'VBE.w');
  const others = steps();
  expect(others.info).not.toBe(first.info);
  expect(others.info.at(-1)?.name).toBe('VBE.w.b19999.req');
  expect(others.values.at(-1)).toBe(59_997n);
});

it('reads one set of counters, whatever takes the place of the file meanwhile', () => {
  const reader = new CountersReader(path, newMgtCounters());
  const counts = fc.array(fc.tuple(fc.constantFrom(0, 1, 300, 3000), fc.nat(40)), { minLength: 1 });
  fc.assert(
    fc.property(counts, (history) => {
      writeMany(10, 1n);
      for (const [count, after] of history) {
        const reading = reader.reading();
        let step = reading.next();
        for (let i = 0; i < after && step.done !== true; i++) step = reading.next();
        if (count === 0) rmSync(path, { force: true });
        else writeMany(count, BigInt(count));
        const { info, values } = step.done === true ? step.value : drained(reading);
        expect(values).toHaveLength(info.length);
        const others = info.filter(({ name }) => name.startsWith('VBE.'));
        expect([0, 1, 10, 300, 3000]).toContain(others.length);
        const [, second] = values.slice(MGT_COUNTERS.length);
        if (others.length > 1) expect(second).toBe(others.length === 10 ? 1n : BigInt(others.length));
      }
    }),
    { numRuns: runs(30) },
  );
});

it('sends a console the same for many counters as for few, in the order of the file, and no value before the names', async () => {
  writeMany(3000, 5n);
  const streams = new CounterStreams(dir, newMgtCounters());
  const got: ServerMessage[] = [];
  let before = 0;
  await new Promise<void>((resolve) => {
    streams.open(
      4,
      { interval: 0, filters: [{ kind: 'include', glob: 'VBE.*' }] },
      {
        send: () => undefined,
        buffered: () => 0,
        run: (step) => step(),
        json: (m) => {
          got.push(m);
          resolve();
        },
        text: (bytes) => {
          got.push(JSON.parse(String(bytes)) as ServerMessage);
          if (got.length > 1) return Promise.resolve();
          // The peer takes its time: the values wait.
          return new Promise((resolved) => {
            setTimeout(() => {
              before = got.length;
              resolved();
            }, 50);
          });
        },
      },
    );
  });
  expect(before).toBe(1);
  expect(got.map(({ t }) => t)).toEqual(['counters', 'values', 'end']);
  const [counters, values] = got as [ServerMessage & { t: 'counters' }, ServerMessage & { t: 'values' }];
  expect(counters).toMatchObject({ id: 4 });
  expect(counters.info.map(({ name }) => name)).toEqual(
    Array.from({ length: 3000 }, (_, i) => `VBE.v.b${i}.req`),
  );
  expect(counters.info[7]).toEqual(describeCounters(['VBE.v.b7.req'])[0]);
  expect(values.values).toEqual(Array.from({ length: 3000 }, (_, i) => String(i * 5)));
  streams.close();
});

it('sends nothing more to a console that leaves while its counters are put into words', async () => {
  writeMany(20_000, 5n);
  const streams = new CounterStreams(dir, newMgtCounters());
  const got: unknown[] = [];
  const opened = streams.open(
    1,
    { interval: 1 },
    {
      send: () => undefined,
      buffered: () => 0,
      run: (step) => step(),
      json: (m) => void got.push(m),
      text: async (m) => void got.push(m),
    },
  );
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  if ('close' in opened) opened.close();
  await streams.read();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(got).toEqual([]);
});
