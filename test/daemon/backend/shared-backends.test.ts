// Rows of backends shared by several threads: lookup by key, limits across all threads, health from the first thread,
// and no leftovers. The threads are views of one memory here.
import { expect, it, vi } from 'vitest';
import { Backend } from '../../../daemon/backend/backend.ts';
import type { BackendEnvironment } from '../../../daemon/backend/backend-surroundings.ts';
import { BackendHealth } from '../../../daemon/backend/health.ts';
import type { Probe, ProbeOwner } from '../../../daemon/backend/probe.ts';
import { type BackendRow, SharedBackends } from '../../../daemon/backend/shared-backends.ts';
import { HealthEpoch, healthEpoch } from '../../../daemon/contract/health-epoch.ts';
import type { BackendDecl } from '../../../daemon/contract/program.ts';
import { newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { NO_LOCK } from '../../../daemon/threads/shared-lock.ts';
import { ownMemory } from '../../../daemon/threads/shared-memory.ts';

function threads(count: number, rows = 8): SharedBackends[] {
  const memory = ownMemory();
  return Array.from(
    { length: count },
    (_, thread) => new SharedBackends(memory, NO_LOCK, { thread, count }, rows),
  );
}

function pair(key = 'boot.a'): [BackendRow, BackendRow] {
  const [first, second] = threads(2) as [SharedBackends, SharedBackends];
  return [first.join(key), second.join(key)];
}

it('a limit holds for all threads together, and the place of one that leaves is free for any', () => {
  const [a, b] = pair();
  expect([a.enter(3), b.enter(3), a.hasSpare(3), a.enter(3), b.enter(3), a.enter(3)]).toEqual([
    ...[true, true, false, true, false, false],
  ]);
  expect([a.inUse, b.inUse]).toEqual([3, 3]);
  a.leave();
  expect([b.enter(3), a.enter(3), a.enter(0), b.inUse]).toEqual([true, false, true, 4]);
});

it('a limit of those that wait holds for all threads, too, and is another one', () => {
  const [a, b] = pair();
  expect([a.queue(2), b.queue(2), a.queue(2), b.queue(0), a.enter(1), b.enter(1)]).toEqual([
    ...[true, true, false, false, true, false],
  ]);
  b.unqueue();
  expect([a.queue(2), b.queue(2)]).toEqual([true, false]);
  a.admin = 'sick';
  a.healthy = true;
  expect([b.admin, b.healthy, b.queue(3)]).toEqual(['sick', true, true]);
});

it('two threads that see the last place at once have it once', () => {
  const [a, b] = pair();
  a.enter(1);
  const load = vi.spyOn(Atomics, 'load').mockReturnValueOnce(0 as never);
  expect(b.enter(1)).toBe(false);
  load.mockRestore();
  expect(a.inUse).toBe(1);
});

/** Has `others` called before each step that `work` takes in shared memory, with the step's number; returns how many. */
function interleaved(work: () => void, others: (step: number) => void): number {
  let steps = 0;
  let isOther = false;
  const spies = (['load', 'add', 'sub', 'compareExchange'] as const).map((name) => {
    const original = Atomics[name] as (...args: unknown[]) => number;
    return vi.spyOn(Atomics, name).mockImplementation(((...args: unknown[]) => {
      if (!isOther) {
        isOther = true;
        others(steps++);
        isOther = false;
      }
      return original(...args);
    }) as never);
  });
  work();
  for (const spy of spies) spy.mockRestore();
  return steps;
}

it('a free place is refused to nobody, whatever other threads do between the steps of one', () => {
  let moments = 0;
  for (let taken = 0; taken <= moments; taken++) {
    for (let left = taken; left <= moments; left++) {
      const rows = threads(3).map((thread) => thread.join('boot.a'));
      const [a, b, c] = rows as [BackendRow, BackendRow, BackendRow];
      const has = { a: false, b: false, c: false };
      const steps = interleaved(
        () => {
          has.a = a.enter(1);
        },
        (step) => {
          if (step === taken) has.b = b.enter(1);
          if (step !== left) return;
          if (has.b) b.leave();
          has.b = false;
          has.c = c.enter(1);
        },
      );
      moments = Math.max(moments, steps);
      const having = Object.values(has).filter((it) => it).length;
      expect([taken, left, having, a.inUse]).toEqual([taken, left, 1, 1]);
    }
  }
  expect(moments).toBeGreaterThan(1);
});

it('keys have rows of their own, whose words are zero though someone had the row before', () => {
  const [first, second] = threads(2, 4) as [SharedBackends, SharedBackends];
  const keys = ['1 boot.a', '0 boot.a', '0 boot.b', '0 boot.c'];
  const rows = keys.map((key) => first.join(key));
  rows.forEach((row, i) => {
    for (let n = 0; n <= i; n++) row.enter(0);
  });
  expect(keys.map((key) => second.join(key).inUse)).toEqual([1, 2, 3, 4]);
  (rows[1] as BackendRow).admin = 'sick';
  (rows[1] as BackendRow).release();
  // The second thread has it still.
  const again = first.join(keys[1] as string);
  expect([again.admin, again.inUse]).toEqual(['sick', 2]);
});

it('a row is given back when the last thread releases it, and what was released counts no more', () => {
  const [first, second] = threads(2, 3) as [SharedBackends, SharedBackends];
  for (let i = 0; i < 100; i++) {
    const a = first.join(`0 boot.${i}`);
    const b = second.join(`0 boot.${i}`);
    a.enter(0);
    a.healthy = false;
    a.changedAt = 7.5;
    expect([b.inUse, b.healthy, b.changedAt, b.follows]).toEqual([1, false, 7.5, true]);
    a.leave();
    a.release();
    b.release();
    const next = first.join('0 other.x');
    expect([next.follows, next.inUse, next.healthy, next.changedAt, next.admin]).toEqual([
      ...[false, 0, null, 0, 'auto'],
    ]);
    // The state of the last moment stays with who still looks.
    expect([b.healthy, b.changedAt]).toEqual([false, 7.5]);
    b.enter(0);
    b.release();
    expect(next.inUse).toBe(0);
    next.release();
  }
  const again = first.join('0 boot.99');
  again.enter(0);
  expect(first.join('0 boot.98').inUse).toBe(0);
});

it('backends of one name are numbered, the same in all threads, and a number is free again with its row', () => {
  const [first, second] = threads(2, 4) as [SharedBackends, SharedBackends];
  const a = first.join('a', 'n');
  const b = second.join('b', 'n');
  expect([a.number, b.number, second.join('a', 'n').number, first.join('b', 'n').number]).toEqual([
    1, 2, 1, 2,
  ]);
  const c = first.join('c', 'n');
  const other = first.join('d', 'o');
  expect([c.number, other.number, second.join('e', 'n').number]).toEqual([3, 1, null]);
  c.release();
  expect([second.join('e', 'n').number, c.number]).toEqual([3, 3]);
});

it('without a free row a thread counts alone: its part of the limit, and one at least', () => {
  const [first, second] = threads(2, 1) as [SharedBackends, SharedBackends];
  const held = first.join('0 boot.a');
  const [a, b] = [first.join('0 boot.b'), second.join('0 boot.b')];
  expect([a.enter(4), a.enter(4), a.enter(4), b.enter(4), b.inUse]).toEqual([true, true, false, true, 1]);
  expect([b.follows, b.isFirst, first.join('0 boot.c').enter(1)]).toEqual([false, false, true]);
  held.release();
  expect(second.join('0 boot.d').follows).toBe(true);
});

it('health is what the first thread says, but for the fresh window of a program that cools', () => {
  const [one, two] = pair();
  const owners: ProbeOwner[] = [];
  const probe = (owner: ProbeOwner): Probe => {
    owners.push(owner);
    owner.probed(false, 0n);
    return { start: () => owner.probed(true, 3n), stop: () => owner.probed(false, 0n) } as unknown as Probe;
  };
  const follow = (owner: ProbeOwner): null => {
    owner.probed(true, 0n);
    return null;
  };
  const follower = new BackendHealth(
    'a',
    1,
    () => 2,
    () => {},
    follow,
    two,
  );
  // The first thread has not reported yet.
  expect(follower.usable).toBe(true);
  const first = new BackendHealth(
    'a',
    5,
    () => 6,
    () => {},
    probe,
    one,
  );
  expect([first.usable, follower.usable, follower.measured(), follower.changedAt]).toEqual([
    ...[false, false, false, 6],
  ]);
  first.setWarm(true);
  expect([first.usable, follower.usable]).toEqual([true, true]);
  first.setWarm(false);
  expect([first.usable, follower.usable]).toEqual([false, true]);
  first.setWarm(true);
  owners[0]?.probed(false, 0n);
  expect([first.usable, follower.usable]).toEqual([false, false]);
  follower.admin = 'healthy';
  expect([first.admin, follower.admin, follower.usable]).toEqual(['auto', 'auto', false]);
  first.admin = 'healthy';
  expect([first.usable, follower.usable]).toEqual([true, true]);
});

it('a backend of another thread than the first has no probe, and begins as the declaration says', () => {
  const [one, two] = pair();
  const log: string[] = [];
  const env = { now: () => 1, healthLog: (text: string) => log.push(text) } as unknown as BackendEnvironment;
  const made = (decl: Partial<BackendDecl>, row: BackendRow): Backend =>
    new Backend({ name: 'a', ...decl }, 'boot', [], newVbeCounters(), env, 1, row);
  const follower = made({ probe: { initial: 1, threshold: 2, window: 3 } }, two);
  expect([follower.healthy(1), follower.health.counts(), log]).toEqual([false, null, []]);
  const ready = made({ probe: { initial: 2, threshold: 2, window: 3 } }, pair('boot.ready')[1]);
  expect([ready.healthy(1), ready.health.counts(), log]).toEqual([true, null, []]);
  const first = made({ probe: { initial: 2, threshold: 2, window: 3 } }, one);
  expect([first.healthy(1), follower.healthy(1), log.length]).toEqual([true, true, 1]);
});

it('the epoch of health advances in all threads with findings of the first one, and only then', () => {
  const [a, b] = pair();
  const others = new HealthEpoch();
  const share = vi.spyOn(healthEpoch, 'share');
  const [first] = threads(2);
  const [words, at] = share.mock.calls[0] as [Int32Array, number];
  share.mockRestore();
  others.share(words, at);
  const row = (first as SharedBackends).join('boot.b');
  const health = new BackendHealth(
    'b',
    1,
    () => 2,
    () => undefined,
    () => null,
    row,
  );
  const steps: number[] = [];
  let before = others.now;
  const changed = (what: () => void): void => {
    what();
    steps.push(others.now - before);
    before = others.now;
  };
  changed(() => health.probed(false, 0n));
  changed(() => health.probed(false, 0n));
  changed(() => health.probed(true, 1n));
  changed(() => {
    health.admin = 'sick';
  });
  expect(steps).toEqual([1, 0, 1, 1]);
  a.release();
  b.release();
});
