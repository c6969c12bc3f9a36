// Single steps of a request: by what the program returns and what the lookup found, which step is next, and which
// references to objects are let go.
import { describe, expect, it } from 'vitest';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import type { Waiter } from '../../../daemon/cache/waiting-list.ts';
import { CLOCKS_APART } from '../../../daemon/clock.ts';
import type { StateName } from '../../../daemon/contract/program.ts';
import { finish } from '../../../daemon/request/finish.ts';
import { lookup } from '../../../daemon/request/lookup-step.ts';
import { fetch, hit, miss, pass, purge } from '../../../daemon/request/outcomes.ts';
import { recv, restart } from '../../../daemon/request/receive.ts';
import { fail, synth } from '../../../daemon/request/synth.ts';
import type { Step } from '../../../daemon/transaction/drive.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import type { RETURN } from '../../../protocol/tables/returns.ts';
import { FakeCore } from '../../harness/fake-core.ts';

type ReturnName = keyof typeof RETURN;
type StepFunction = (req: Request) => Step<Request>;

/** The next step's name when the program returns `ret` in `state`. */
function next(
  step: StepFunction,
  state: StateName,
  ret: ReturnName,
  prepare?: (req: Request) => void,
): string {
  const req = new FakeCore().program('hash', 'lookup').program(state, ret).request();
  prepare?.(req);
  return step(req).name;
}

/** A stored object that was found, with a reference to it. */
function found(req: Request): void {
  Object.assign(req.attempt, { oc: 5, isHit: true });
}

describe('recv', () => {
  it.each([
    ['hash', 'lookup'],
    ['pass', 'pass'],
    ['pipe', 'pipe'],
    ['purge', 'purge'],
    ['restart', 'restart'],
    ['synth', 'synth'],
    ['fail', 'fail'],
  ] as const)('goes on after %s with %s', (ret, step) => {
    expect(next(recv, 'recv', ret)).toBe(step);
  });

  it('answers 400 to a request without Host that a program lets through', () => {
    const fake = new FakeCore().program('recv', 'hash').program('hash', 'lookup');
    const req = fake.request();
    req.hostless = true;
    expect(recv(req).name).toBe('synth');
    expect(req.attempt.synthStatus).toBe(400);
    expect(fake.records.join()).toContain('Error request');
  });

  it('does not look up under a key that failed', () => {
    expect(new FakeCore().program('recv', 'hash').program('hash', 'fail').request()).toSatisfy(
      (req: Request) => recv(req).name === 'fail',
    );
  });
});

describe('lookup', () => {
  /** A request whose object has bans left to test, parked until its turn; and what has left its place. */
  function untested(): { fake: FakeCore; req: Request; turn: () => void; left: number[] } {
    const fake = new FakeCore();
    const req = fake.request();
    const waiters: Waiter[] = [];
    const left: number[] = [];
    Object.assign(req.core.cache.lookup, {
      find: () => LookupAnswer.UNTESTED,
      waitTurn: (waiter: Waiter) => {
        const place = waiters.push(waiter);
        return () => left.push(place);
      },
    });
    expect(lookup(req).name).toBe('parked');
    return { fake, req, turn: () => waiters.shift()?.wake(false), left };
  }

  it('looks up again in the next turn while bans are left to test', () => {
    const { fake, req, turn, left } = untested();
    turn();
    expect([fake.resumed, req.onAbort, left]).toEqual([['lookup'], null, []]);
    expect([req.attempt.waited, fake.stats.busy_sleep, fake.stats.busy_wakeup]).toEqual([false, 0, 0]);
  });

  it('ends when the client leaves meanwhile, and gives up its turn', () => {
    const { fake, req, left } = untested();
    req.abort();
    expect([fake.resumed, left, fake.stats.busy_killed]).toEqual([['reset'], [1], 0]);
  });

  /** A request that finds a stale object, whose refresh it may begin, while objects up to time 100 are held back. */
  function heldBack(origin: number): { fake: FakeCore; req: Request; step: string } {
    const fake = new FakeCore();
    const req = fake.request();
    req.core.held.hold(100);
    Object.assign(req.core.cache.facts, { tOriginOf: () => origin });
    Object.assign(req.core.cache.lookup, {
      find: (_: unknown, out: object) => {
        Object.assign(out, { oc: 5, busy: 6, stale: 0, variants: 0 });
        return LookupAnswer.GRACE;
      },
    });
    return { fake, req, step: lookup(req).name };
  }

  it('waits for a deferred object without a reference to it, and looks up again afterwards', () => {
    const { fake, req, step } = heldBack(100);
    expect([step, fake.held(5), fake.held(6), req.attempt.busyOc]).toEqual(['parked', -1, -1, 0]);
    expect(fake.resumed).toEqual([]);
    req.core.held.letGo();
    expect([fake.resumed, req.onAbort]).toEqual([['lookup'], null]);
  });

  it('finds an object that is newer than those which are held back', () => {
    expect(heldBack(100.5).step).toBe('hit');
  });

  it('waits for one that another thread fetched just before, by its reading of the clock', () => {
    expect(heldBack(100 + CLOCKS_APART / 2).step).toBe('parked');
  });

  it('ends when the client of an object that is held back leaves', () => {
    const { fake, req } = heldBack(99);
    req.abort();
    req.core.held.letGo();
    expect(fake.resumed).toEqual(['reset']);
  });
});

describe('hit', () => {
  it.each([
    ['deliver', 'deliver', 0],
    ['pass', 'pass', -1],
    ['restart', 'restart', -1],
    ['synth', 'synth', -1],
    ['fail', 'fail', -1],
  ] as const)(
    'goes on after %s with %s, and lets go of an object that is not delivered',
    (ret, step, refs) => {
      const fake = new FakeCore().program('hit', ret);
      const req = fake.request();
      found(req);
      expect(hit(req).name).toBe(step);
      expect(fake.held(5)).toBe(refs);
      expect(req.attempt.oc).toBe(refs === 0 ? 5 : 0);
      expect(fake.stats.cache_hit).toBe(ret === 'deliver' || ret === 'pass' ? 1 : 0);
    },
  );

  it('gives up the refresh of a stale object that is not delivered', () => {
    const fake = new FakeCore().program('hit', 'synth');
    const req = fake.request();
    found(req);
    req.attempt.busyOc = 6;
    expect(hit(req).name).toBe('synth');
    expect([fake.held(5), fake.held(6), req.attempt.busyOc]).toEqual([-1, -1, 0]);
  });

  it('delivers a stale object although too many fetches are under way, without one more', () => {
    const fake = new FakeCore().program('hit', 'deliver');
    const req = fake.request();
    found(req);
    req.attempt.busyOc = 6;
    req.core.bgFetches.add(1000);
    expect(hit(req).name).toBe('deliver');
    expect([fake.held(6), req.attempt.busyOc]).toEqual([-1, 0]);
    expect([fake.stats.fetch_no_thread, fake.stats.bgfetch_no_thread]).toEqual([1, 1]);
  });
});

describe('miss', () => {
  it.each([
    ['pass', 'pass'],
    ['restart', 'restart'],
    ['synth', 'synth'],
    ['fail', 'fail'],
  ] as const)('goes on after %s with %s, and lets go of what it would have filled', (ret, step) => {
    const fake = new FakeCore().program('miss', ret);
    const req = fake.request();
    Object.assign(req.attempt, { busyOc: 6, staleOc: 8 });
    expect(miss(req).name).toBe(step);
    expect([fake.held(6), fake.held(8), ...[req.attempt.busyOc, req.attempt.staleOc]]).toEqual([
      -1, -1, 0, 0,
    ]);
    expect(fake.stats.cache_miss).toBe(0);
  });
});

describe('pass and purge', () => {
  it.each(['restart', 'synth', 'fail'] as const)('continue after %s with it', (ret) => {
    expect(next(pass, 'pass', ret)).toBe(ret);
    expect(next(purge, 'purge', ret)).toBe(ret);
  });

  it('purge what is under the key', () => {
    const fake = new FakeCore().program('purge', 'synth');
    const req = fake.request();
    req.attempt.hashKey = '/x';
    purge(req);
    expect(fake.calls).toContain('purge /x');
    expect(fake.stats.n_purges).toBe(1);
  });
});

describe('fetch', () => {
  it.each([
    ['is there', { isDeliverable: true }, 'deliver'],
    ['failed', { isFailed: true, isDeliverable: true }, 'synth'],
  ] as const)('goes on when the object %s', (_, facts, step) => {
    const fake = new FakeCore();
    Object.assign(fake.facts, facts);
    const req = fake.request();
    req.attempt.oc = 5;
    expect(fetch(req).name).toBe(step);
    expect(fake.held(5)).toBe(step === 'synth' ? -1 : 0);
  });

  it('ends when the client has left', () => {
    const req = new FakeCore().request();
    req.aborted = true;
    expect(fetch(req).name).toBe('reset');
  });
});

describe('restart', () => {
  it('begins a new attempt under an id of its own, and keeps what the program has set', () => {
    const req = new FakeCore().request();
    found(req);
    req.settings.ttl = 4;
    req.attempt.synthBody = 'x';
    const former = req.attempt;
    expect(restart(req).name).toBe('recv');
    expect(req.attempt).not.toBe(former);
    expect(req.attempt).toMatchObject({
      vxid: 7,
      tStart: 1000,
      oc: 0,
      synthBody: null,
      isHit: false,
      fresh: false,
    });
    expect([req.restarts, req.settings.ttl]).toEqual([1, 4]);
  });

  it('ends in a 503 after max_restarts', () => {
    const req = new FakeCore({ max_restarts: 0 }).request();
    expect(restart(req).name).toBe('synth');
    expect(req.attempt).toMatchObject({ vxid: 3, synthStatus: 503, synthReason: 'Service Unavailable' });
  });
});

describe('fail, synth and finish', () => {
  it('answer a failure with a 503 that closes, without the object', () => {
    const fake = new FakeCore();
    const req = fake.request();
    found(req);
    expect(fail(req).name).toBe('synth');
    expect(req.attempt.synthStatus).toBe(503);
    expect([fake.held(5), fake.session.closeAfter, fake.stats.vcl_fail]).toEqual([-1, 'VCL_FAILURE', 1]);
  });

  it('restart from vcl_synth, but not beyond max_restarts', () => {
    expect(next(synth, 'synth', 'restart')).toBe('restart');
    expect(next(synth, 'synth', 'restart', (req) => Object.assign(req, { restarts: 5 }))).toBe('finish');
    expect(next(synth, 'synth', 'deliver')).toBe('finish');
    expect(next(synth, 'synth', 'fail')).toBe('finish');
  });

  it('release the object and the program', () => {
    const fake = new FakeCore();
    const req = fake.request();
    found(req);
    expect(fake.programRef.refs).toBe(1);
    expect(finish(req).name).toBe('done');
    expect([fake.held(5), fake.programRef.refs, req.held()]).toEqual([-1, 0, []]);
  });
});
