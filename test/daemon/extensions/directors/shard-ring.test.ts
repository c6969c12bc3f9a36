import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringKey } from '../../../../daemon/extensions/directors/key.ts';
import {
  type RingHost,
  RingWalk,
  ringOf,
  type ShardRing,
  wholeRing,
} from '../../../../daemon/extensions/directors/shard-ring.ts';
import { runs } from '../../../harness/runs.ts';

const hosts = (idents: readonly string[], points: number) => idents.map((ident) => ({ ident, points }));

const made = (of: readonly RingHost[]): ShardRing => wholeRing(ringOf(of));

const order = (ring: ShardRing, idents: readonly string[], key: number): string[] => {
  const walk = new RingWalk(ring, idents.length, key);
  return idents.map(() => idents[walk.next()] ?? '?');
};

const KEY = fc.integer({ min: 0, max: 2 ** 32 - 1 });

/** Where the last point lies: keys above it are an exception of their own. */
const lastPoint = (idents: readonly string[], points: number): number =>
  Math.max(...idents.flatMap((i) => Array.from({ length: points }, (_, n) => stringKey(`${i}${n}`))));

describe('keys', () => {
  it('are what Varnish makes of strings', () => {
    // Seen in 7.1.1 with shard.key().
    expect(stringKey('/abc')).toBe(2709043216);
    expect(stringKey('x')).toBe(2168986258);
    expect(stringKey('')).toBe(1438143096);
    expect(stringKey(null)).toBe(1438143096);
  });
});

describe('the ring', () => {
  it('takes the point at or after a key, the last above all points', () => {
    // b1, b2 and b3 with one replica, as 7.1.1 serves these keys.
    const idents = ['b1', 'b2', 'b3'];
    const ring = made(hosts(idents, 1));
    const seen = [0, 32168084, 32168085, 1292797696, 1292797697, 1518380756, 1518380757, 2 ** 32 - 1].map(
      (key) => order(ring, idents, key).join(' '),
    );
    const [first, second, third] = ['b1 b2 b3', 'b2 b3 b1', 'b3 b1 b2'];
    expect(seen).toEqual([first, first, second, second, third, third, third, third]);
  });

  it('gives every key to the second of two points, as Varnish does', () => {
    const ring = made(hosts(['b1', 'b2'], 1));
    expect([0, 32168084, 40000000, 2 ** 32 - 1].map((key) => ring.owner(ring.find(key)))).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('gives each host once', () => {
    const idents = ['a', 'b', 'c', 'd', 'e', 'f'];
    const ring = made(hosts(idents, 67));
    fc.assert(
      fc.property(KEY, (key) => {
        expect(order(ring, idents, key).toSorted()).toEqual(idents);
      }),
    );
  });

  it('moves only the keys of the host that comes or goes', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(
        names,
        fc.nat(),
        fc.integer({ min: 2, max: 80 }),
        fc.array(KEY, { minLength: 20 }),
        (all, pick, points, keys) => {
          const gone = all[pick % all.length] as string;
          const rest = all.filter((i) => i !== gone);
          const before = made(hosts(all, points));
          const after = made(hosts(rest, points));
          const last = Math.min(lastPoint(all, points), lastPoint(rest, points));
          for (const key of keys.filter((k) => k <= last)) {
            expect(order(after, rest, key)).toEqual(order(before, all, key).filter((i) => i !== gone));
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('moves about the share of the host', () => {
    const all = ['b1', 'b2', 'b3', 'b4', 'b5'];
    const before = made(hosts(all, 67));
    const after = made(hosts([...all, 'b6'], 67));
    const keys = Array.from({ length: 10_000 }, (_, i) => stringKey(`/${i}`));
    const moved = keys.filter((k) => before.owner(before.find(k)) !== after.owner(after.find(k)));
    expect(new Set(moved.map((k) => after.owner(after.find(k))))).toEqual(new Set([5]));
    expect(moved.length).toBeGreaterThan(10_000 / 6 / 2);
    expect(moved.length).toBeLessThan((10_000 / 6) * 2);
  });
});

describe('a ring in the making', () => {
  it('takes as many more steps as there are more points, and none of them does much', () => {
    const steps = (n: number): number => {
      const making = ringOf(
        hosts(
          Array.from({ length: n }, (_, i) => `b${i}`),
          67,
        ),
      );
      let count = 0;
      while (making.next().done !== true) count++;
      return count;
    };
    expect(steps(1000)).toBeGreaterThan((3 * 67_000) / 600);
    expect(steps(1000) / steps(100)).toBeLessThan(12);
  });

  it('is, out of the one before, the same as one of hosts never seen', () => {
    // Names that end in digits have points in common: `b1` with 11 and `b11` with 1.
    const name = fc.integer({ min: 0, max: 30 }).map((n) => `b${n}`);
    const lists = fc.array(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 40 }), (all, points) => {
        let before: { ring: ShardRing; idents: readonly string[] } | null = null;
        for (const idents of all) {
          const places: Int32Array | null =
            before && Int32Array.from(before.idents, (ident: string) => idents.indexOf(ident));
          const from = before && places && { ring: before.ring, places };
          const ring = wholeRing(ringOf(hosts(idents, points), from));
          const fresh = made(hosts(idents, points));
          expect([...ring.points]).toEqual([...fresh.points]);
          expect([...ring.owners]).toEqual([...fresh.owners]);
          before = { ring, idents };
        }
      }),
    );
  });

  it('hashes the points of new hosts only', () => {
    const idents = Array.from({ length: 500 }, (_, i) => `b${i}`);
    const ring = made(hosts(idents, 67));
    const asked: string[] = [];
    const watched = [...idents, 'new'].map((ident) => ({
      get ident() {
        asked.push(ident);
        return ident;
      },
      points: 67,
    }));
    wholeRing(ringOf(watched, { ring, places: Int32Array.from(idents, (_, i) => i) }));
    expect(new Set(asked)).toEqual(new Set(['new']));
  });
});
