// Two threads' caches over one memory, played in one thread: what the second does is put exactly where the first would be
// interrupted. Real threads are in test/system/store-histories.test.ts; they seldom meet just there.

import { afterEach, expect, it } from 'vitest';
import type { Cache } from '../../../daemon/cache/cache.ts';
import { newCacheCounters } from '../../../daemon/cache/cache-counters.ts';
import type { CacheState } from '../../../daemon/cache/cache-state.ts';
import { LookupAnswer, LookupQuery, LookupResult } from '../../../daemon/cache/lookup-query.ts';
import { TTL as OBJ_TTL, type Oc, OF_HIT_MISS } from '../../../daemon/cache/objcore.ts';
import { type VaryKey, varyKey } from '../../../daemon/cache/vary.ts';
import type { Peers } from '../../../daemon/threads/peers.ts';
import { request, response, T0 } from './cache-setup.ts';
import { cacheOf, closePorts, peersOfTwo } from './threads-setup.ts';

afterEach(closePorts);

class Thread {
  readonly peers: Peers;
  readonly cache: Cache;
  readonly counters = newCacheCounters();
  private next: number;

  constructor(peers: Peers) {
    this.peers = peers;
    this.next = 1000 * (peers.thread + 1);
    this.cache = cacheOf(peers, 256 << 20, this.counters);
  }

  /** The state shared by the roles. */
  get state(): CacheState {
    return (this.cache.hits as unknown as { state: CacheState }).state;
  }

  query(key: string, fields: Record<string, string> = {}): LookupQuery {
    const query = new LookupQuery(request(key, fields));
    query.key = key;
    query.now = T0 + 1;
    return query;
  }

  find(key: string, fields: Record<string, string> = {}): [LookupAnswer, LookupResult] {
    const out = new LookupResult();
    return [this.cache.lookup.find(this.query(key, fields), out), out];
  }

  /** A plain hit, or 0; never waits for the lock. */
  findUnlocked(key: string): Oc {
    return (this.cache.lookup as unknown as { findUnlocked(q: LookupQuery): Oc }).findUnlocked(
      this.query(key),
    );
  }

  begin(
    oc: Oc,
    flags = 0,
    storage: string | null = null,
    head: Record<string, string> = {},
    vary: VaryKey | null = null,
  ): void {
    const { filling } = this.cache;
    filling.setAttributes(oc, { tOrigin: T0, ttl: 100, grace: 10, keep: 0, vxid: this.next++, flags });
    expect(filling.storeHead(oc, storage, response(head), vary)).toBe(true);
  }

  append(oc: Oc, bytes: Buffer): void {
    expect(this.cache.filling.append(oc, bytes, 0, bytes.length)).toBe(true);
  }

  put(key: string, body = key): void {
    const [answer, out] = this.find(key);
    expect(answer).toBe(LookupAnswer.MISS);
    this.begin(out.busy);
    this.append(out.busy, Buffer.from(body));
    this.cache.filling.unbusy(out.busy);
    this.cache.filling.finish(out.busy);
    this.cache.references.deref(out.busy);
  }

  body(oc: Oc): string {
    const { reading } = this.cache;
    return reading.slice(oc, 0, reading.bodyLength(oc)).toString();
  }

  /** Runs something once, the next time that this thread comes to a place where threads meet. */
  once(run: () => void): void {
    const { memory } = this.peers;
    memory.delay = () => {
      memory.delay = null;
      run();
    };
  }
}

function pair(): [Thread, Thread] {
  const [a, second] = one();
  return [a, new Thread(second)];
}

/** A thread, and the peers of one to come. */
function one(): [Thread, Peers] {
  const [first, second] = peersOfTwo();
  return [new Thread(first), second];
}

it('a request waits for the fetch of another thread that may bring its variant, and for no other', () => {
  const [a, b] = pair();
  const lang = (value: string): Record<string, string> => ({ Lang: value });
  const fill = (thread: Thread, oc: Oc, value: string): void => {
    thread.begin(oc, 0, null, {}, varyKey('Lang', request('/v', lang(value))));
    thread.cache.filling.unbusy(oc);
    thread.cache.filling.finish(oc);
    thread.cache.references.deref(oc);
  };
  const [, first] = a.find('/v', lang('de'));
  // As nothing is known of the key, it may become anything.
  expect(b.find('/v', lang('en'))[0]).toBe(LookupAnswer.BUSY);
  fill(a, first.busy, 'de');
  const [, en] = a.find('/v', lang('en'));
  const [answer, fr] = b.find('/v', lang('fr'));
  expect(answer).toBe(LookupAnswer.MISS);
  for (const thread of [a, b]) {
    expect(['en', 'fr'].map((value) => thread.find('/v', lang(value))[0])).toEqual([
      LookupAnswer.BUSY,
      LookupAnswer.BUSY,
    ]);
  }
  fill(a, en.busy, 'en');
  fill(b, fr.busy, 'fr');
  for (const thread of [a, b])
    for (const value of ['de', 'en', 'fr']) expect(thread.find('/v', lang(value))[0]).toBe(LookupAnswer.HIT);
});

it('finds on one thread what another has stored', () => {
  const [a, b] = pair();
  b.put('/one');
  const oc = a.findUnlocked('/one');
  expect(a.body(oc)).toBe('/one');
  a.cache.references.deref(oc);
});

it('gives no object that is purged while it is being found', () => {
  const [a, b] = pair();
  b.put('/one');
  a.once(() => b.cache.invalidation.purge('/one', T0));
  expect(a.findUnlocked('/one')).toBe(0);
  expect(b.state.objcores.count).toBe(0);
});

it('gives no object of another key that takes the place of one that goes', () => {
  const [a, b] = pair();
  b.put('/one');
  const { objheads } = b.state;
  const drop = objheads.drop.bind(objheads);
  let found = -1;
  // The other thread has taken the object out of its key, and is about to take the key out of the index.
  objheads.drop = (oh) => {
    objheads.drop = drop;
    a.once(() => {
      drop(oh);
      b.put('/two');
      expect(b.state.objheads.find('/two')).toBe(oh);
    });
    found = a.findUnlocked('/one');
  };
  b.cache.invalidation.purge('/one', T0);
  expect(found).toBe(0);
});

it('takes no reference while the blocks of an object are being moved, and leaves none', () => {
  const [a, b] = pair();
  const [, out] = b.find('/one');
  b.begin(out.busy);
  b.append(out.busy, Buffer.alloc(100, 'x'));
  b.cache.filling.unbusy(out.busy);
  b.cache.filling.finish(out.busy);
  let found = -1;
  b.once(() => {
    found = a.findUnlocked('/one');
  });
  b.cache.references.deref(out.busy);
  expect(found).toBe(0);
  const oc = a.findUnlocked('/one');
  expect(a.body(oc)).toBe('x'.repeat(100));
  a.cache.references.deref(oc);
});

it('frees an object once when two threads give back its last reference', () => {
  const [a, b] = pair();
  b.put('/one');
  a.cache.references.deref(a.findUnlocked('/one'));
  const oc = b.findUnlocked('/one');
  b.cache.invalidation.purge('/one', T0);
  // Its last reference has gone, and another thread that had found it before comes too late, and goes again.
  b.once(() => {
    const life = a.cache.references as unknown as { tryRef(oc: Oc): boolean };
    expect(life.tryRef(oc)).toBe(false);
  });
  b.cache.references.deref(oc);
  expect(a.state.objcores.count).toBe(0);
  expect(a.counters.n_objectcore + b.counters.n_objectcore).toBe(0);
});

it('reads a body that grows into memory which it has not seen', () => {
  const [a, b] = pair();
  const [, out] = b.find('/one');
  b.begin(out.busy);
  b.cache.filling.unbusy(out.busy);
  const oc = a.findUnlocked('/one');
  expect(oc).toBe(out.busy);
  const piece = Buffer.alloc(1 << 20, 'z');
  for (let i = 0; i < 8; i++) {
    b.append(oc, piece);
    const at = i << 20;
    expect(a.cache.reading.bodyLength(oc)).toBe(at + piece.length);
    for (let done = 0; done < piece.length; ) {
      const slice = a.cache.reading.slice(oc, at + done, piece.length - done);
      expect(slice.length).toBeGreaterThan(0);
      expect(slice[0]).toBe(122);
      done += slice.length;
    }
  }
});

it('sees the tables that took the place of others, whenever it looks', () => {
  const [a, b] = pair();
  // It looks at every news, before and after.
  b.peers.memory.delay = () => a.peers.memory.sync();
  const [mine, theirs] = [a, b].map(
    ({ state }) => (state.stevedores as unknown as { all: { slab: unknown }[] }).all[0]?.slab,
  ) as unknown as [{ knownRoom: number }, { knownRoom: number }];
  for (let i = 0; i < 3000; i++) {
    b.put(`/${i}`, 'y'.repeat(20_000));
    a.peers.memory.sync();
    if (mine.knownRoom !== theirs.knownRoom) expect(mine.knownRoom).toBe(theirs.knownRoom);
  }
  expect(theirs.knownRoom).toBeGreaterThan(500);
  b.peers.memory.delay = null;
  for (let i = 0; i < 3000; i += 7) {
    const oc = a.findUnlocked(`/${i}`);
    expect(oc).not.toBe(0);
    expect(a.cache.reading.bodyLength(oc)).toBe(20_000);
    a.cache.references.deref(oc);
  }
});

it('is never earlier than a soft purge of another thread', () => {
  const [a, b] = pair();
  b.put('/one');
  const soft = { ttl: 0, grace: 100, keep: 0 };
  b.cache.invalidation.purge('/one', T0 + 0.5, soft);
  // The second purge ends the ttl later than the first did; this lookup read its clock in between.
  b.cache.invalidation.purge('/one', T0 + 20, soft);
  const [answer, out] = a.find('/one');
  expect(answer).toBe(LookupAnswer.GRACE);
  a.cache.references.deref(out.oc);
  a.cache.references.deref(out.busy);
});

it('gives no object as fresh that a soft ban, which had returned, is just making stale', () => {
  const [a, b] = pair();
  const { objcores } = b.state;
  let looks = 0;
  // Thread a looks after every word that thread b writes.
  const between = <K extends 'set' | 'publish' | 'setDouble'>(name: K): void => {
    const write = objcores[name].bind(objcores);
    objcores[name] = (oc: Oc, word: number, value: number): void => {
      write(oc, word, value);
      looks++;
      expect(a.findUnlocked('/one')).toBe(0);
    };
  };
  b.put('/one');
  expect(b.cache.bans.addText('obj.status == 200', T0 + 0.5, true)).toBe(null);
  for (const name of ['set', 'publish', 'setDouble'] as const) between(name);
  const [answer] = b.find('/one');
  expect(answer).toBe(LookupAnswer.GRACE);
  expect(looks).toBeGreaterThan(1);
});

it('is never earlier than a soft ban or a soft purge by key of another thread, whose clock is ahead', () => {
  const ways: ((thread: Thread, at: number) => void)[] = [
    (b, at) => void b.cache.bans.addText('obj.status == 200', at, true),
    (b, at) => void b.cache.invalidation.purgeTags('k', true, at),
  ];
  for (const soften of ways) {
    for (const isTested of [false, true]) {
      const [a, b] = pair();
      const [, out] = b.find('/one');
      b.begin(out.busy, 0, null, { xkey: 'k' });
      b.cache.filling.unbusy(out.busy);
      b.cache.filling.finish(out.busy);
      soften(b, T0 + 1.005);
      if (isTested) {
        // A lookup of the other thread has brought the object up to date, so that a plain hit is possible.
        const query = b.query('/one');
        query.now = T0 + 1.006;
        expect(b.cache.lookup.find(query, new LookupResult())).toBe(LookupAnswer.GRACE);
      }
      expect(a.find('/one')[0]).toBe(LookupAnswer.GRACE);
    }
  }
});

it('has lookups of now again after a soft purge and a clock that was set back', () => {
  const [a, b] = pair();
  b.cache.bans.addText('obj.status == 404', T0 + 3600, true);
  a.cache.maintenance.step(T0 + 1);
  b.put('/one');
  expect(a.findUnlocked('/one')).not.toBe(0);
});

it('reads the ban of an object before its lifetimes', () => {
  const [a, b] = pair();
  b.put('/one');
  expect(b.cache.bans.addText('obj.status == 200', T0 + 0.5, true)).toBe(null);
  const { objcores } = a.state;
  // Thread a has read one word of the object when thread b tests it and makes it stale.
  for (const name of ['load', 'get', 'getDouble'] as const) {
    const read = objcores[name].bind(objcores);
    objcores[name] = (oc: Oc, word: number): number => {
      const value = read(oc, word);
      if (word === OBJ_TTL && name === 'getDouble') b.find('/one');
      return value;
    };
  }
  expect(a.findUnlocked('/one')).toBe(0);
});

it('has a fetch learn that the last one who held its object was a request of another thread', async () => {
  const [a, b] = pair();
  const [, out] = b.find('/one');
  b.begin(out.busy, OF_HIT_MISS, 'Transient');
  let left = 0;
  b.cache.filling.onConsume(out.busy, () => {
    if (b.cache.filling.isAbandoned(out.busy)) left++;
  });
  b.cache.filling.unbusy(out.busy, true);
  const [answer, other] = a.find('/one');
  expect(answer).toBe(LookupAnswer.HITMISS);
  expect(other.stale).toBe(out.busy);
  expect(b.cache.filling.isAbandoned(out.busy)).toBe(false);
  a.cache.references.deref(other.busy);
  a.cache.references.deref(other.stale);
  await expect.poll(() => left).toBe(1);
});

it('knows a fetch of another thread from one of its own, whatever row it is in', () => {
  const [a, b] = pair();
  // Each makes and gives back objects in the same row, in turns.
  for (let i = 0; i < 4; i++) {
    const oc = a.cache.filling.newPrivate();
    b.peers.memory.sync();
    b.cache.references.deref(oc);
    const other = b.cache.filling.newPrivate();
    expect(other).toBe(oc);
    expect(a.state.transfers.get(other)).toBeUndefined();
    expect(b.state.transfers.get(other)).toBeDefined();
    b.cache.references.deref(other);
  }
});

it('is made under the lock: the others may be at work on what it reads', () => {
  const [, second] = one();
  const held: boolean[] = [];
  const part = second.part.bind(second);
  second.part = (name) => {
    const memory = part(name);
    const guardedBy = memory.guardedBy.bind(memory);
    memory.guardedBy = (lock) => {
      const guarded = guardedBy(lock);
      const of = guarded.part.bind(guarded);
      guarded.part = (each) => {
        held.push(second.lock.isHeld);
        return of(each);
      };
      return guarded;
    };
    return memory;
  };
  new Thread(second);
  expect(held.length).toBeGreaterThan(5);
  expect(held).not.toContain(false);
  expect(second.lock.isHeld).toBe(false);
});

it('takes a defect in a lookup without the lock for what it is', () => {
  const [a, b] = pair();
  b.put('/one');
  const life = a.cache.references as unknown as { tryRef(oc: Oc): boolean };
  life.tryRef = () => {
    throw new TypeError('a defect');
  };
  expect(() => a.findUnlocked('/one')).toThrow('a defect');
});

it('finds nothing without the lock in memory that it does not know yet', () => {
  const [a, b] = pair();
  b.put('/one');
  const { objcores, objheads } = a.state;
  // As if a row, a key or a table of keys had been read that another thread has just made.
  const first = objheads.firstUnlocked.bind(objheads);
  for (const oc of [1 << 20, -1]) {
    objheads.firstUnlocked = () => oc;
    expect(objcores.knows(oc)).toBe(false);
    expect(a.findUnlocked('/one')).toBe(0);
  }
  objheads.firstUnlocked = first;
  const { index } = objheads as unknown as { index: { pieces: unknown[]; keys: { words: unknown[] } } };
  for (const list of [index.pieces, index.keys.words]) {
    const kept = list.splice(0);
    expect(a.findUnlocked('/one')).toBe(0);
    list.push(...kept);
  }
  const oc = a.findUnlocked('/one');
  expect(a.body(oc)).toBe('/one');
  a.cache.references.deref(oc);
});
