// A cached request body by itself: it gives all bytes in order, as often as it is asked, and never more than its
// reader can take.
import { describe, expect, it } from 'vitest';
import type { Room } from '../../../daemon/flow/flow.ts';
import { type AnyPiece, copyOf, own } from '../../../daemon/flow/piece.ts';
import { KeptBody, KeptBodySource } from '../../../daemon/transaction/kept-body.ts';
import { Bench } from '../cache/cache-setup.ts';
import { sinkOf } from '../flow/flow-ends.ts';

const BYTES = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));

/** Reads it, pausing after every slice until a later turn, or not. */
function read(body: KeptBodySource, pausing: 'never' | 'later'): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const take = (piece: AnyPiece): Room => {
      parts.push(copyOf(piece));
      if (pausing === 'never') return 'more';
      setImmediate(() => body.room());
      return 'wait';
    };
    body.start(sinkOf(take, () => resolve(Buffer.concat(parts)), reject));
  });
}

/** Stores some bytes; `wait` when there is no room. */
function put(kept: KeptBody, bytes: Buffer): Room {
  return kept.sink.write(own(bytes));
}

/** A body in a storage, in pieces. */
function keptIn(b: Bench, bytes: Buffer, length = bytes.length, piece = 7000): KeptBody {
  const kept = KeptBody.begin(b.cache, 's0', length) as KeptBody;
  for (let at = 0; at < bytes.length; at += piece)
    expect(put(kept, bytes.subarray(at, at + piece))).toBe('more');
  kept.complete();
  return kept;
}

describe('a kept body', () => {
  it.each(['never', 'later'] as const)('comes whole to a reader that pauses %s, twice', async (how) => {
    const body = new KeptBodySource(keptIn(new Bench(), BYTES));
    expect((await read(body, how)).equals(BYTES)).toBe(true);
    expect((await read(body, how)).equals(BYTES)).toBe(true);
  });

  it('ends at once when it is empty', async () => {
    expect(await read(new KeptBodySource(keptIn(new Bench(), Buffer.alloc(0))), 'later')).toHaveLength(0);
  });

  it('does not notify a reader that has left', () => {
    const body = new KeptBodySource(keptIn(new Bench(), BYTES));
    const reported: string[] = [];
    const take = (): void => {
      reported.push('data');
      body.stop();
    };
    body.start(
      sinkOf(
        take,
        () => reported.push('end'),
        () => reported.push('error'),
      ),
    );
    body.room();
    expect(reported).toEqual(['data']);
  });

  it.each([0, 5, 3000, 40_000, 200_000, 6_000_000])(
    'of %d bytes lies in its storage until all have let go',
    (size) => {
      // Of a length that no block has.
      const bytes = Buffer.alloc(size, Buffer.from(Array.from({ length: 253 }, (_, i) => i)));
      for (const announced of [size, -1]) {
        const b = new Bench();
        const kept = keptIn(b, bytes, announced);
        expect(kept.length).toBe(size);
        expect(kept.bytes().equals(bytes)).toBe(true);
        const held = b.cache.storages.stats('s0')?.g_bytes ?? 0;
        expect(held).toBeGreaterThanOrEqual(size);
        // An eighth at the most is lost in blocks that are larger than what is in them.
        expect(held).toBeLessThan(size * 1.13 + 5000);
        kept.hold();
        kept.release();
        expect(b.cache.storages.stats('s0')?.g_bytes).toBe(held);
        kept.release();
        b.maintain();
        expect(b.cache.storages.stats('s0')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
        expect(b.counters).toMatchObject({ n_object: 0, n_objectcore: 0 });
      }
    },
  );

  it('finds no room in a full storage, and leaves nothing there', () => {
    const b = new Bench([{ name: 's0', kind: 'malloc', size: 1 << 20 }]);
    const piece = Buffer.alloc(100_000);
    const whole: KeptBody[] = [];
    for (;;) {
      const kept = KeptBody.begin(b.cache, 's0', 200_000);
      if (kept !== null && put(kept, piece) === 'more' && put(kept, piece) === 'more') whole.push(kept);
      else {
        kept?.release();
        break;
      }
    }
    expect(whole).toHaveLength(5);
    expect(b.cache.storages.stats('s0')?.c_fail).toBeGreaterThan(0);
    for (const kept of whole) kept.release();
    expect(b.cache.storages.stats('s0')).toMatchObject({ g_bytes: 0, g_alloc: 0 });
    expect(KeptBody.begin(b.cache, 'none', 5)).toBeNull();
    expect(b.counters).toMatchObject({ n_object: 0, n_objectcore: 0 });
  });
});
