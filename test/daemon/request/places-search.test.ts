// Where the blocks of a stored object lie: the same answer however many turns it takes, and no more than so much in one.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Cache } from '../../../daemon/cache/cache.ts';
import { deflatePlaces } from '../../../daemon/filters/deflate-places.ts';
import { PlacesSearch } from '../../../daemon/request/fragment-body.ts';
import { turns } from '../../../daemon/turns/turns.ts';

const OC = 1;

/** A cache with one object. */
function cacheOf(body: Buffer, isPage = false) {
  const state = { annex: null as Buffer | null, read: 0 };
  const reading = {
    bodyLength: () => body.length,
    gunzippedLength: () => 1,
    annex: () => state.annex,
    slice: (_oc: number, at: number, most: number) => {
      const slice = body.subarray(at, at + most);
      state.read += slice.length;
      return slice;
    },
    copyBody: (_oc: number, at: number, to: Buffer, start: number, length: number) =>
      body.copy(to, start, at, at + length),
  };
  const filling = {
    setAnnex: (_oc: number, bytes: Buffer) => {
      state.annex = bytes;
    },
  };
  return { state, cache: { reading, filling, facts: { has: () => isPage } } as unknown as Cache };
}

function turnsOf(search: PlacesSearch): number {
  let turns = 1;
  while (!search.lookOn()) turns++;
  return turns;
}

describe('The search for the blocks of a stored object', () => {
  const long = gzipSync(randomBytes(3_000_000).toString('hex'));
  const short = gzipSync('some text');

  it('reads a long one over several turns, and keeps what it finds', () => {
    const { cache, state } = cacheOf(long);
    const search = new PlacesSearch(cache, OC);
    turns.follow(() => 0);
    try {
      expect(search.lookOn()).toBe(false);
      expect(state.read).toBeLessThanOrEqual(128 * 1024);
      expect(turnsOf(search)).toBeGreaterThan(10);
    } finally {
      turns.follow(() => 2);
    }
    const { last, stop } = deflatePlaces(long) as NonNullable<ReturnType<typeof deflatePlaces>>;
    expect(search.found).toMatchObject({ from: 10, last, stop, length: 6_000_000 });
    const again = new PlacesSearch(cache, OC);
    state.read = 0;
    expect(again.lookOn()).toBe(true);
    expect(again.found).toEqual(search.found);
    expect(state.read).toBe(0);
  });

  it('reads a short one at once', () => {
    const { cache } = cacheOf(short);
    const search = new PlacesSearch(cache, OC);
    expect(search.lookOn()).toBe(true);
    expect(search.found).toMatchObject({ from: 10, length: 9 });
  });

  it('keeps nothing beside a page, which has its plan there', () => {
    const { cache, state } = cacheOf(short, true);
    state.annex = Buffer.from('a plan');
    const search = new PlacesSearch(cache, OC);
    expect(search.lookOn()).toBe(true);
    expect(search.found).toMatchObject({ from: 10, length: 9 });
    expect(state.annex.toString()).toBe('a plan');
  });

  it.each([
    ['cut', long.subarray(0, -1)],
    ['followed by another', Buffer.concat([short, short])],
    ['not packed', Buffer.alloc(1_200_000, 'a')],
    ['empty', Buffer.alloc(0)],
  ])('finds nothing in what is %s', (_what, body) => {
    const search = new PlacesSearch(cacheOf(body).cache, OC);
    turnsOf(search);
    expect(search.found).toBeNull();
  });
});
