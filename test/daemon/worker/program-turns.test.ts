// Programs of many backends that are loaded, warmed, cooled and ended over many turns of the event loop: whatever
// happens in between, no half-loaded program is visible, and a removed one leaves nothing.

import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { Backend } from '../../../daemon/backend/backend.ts';
import { BackendRow } from '../../../daemon/backend/shared-backends.ts';
import type { BackendThreads } from '../../../daemon/worker/backend-threads.ts';
import { ProgramTable } from '../../../daemon/worker/program-table.ts';
import { runs } from '../../harness/runs.ts';
import { type FakePrograms, fakePrograms, PLAIN, program } from './fake-programs.ts';

const MANY = 200;

let fake: FakePrograms;
let table: ProgramTable;
/** Rows that backends have in common with other threads and have not given back. */
let held: number;
/** Backends that are probed. */
let warm: Set<Backend>;

beforeEach(() => {
  fake = fakePrograms();
  held = 0;
  const join = (): BackendRow => {
    held++;
    return new BackendRow(new Int32Array(64), 16, { thread: 0, count: 2 }, () => void held--);
  };
  const threads = { join, kept: () => undefined, onKept: () => undefined };
  fake.services = { ...fake.services, backendThreads: threads as unknown as BackendThreads };
  table = new ProgramTable(fake.services);
  warm = new Set();
  const { setWarm } = Backend.prototype;
  vi.spyOn(Backend.prototype, 'setWarm').mockImplementation(function (this: Backend, to) {
    if (to) warm.add(this);
    else warm.delete(this);
    setWarm.call(this, to);
  });
  return () => vi.restoreAllMocks();
});

/** A program with a shard director of this many backends. */
function text(n: number, before = '', after = ''): string {
  const backends = Array.from({ length: n }, (_, i) => `backend b${i} { .host = "127.0.0.1"; .port = "1"; }`);
  const adds = backends.map((_, i) => `d.add_backend(b${i});`);
  const half = n >> 1;
  return `vcl 4.1; import directors; import std; ${backends.join(' ')}
    sub vcl_init { ${before} new d = directors.shard(); ${adds.slice(0, half).join(' ')} ${after}
      ${adds.slice(half).join(' ')} d.reconfigure(); }
    sub vcl_backend_fetch { set bereq.backend = d.backend(); }
    sub vcl_fini { std.log("over"); }`;
}

const PROGRAM = program('a', text(MANY));

/** Lets this many turns pass, or all; returns how many there were. */
async function turn(most = 10_000): Promise<number> {
  let count = 0;
  for (; count < most; count++) {
    // Code awaiting the end of a turn continues after it.
    await new Promise(setImmediate);
    const steps = fake.later.splice(0);
    if (steps.length === 0) break;
    for (const step of steps) step();
  }
  return count;
}

function begin(load = PROGRAM): { problem: string | null | undefined } {
  const result: { problem: string | null | undefined } = { problem: undefined };
  void table.load(load).then((problem) => {
    result.problem = problem;
  });
  return result;
}

const nothingLeft = () => {
  expect([table.list(), [...table.directors()], fake.shown.size, warm.size, held]).toEqual([[], [], 0, 0, 0]);
  expect([fake.services.stats.n_vcl, fake.services.stats.n_backend]).toEqual([0, 0]);
};

/** Turns that the load of PROGRAM takes. */
async function turnsOfLoad(): Promise<number> {
  const result = begin();
  const count = await turn();
  expect(result.problem).toBeNull();
  return count;
}

it('a load takes many turns, and the program is there after the last, all of it', async () => {
  const result = begin();
  let count = 0;
  for (; result.problem === undefined; count++) {
    expect([table.list(), [...table.directors()], table.use('a')]).toEqual([[], [], false]);
    expect(await turn(1)).toBe(1);
  }
  expect(count).toBeGreaterThan(20);
  expect(result.problem).toBeNull();
  expect([table.use('a'), [...table.directors()].length, fake.shown.size, warm.size]).toEqual([
    true,
    MANY + 1,
    MANY,
    MANY,
  ]);
  expect(fake.services.stats.n_backend).toBe(MANY);
});

it('a program is ready with its rings: the first choice makes none', async () => {
  begin();
  await turn();
  const [, d] = [...table.directors()].find(([name]) => name === 'a.d') ?? [];
  expect((d as unknown as { prepare(): boolean }).prepare()).toBe(false);
  expect((d as unknown as { state: { making: unknown } }).state.making).toBeNull();
});

it('one that is discarded in the middle of its load leaves nothing, wherever that is', async () => {
  const all = await turnsOfLoad();
  table.discard('a');
  await turn();
  for (let at = 0; at < all; at++) {
    fake.records.length = 0;
    const result = begin();
    await turn(at);
    expect(result.problem).toBeUndefined();
    table.discard('a');
    await turn();
    expect(result.problem).toContain('discarded while it was loaded');
    nothingLeft();
    expect(fake.records.filter((r) => r === 'VCL_Log over').length).toBeLessThanOrEqual(1);
  }
});

it('one whose load a worker that stops interrupts leaves nothing, at once', async () => {
  const all = await turnsOfLoad();
  table.discard('a');
  await turn();
  for (let at = 0; at < all; at += 3) {
    table = new ProgramTable(fake.services);
    const result = begin();
    await turn(at);
    table.close();
    expect([fake.shown.size, warm.size]).toEqual([0, 0]);
    await turn();
    expect(result.problem).not.toBeNull();
    nothingLeft();
  }
});

it('a vcl_init that fails in the middle leaves nothing, and its reason is reported', async () => {
  const result = begin(
    program('a', text(MANY, '', 'if (std.integer("1", 0) == 1) { return (fail("no luck")); }')),
  );
  await turn();
  expect(result.problem).toContain('no luck');
  nothingLeft();
  const failing = begin(program('a', text(MANY, '', 'd.add_backend(directors.lookup("nobody"));')));
  await turn();
  expect(failing.problem).toContain('None backend cannot be added');
  nothingLeft();
});

it('other loads and their work continue meanwhile', async () => {
  const result = begin();
  await turn(5);
  const other = begin(program('b', PLAIN));
  await turn(20);
  expect([other.problem, table.use('b')]).toEqual([null, true]);
  await turn();
  expect([result.problem, table.active?.name, table.use('a')]).toEqual([null, 'b', true]);
});

it('is, once it has settled, as warm as was asked for last', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('warm' as const, 'cold' as const) }),
    fc.record({ do: fc.constant('turns' as const), n: fc.nat(30) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      fake.shown.clear();
      warm.clear();
      table = new ProgramTable(fake.services);
      begin();
      await turn();
      let isWarm = true;
      for (const each of steps) {
        if (each.do === 'turns') await turn(each.n);
        else {
          isWarm = each.do === 'warm';
          void table.setState('a', 'auto', isWarm);
          await turn(0);
        }
      }
      await turn();
      expect([table.list()[0]?.temperature, fake.shown.size, warm.size]).toEqual(
        isWarm ? ['warm', MANY, MANY] : ['cold', 0, 0],
      );
      table.discard('a');
      await turn();
      nothingLeft();
    }),
    { numRuns: runs(60) },
  );
});

it('what is left to end when the worker stops ends at once', async () => {
  begin();
  await turn();
  table.discard('a');
  await turn(2);
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThanOrEqual(MANY);
  table.close();
  expect([fake.shown.size, warm.size, held]).toEqual([0, 0, 0]);
});
