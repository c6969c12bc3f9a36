// Which request gets which response when several request one URL at once and some responses are private: the waiting
// list, markers and objects of two threads' caches over one memory, in every possible order of steps. The random
// histories of test/system/store-histories.test.ts do the same with real threads.

import { afterAll, describe, expect, it } from 'vitest';
import { Cache } from '../../../daemon/cache/cache.ts';
import { newCacheCounters } from '../../../daemon/cache/cache-counters.ts';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../daemon/cache/lookup-query.ts';
import { OF_FAILURE, OF_HIT_MISS } from '../../../daemon/cache/objcore.ts';
import type { CacheSignals } from '../../../daemon/cache/signals.ts';
import { makeSlots, Peers, portsOf, type ThreadSlot } from '../../../daemon/threads/peers.ts';
import { runs } from '../../harness/runs.ts';
import { request, response, T0 } from './cache-setup.ts';

/** Deferred messages, not delivered yet. */
type Events = { to: number; run: () => void }[];
type Outcome = 'private' | 'public' | 'error' | 'fails' | 'breaks off';

const slots = makeSlots(2);
afterAll(() => {
  for (const slot of slots) for (const port of portsOf(slot)) port.close();
});

/** One thread's cache. Its messages to the other arrive when the order of events says so. */
class Thread {
  readonly cache: Cache;
  readonly counters = newCacheCounters();
  readonly peers: Peers;
  readonly waitsFor = new Set<number>();
  other: Thread | null = null;

  constructor(peers: Peers, events: Events) {
    this.peers = peers;
    const { thread } = peers;
    const say = (run: (to: Thread) => void): void => {
      const { other } = this;
      if (other !== null) events.push({ to: 1 - thread, run: () => run(other) });
    };
    const signals: CacheSignals = {
      thread,
      addWaiter: (oh) => void this.waitsFor.add(oh),
      removeWaiter: (oh) => void this.waitsFor.delete(oh),
      hasRemoteWaiters: (oh) => this.other?.waitsFor.has(oh) === true,
      rush: (oh, alone) => {
        if (this.other?.waitsFor.has(oh)) say((to) => to.cache.receiver.rush(oh, alone));
      },
      addReader: () => undefined,
      removeReader: () => undefined,
      progress: () => undefined,
      readerLeft: (to, oc) => {
        if (to !== thread) say((there) => there.cache.receiver.readerLeft(oc));
      },
      wakeMaintenance: () => undefined,
    };
    this.cache = new Cache({
      storages: [{ name: 's0', kind: 'malloc', size: 64 << 20 }],
      counters: this.counters,
      limits: {
        nukeLimit: 50,
        rushExponent: 3,
        lruInterval: 0,
        gzipSupport: true,
        normaliseVary: false,
        banDups: true,
        banAnyVariant: 10_000,
        tagHeaders: ['xkey'],
        tagSpace: 0,
        lurker: { age: 0, batch: 100, sleep: 1, cutoff: 0, holdoff: 0 },
      },
      compileRegex: (pattern) => new RegExp(pattern),
      now: T0,
      seed: [1, 2],
      defer: (run) => void events.push({ to: thread, run }),
      shared: {
        memory: peers.part('cache'),
        lock: peers.lock,
        signals,
        maintains: thread === 0,
      },
    });
  }
}

const events: Events = [];
const first = new Peers(slots[0] as ThreadSlot);
const a = new Thread(first, events);
const b = new Thread(new Peers(slots[1] as ThreadSlot, first.memory.offer()), events);
a.other = b;
b.other = a;
let keys = 0;
let ids = 0;

/** A request as proxyd makes it, one step at a time. */
class Asking {
  /** Whose answer it got; 0 while it has none, -1 for none at all. */
  got = 0;
  fetches = 0;
  readonly id = ++ids;
  readonly thread: Thread;
  private readonly outcome: Outcome;
  private readonly query: LookupQuery;
  private readonly out = new LookupResult();
  private next: (() => void) | null = () => this.look();

  constructor(thread: Thread, key: string, outcome: Outcome) {
    this.thread = thread;
    this.outcome = outcome;
    this.query = new LookupQuery(request(key));
    this.query.key = key;
    this.query.now = T0 + 1;
  }

  get canGoOn(): boolean {
    return this.next !== null;
  }

  step(): void {
    const { next } = this;
    this.next = null;
    next?.();
  }

  private look(): void {
    const { cache } = this.thread;
    const { out } = this;
    const answer = cache.lookup.find(this.query, out);
    if (answer === LookupAnswer.HIT) {
      const body = Buffer.alloc(4);
      expect(cache.reading.copyBody(out.oc, 0, body, 0, 4)).toBe(4);
      this.got = body.readInt32LE(0);
      cache.references.deref(out.oc);
    } else if (answer === LookupAnswer.BUSY) this.next = () => this.park();
    else if (answer === LookupAnswer.MISS || answer === LookupAnswer.HITMISS) this.next = () => this.head();
    else throw new Error(`lookup answered ${answer}`);
  }

  private park(): void {
    this.thread.cache.lookup.wait(this.query.key, {
      wake: (alone) => {
        this.query.waited = true;
        this.query.hashIgnoreBusy ||= alone;
        this.next = () => this.look();
      },
    });
  }

  /** The head of the answer has come, and with it the beginning of its body. */
  private head(): void {
    const { filling } = this.thread.cache;
    const { busy } = this.out;
    this.fetches++;
    if (this.outcome === 'fails') {
      filling.fail(busy);
      this.got = -1;
      this.next = () => this.leave();
      return;
    }
    const flags = { private: OF_HIT_MISS, error: OF_HIT_MISS | OF_FAILURE }[this.outcome as string] ?? 0;
    filling.setAttributes(busy, { tOrigin: T0, ttl: 100, grace: 10, keep: 0, vxid: this.id, flags });
    expect(filling.storeHead(busy, flags === 0 ? 's0' : 'Transient', response(), null)).toBe(true);
    const whose = Buffer.alloc(4);
    whose.writeInt32LE(this.id);
    expect(filling.append(busy, whose, 0, 4)).toBe(true);
    filling.unbusy(busy, flags !== 0);
    this.next = () => this.end();
  }

  private end(): void {
    const { filling } = this.thread.cache;
    const { busy, stale } = this.out;
    if (this.outcome === 'breaks off') {
      filling.fail(busy);
      this.got = -1;
    } else {
      filling.finish(busy, this.outcome !== 'public');
      this.got = this.id;
    }
    this.next = () => {
      if (this.got === this.id && stale !== 0) this.thread.cache.invalidation.supersede(stale, stale);
      this.leave();
    };
  }

  private leave(): void {
    const { filling, references } = this.thread.cache;
    const { busy, stale } = this.out;
    filling.takeBackHead(busy);
    references.deref(busy);
    if (stale !== 0) references.deref(stale);
  }
}

/** Plays requests for a new URL in the order in which `choose` picks the next step; returns the requests. */
function play(
  outcomes: readonly [Thread, Outcome][],
  choose: (ways: number) => number,
  isNested = false,
): Asking[] {
  const key = `/k${++keys}`;
  const asking = outcomes.map(([thread, outcome]) => new Asking(thread, key, outcome));
  /** Takes one of the next steps, of any thread or of one alone; false when there is none. */
  const go = (only: number | null): boolean => {
    // Messages to a thread arrive in order.
    const arriving = [0, 1].flatMap((to) => events.find((event) => event.to === to) ?? []);
    const ways = [
      ...asking
        .filter((one) => one.canGoOn)
        .map((one) => ({ to: one.thread.peers.thread, run: () => one.step() })),
      ...arriving.map((event) => ({
        to: event.to,
        run: () => {
          events.splice(events.indexOf(event), 1);
          event.run();
        },
      })),
    ].filter(({ to }) => only === null || to === only);
    if (ways.length === 0) return false;
    ways[choose(ways.length)]?.run();
    return true;
  };
  if (isNested) nest(go, choose);
  while (go(null));
  for (const { peers } of [a, b]) peers.memory.delay = null;
  judge(asking, outcomes);
  a.cache.invalidation.purge(key, T0 + 2);
  expect(a.counters.n_objectcore + b.counters.n_objectcore).toBe(0);
  return asking;
}

/** Has one thread come in wherever the other is where threads meet without the lock. */
function nest(go: (only: number) => boolean, choose: (ways: number) => number): void {
  let isWithin = false;
  for (const { peers } of [a, b]) {
    peers.memory.delay = () => {
      if (isWithin || peers.lock.isHeld || choose(3) === 0) return;
      isWithin = true;
      for (let steps = choose(4); steps > 0; steps--) go(1 - peers.thread);
      isWithin = false;
    };
  }
}

/** Every request has a response, and none has another's private one. */
function judge(asking: readonly Asking[], outcomes: readonly [Thread, Outcome][]): void {
  asking.forEach((one, i) => {
    if (one.got === 0) throw new Error(`request ${i} was never woken`);
    if (one.got === -1 || one.got === one.id) return;
    const from = asking.findIndex(({ id }) => id === one.got);
    const shared = outcomes[from]?.[1];
    if (shared !== 'public' && shared !== 'breaks off')
      throw new Error(`request ${i} got the ${shared} answer of request ${from}`);
  });
}

/** Every order there is. @returns how many */
function everyOrder(outcomes: readonly [Thread, Outcome][], check: (asking: Asking[]) => void): number {
  const chosen: number[] = [];
  const width: number[] = [];
  let orders = 0;
  for (;;) {
    let at = 0;
    check(
      play(outcomes, (ways) => {
        chosen[at] ??= 0;
        width[at] = ways;
        return chosen[at++] as number;
      }),
    );
    orders++;
    chosen.length = at;
    while (chosen.length > 0 && (chosen.at(-1) as number) + 1 >= (width[chosen.length - 1] as number))
      chosen.pop();
    if (chosen.length === 0) return orders;
    chosen[chosen.length - 1] = (chosen.at(-1) as number) + 1;
  }
}

describe('requests for one URL at the same time', () => {
  it.each<[string, [Thread, Outcome][]]>([
    [
      'on one thread',
      [
        [a, 'private'],
        [a, 'private'],
      ],
    ],
    [
      'on two',
      [
        [a, 'private'],
        [b, 'private'],
      ],
    ],
    [
      'and an error of the origin',
      [
        [a, 'private'],
        [b, 'error'],
      ],
    ],
  ])('are each fetched for themselves when all answers are private: %s', (_what, outcomes) => {
    const orders = everyOrder(outcomes, (asking) => {
      expect(asking.map(({ got, id }) => got === id)).toEqual(asking.map(() => true));
      expect(asking.map(({ fetches }) => fetches)).toEqual(asking.map(() => 1));
    });
    expect(orders).toBeGreaterThan(20);
  });

  const OUTCOMES: Outcome[] = ['private', 'public', 'error', 'fails', 'breaks off'];
  it.each(OUTCOMES.flatMap((one) => OUTCOMES.map((other) => [one, other] as const)))(
    'get nothing that is another’s: %s and %s',
    (one, other) => {
      everyOrder(
        [
          [a, one],
          [b, other],
        ],
        () => undefined,
      );
    },
  );

  it('get nothing that is another’s in random orders of many, with steps of one thread within those of another', () => {
    let state = 7;
    const random = (ways: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return (state >>> 8) % ways;
    };
    const all = runs(1500);
    for (let round = 0; round < all; round++) {
      const secret = round % 3 === 0;
      const outcomes = Array.from({ length: 2 + random(5) }, (): [Thread, Outcome] => [
        random(2) === 0 ? a : b,
        secret ? 'private' : (OUTCOMES[random(OUTCOMES.length)] as Outcome),
      ]);
      const asking = play(outcomes, random, true);
      if (secret) expect(asking.map(({ fetches }) => fetches)).toEqual(asking.map(() => 1));
    }
  });
});
