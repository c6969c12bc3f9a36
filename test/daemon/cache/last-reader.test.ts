// Readers of an object that has left the cache: the last one's bytes stay where they are until it has gone.

import { describe, expect, it } from 'vitest';
import type { Cache } from '../../../daemon/cache/cache.ts';
import { statusOf, wireLength, wireStart } from '../../../daemon/cache/head-codec.ts';
import { LookupAnswer } from '../../../daemon/cache/lookup-query.ts';
import { OF_HIT_MISS } from '../../../daemon/cache/objcore.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Bench } from './cache-setup.ts';

const BODY = 'a body that is much shorter than the room it was given'.repeat(3);

describe('an object taken out of the cache while two read it', () => {
  it.each([
    ['an ordinary one', 0],
    ['a marker', OF_HIT_MISS],
  ])('%s keeps its body for the second when the first leaves', (_name, flags) => {
    const bench = new Bench();
    const { cache } = bench;
    const [, out] = bench.lookup('/a');
    const oc = out.busy;
    // Two readers besides the fetch.
    cache.references.ref(oc);
    cache.references.ref(oc);
    expect(bench.fetch(oc, 1, BODY, { length: false, flags })).toBe(true);
    const view = cache.reading.slice(oc, 0, 1000);
    cache.invalidation.supersede(oc, oc);
    cache.references.deref(oc);
    // Released room is soon reused by others.
    for (let i = 0; i < 50; i++) {
      const [, other] = bench.lookup(`/other${i}`);
      bench.fetch(other.busy, 2, 'z'.repeat(BODY.length), { length: false });
    }
    expect(view.toString()).toBe(BODY);
    expect(cache.reading.slice(oc, 0, 1000).toString()).toBe(BODY);
    cache.references.deref(oc);
    expect(bench.counters.n_objectcore).toBe(50);
  });
});

describe('the head of a private object', () => {
  const status = (cache: Cache, oc: number): string => {
    const seen = new HttpMessage(0);
    cache.reading.head(oc, seen);
    return `${seen.proto} ${seen.status} ${seen.reason} ${seen.lines.slice(0, seen.n).join('|')}`;
  };

  it('is the message it was stored from until that is taken back, and the same after', () => {
    const { cache } = new Bench();
    const oc = cache.filling.newPrivate();
    const msg = new HttpMessage(0);
    msg.proto = 'HTTP/1.1';
    msg.status = 404;
    msg.reason = 'Not Found';
    msg.push('x-a', 'X-A: 1');
    expect(cache.filling.storeHead(oc, 'Transient', msg, null)).toBe(true);
    const lent = status(cache, oc);
    expect(lent).toBe('HTTP/1.1 404 Not Found X-A: 1');
    // Its reader's.
    cache.references.ref(oc);
    cache.filling.takeBackHead(oc);
    msg.reset();
    cache.references.deref(oc);
    expect(status(cache, oc)).toBe(lent);
    cache.references.deref(oc);
  });
});

describe('the head of a private object that is asked for as it is stored', () => {
  it('is there, with what was added to it', () => {
    const { cache } = new Bench();
    const oc = cache.filling.newPrivate();
    const msg = new HttpMessage(0);
    msg.proto = 'HTTP/1.1';
    msg.status = 203;
    msg.push('x-a', 'X-A: 1');
    expect(cache.filling.storeHead(oc, 'Transient', msg, null)).toBe(true);
    cache.filling.setGunzippedLength(oc, 7);
    expect(statusOf(cache.reading.headChunk(oc), cache.reading.headAt(oc))).toBe(203);
    cache.references.ref(oc);
    cache.filling.takeBackHead(oc);
    expect(cache.reading.gunzippedLength(oc)).toBe(7);
    const chunk = cache.reading.headChunk(oc);
    const wire = wireStart(chunk, cache.reading.headAt(oc));
    expect(chunk.latin1Slice(wire, wire + wireLength(chunk, cache.reading.headAt(oc)))).toContain('X-A: 1');
    cache.references.deref(oc);
    cache.references.deref(oc);
  });
});

describe('a hit-for-miss marker', () => {
  it('is handed over with the fetch that will replace it', () => {
    const bench = new Bench();
    const [, first] = bench.lookup('/a');
    bench.fetch(first.busy, 1, 'x', { flags: OF_HIT_MISS });
    const [answer, out] = bench.lookup('/a');
    expect(answer).toBe(LookupAnswer.HITMISS);
    expect(bench.cache.facts.vxidOf(out.stale)).toBe(1);
    bench.cache.invalidation.supersede(out.stale, out.stale);
    bench.cache.references.deref(out.stale);
    bench.cache.references.deref(out.busy);
    expect(bench.counters.n_objectcore).toBe(0);
  });
});
