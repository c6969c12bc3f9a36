// Readers of an object that has left the cache: the last one's bytes stay where they are until it has gone.
import { describe, expect, it } from 'vitest';
import { type Cache, FLAG, Lookup } from '../../../daemon/cache/cache.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Bench } from './cache-setup.ts';

const BODY = 'a body that is much shorter than the room it was given'.repeat(3);

describe('an object taken out of the cache while two read it', () => {
  it.each([
    ['an ordinary one', 0],
    ['a marker', FLAG.HIT_MISS],
  ])('%s keeps its body for the second when the first leaves', (_name, flags) => {
    const bench = new Bench();
    const { cache } = bench;
    const [, out] = bench.lookup('/a');
    const oc = out.busy;
    // Two readers besides the fetch.
    cache.ref(oc);
    cache.ref(oc);
    expect(bench.fetch(oc, 1, BODY, { length: false, flags })).toBe(true);
    const view = cache.slice(oc, 0, 1000);
    cache.kill(oc);
    cache.deref(oc);
    // Room that was given back is soon somebody else's.
    for (let i = 0; i < 50; i++) {
      const [, other] = bench.lookup(`/other${i}`);
      bench.fetch(other.busy, 2, 'z'.repeat(BODY.length), { length: false });
    }
    expect(view.toString()).toBe(BODY);
    expect(cache.slice(oc, 0, 1000).toString()).toBe(BODY);
    cache.deref(oc);
    expect(cache.counters.n_objectcore).toBe(50);
  });
});

describe('the head of a private object', () => {
  const status = (cache: Cache, oc: number): string => {
    const seen = new HttpMessage(0);
    cache.head(oc, seen);
    return `${seen.proto} ${seen.status} ${seen.reason} ${seen.lines.slice(0, seen.n).join('|')}`;
  };

  it('is the message it was stored from until that is taken back, and the same after', () => {
    const { cache } = new Bench();
    const oc = cache.newPrivate();
    const msg = new HttpMessage(0);
    msg.proto = 'HTTP/1.1';
    msg.status = 404;
    msg.reason = 'Not Found';
    msg.push('x-a', 'X-A: 1');
    expect(cache.storeHead(oc, 'Transient', msg, null)).toBe(true);
    const lent = status(cache, oc);
    expect(lent).toBe('HTTP/1.1 404 Not Found X-A: 1');
    // Its reader's.
    cache.ref(oc);
    cache.takeBackHead(oc);
    msg.reset();
    cache.deref(oc);
    expect(status(cache, oc)).toBe(lent);
    cache.deref(oc);
  });
});

describe('the head of a private object that is asked for as it is stored', () => {
  it('is there, with what was added to it', () => {
    const { cache } = new Bench();
    const oc = cache.newPrivate();
    const msg = new HttpMessage(0);
    msg.proto = 'HTTP/1.1';
    msg.status = 203;
    msg.push('x-a', 'X-A: 1');
    expect(cache.storeHead(oc, 'Transient', msg, null)).toBe(true);
    cache.setGunzippedLength(oc, 7);
    expect(cache.status(oc)).toBe(203);
    cache.ref(oc);
    cache.takeBackHead(oc);
    expect(cache.gunzippedLength(oc)).toBe(7);
    expect(cache.headWire(oc, (chunk, at, length) => chunk.latin1Slice(at, at + length))).toContain('X-A: 1');
    cache.deref(oc);
    cache.deref(oc);
  });
});

describe('a hit-for-miss marker', () => {
  it('is handed over with the fetch that will replace it', () => {
    const bench = new Bench();
    const [, first] = bench.lookup('/a');
    bench.fetch(first.busy, 1, 'x', { flags: FLAG.HIT_MISS });
    const [answer, out] = bench.lookup('/a');
    expect(answer).toBe(Lookup.HITMISS);
    expect(bench.cache.vxidOf(out.stale)).toBe(1);
    bench.cache.kill(out.stale);
    bench.cache.deref(out.stale);
    bench.cache.deref(out.busy);
    expect(bench.cache.counters.n_objectcore).toBe(0);
  });
});
