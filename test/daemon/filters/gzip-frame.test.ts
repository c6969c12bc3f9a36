// The frame of a gzip stream, in whatever pieces it comes.
import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GzipHead, GzipTrailer } from '../../../daemon/filters/gzip-frame.ts';
import { Unpacker, unpackAtOnce } from '../../../daemon/filters/zlib-filter.ts';

const TEXT = Buffer.from('the text that is packed');
const DATA = gzipSync(TEXT).subarray(10);
const [SUM, EXTRA, NAME, REMARK] = [2, 4, 8, 16];

/** A head with the parts that its flags say, and whatever is in them. */
function headOf(flags: number, extra = 300): Buffer {
  const parts = [Buffer.of(0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3)];
  if ((flags & EXTRA) !== 0) parts.push(Buffer.of(extra & 255, extra >> 8), Buffer.alloc(extra, 0x1f));
  if ((flags & NAME) !== 0) parts.push(Buffer.from('name\xff\0', 'latin1'));
  if ((flags & REMARK) !== 0) parts.push(Buffer.from('\0'));
  const head = Buffer.concat(parts);
  const sum = crc32(head) & 0xffff;
  return (flags & SUM) === 0 ? head : Buffer.concat([head, Buffer.of(sum & 255, sum >> 8)]);
}

const HEADS = Array.from({ length: 16 }, (_, i) => headOf(i << 1)).concat(headOf(EXTRA | SUM, 0));

interface Unpacked {
  bytes: Buffer;
  error: string | null | undefined;
  taken: number;
}

function unpack(pieces: readonly Buffer[]): Promise<Unpacked> {
  return new Promise((resolve) => {
    const got: Buffer[] = [];
    const settle = (error: string | null | undefined, taken: number): void => {
      unpacker.destroy();
      resolve({ bytes: Buffer.concat(got), error, taken });
    };
    const unpacker = new Unpacker({
      data: (bytes) => {
        got.push(Buffer.from(bytes));
        // A slow sink: the end is reported after all bytes.
        unpacker.pause();
        setImmediate(() => unpacker.resume());
      },
      end: () => settle(undefined, -1),
      error: (error, taken) => settle(error === null ? null : error.message, taken),
    });
    const give = (i: number): void => {
      const piece = pieces[i];
      if (piece === undefined) unpacker.end();
      else unpacker.write(piece, () => give(i + 1));
    };
    give(0);
  });
}

describe('the head of a gzip stream', () => {
  it('ends where its parts end, split at every place', () => {
    for (const head of HEADS) {
      for (let at = 0; at <= head.length; at++) {
        const reader = new GzipHead();
        expect(reader.read(head.subarray(0, at))).toBe(at);
        expect(reader.whole).toBe(at === head.length);
        const rest = Buffer.concat([head.subarray(at), DATA]);
        if (!reader.whole) expect(reader.read(rest)).toBe(head.length - at);
        expect([reader.whole, reader.fault]).toEqual([true, null]);
      }
    }
  });

  it.each([
    ['incorrect header check', 2, [0x1f, 0x8c, 8, 0]],
    ['incorrect header check', 2, [0x1e, 0x8b, 8, 0]],
    ['unknown compression method', 4, [0x1f, 0x8b, 7, 0xff]],
    ['unknown header flags set', 4, [0x1f, 0x8b, 8, 0x20]],
    ['header crc mismatch', 12, [...headOf(SUM).subarray(0, 10), 1, 2, 3]],
  ])('with a fault: %s, after %i bytes', (fault, count, bytes) => {
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new GzipHead();
      let read = reader.read(Buffer.from(bytes.slice(0, at)));
      if (reader.fault === null) read += reader.read(Buffer.from(bytes.slice(at)));
      expect([reader.fault, read, reader.whole]).toEqual([fault, count, false]);
    }
  });
});

describe('the trailer of a gzip stream', () => {
  it('is compared as soon as its sum is there, and then its length', () => {
    for (const [bytes, fault, count] of [
      [DATA.subarray(-8), null, 8],
      [Buffer.concat([Buffer.alloc(4), DATA.subarray(-4)]), 'incorrect data check', 4],
      [Buffer.concat([DATA.subarray(-8, -4), Buffer.alloc(4)]), 'incorrect length check', 8],
    ] as const) {
      for (let at = 0; at <= 8; at++) {
        const reader = new GzipTrailer();
        reader.add(TEXT.subarray(0, at));
        reader.add(TEXT.subarray(at));
        const first = reader.read(bytes.subarray(0, at));
        expect(first + reader.read(Buffer.concat([bytes.subarray(first), TEXT]))).toBe(count);
        expect(reader.fault).toBe(fault);
      }
    }
  });
});

describe('an unpacked stream', () => {
  it('is the same split at every place, after any header', async () => {
    for (const head of HEADS) {
      const stream = Buffer.concat([head, DATA]);
      expect(unpackAtOnce(stream, 1000)?.equals(TEXT)).toBe(true);
      for (let at = 0; at <= stream.length; at += head.length > 100 ? 7 : 1)
        expect(await unpack([stream.subarray(0, at), stream.subarray(at)])).toEqual({
          bytes: TEXT,
          error: undefined,
          taken: -1,
        });
    }
  });

  it('reports where it broke, split at every place', async () => {
    const whole = gzipSync(TEXT);
    const n = whole.length;
    for (const [stream, error, taken, bytes] of [
      [whole.subarray(0, n - 1), 'unexpected end of file', n - 1, TEXT.length],
      [whole.subarray(0, 5), 'unexpected end of file', 5, 0],
      [Buffer.concat([whole, Buffer.of(0)]), null, n, TEXT.length],
      [Buffer.concat([whole, whole]), null, n, TEXT.length],
      [Buffer.concat([gzipSync(''), whole]), null, 20, 0],
      [
        Buffer.concat([whole.subarray(0, n - 8), whole.subarray(n - 4), TEXT]),
        'incorrect data check',
        n - 4,
        23,
      ],
      [Buffer.concat([Buffer.of(1), whole]), 'incorrect header check', 2, 0],
    ] as const) {
      expect(unpackAtOnce(stream, 1000)).toBe(null);
      for (let at = 0; at <= stream.length; at++) {
        const got = await unpack([stream.subarray(0, at), stream.subarray(at)]);
        expect([got.error, got.taken, got.bytes.length]).toEqual([error, taken, bytes]);
      }
    }
  });

  it('is given up where it becomes more than there may be at once', () => {
    expect(unpackAtOnce(gzipSync(Buffer.alloc(2000)), 1999)).toBe(null);
    expect(unpackAtOnce(gzipSync(Buffer.alloc(2000)), 2000)?.length).toBe(2000);
  });
});
