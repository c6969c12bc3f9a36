// A cached request body by itself: it gives all bytes in order, as often as it is asked, and never more than its
// reader can take.
import { describe, expect, it } from 'vitest';
import { CachedBody } from '../../../daemon/transaction/cached-body.ts';

const BYTES = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));

/** Reads it, pausing after every slice; resumes in a later turn or at once. */
function read(body: CachedBody, pausing: 'never' | 'later' | 'at once'): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    body.start({
      data: (buf, start, end) => {
        parts.push(Buffer.from(buf.subarray(start, end)));
        if (pausing === 'never') return;
        body.pause();
        if (pausing === 'at once') body.resume();
        else setImmediate(() => body.resume());
      },
      end: () => resolve(Buffer.concat(parts)),
      error: reject,
    });
  });
}

describe('CachedBody', () => {
  it.each(['never', 'later', 'at once'] as const)(
    'comes whole to a reader that pauses %s, twice',
    async (how) => {
      const body = new CachedBody(BYTES);
      expect((await read(body, how)).equals(BYTES)).toBe(true);
      expect((await read(body, how)).equals(BYTES)).toBe(true);
    },
  );

  it('ends at once when it is empty', async () => {
    expect(await read(new CachedBody(Buffer.alloc(0)), 'later')).toHaveLength(0);
  });

  it('says no more to a reader that has left', () => {
    const body = new CachedBody(BYTES);
    const told: string[] = [];
    body.start({
      data: () => {
        told.push('data');
        body.abandon();
      },
      end: () => told.push('end'),
      error: () => told.push('error'),
    });
    body.resume();
    expect(told).toEqual(['data']);
  });
});
