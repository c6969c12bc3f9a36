// One gzip stream out of pieces of all kinds, in any order: it unpacks to what they stand for.
import { constants, crc32, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GZIP_HEAD, GzipSum, packPart, SplicedData, storedBlocks } from '../../../daemon/esi/gzip-stitch.ts';
import { deflatePlaces } from '../../../daemon/filters/deflate-places.ts';
import { Random } from '../../fuzz/random.ts';
import { runs } from '../../harness/runs.ts';

function text(random: Random, most: number): Buffer {
  const bytes = Buffer.alloc(random.below(most));
  const spread = random.pick([2, 20, 256]);
  for (let i = 0; i < bytes.length; i++) bytes[i] = random.below(spread);
  return bytes;
}

/** A gzip stream with a head and blocks of some kind. */
function packed(random: Random, plain: Buffer): Buffer {
  const strategy = random.pick([constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED, constants.Z_HUFFMAN_ONLY]);
  const made = gzipSync(plain, { level: random.below(10), memLevel: 1 + random.below(9), strategy });
  if (random.chance(0.7)) return made;
  // Extra field, name, comment and sum of the head (RFC 1952 section 2.3).
  const fields = Buffer.from([...[3, 0, 1, 2, 3], ...Buffer.from('name\0comment\0')]);
  const head = Buffer.concat([made.subarray(0, 10), fields]);
  head[3] = 4 | 8 | 16 | 2;
  const sum = Buffer.alloc(2);
  sum.writeUInt16LE(crc32(head) & 0xffff);
  return Buffer.concat([head, sum, made.subarray(10)]);
}

function spliced(random: Random, stream: Buffer, sum: GzipSum): Buffer[] {
  const places = deflatePlaces(stream);
  if (places === null) throw new Error('no places');
  const { start, last, stop } = places;
  const [crc, length] = [stream.readUInt32LE(stream.length - 8), stream.readUInt32LE(stream.length - 4)];
  const data = new SplicedData({ from: start / 8, last, stop, crc, length });
  const out: Buffer[] = [];
  for (let at = 0; at < stream.length; ) {
    const end = Math.min(stream.length, at + 1 + random.below(random.pick([1, 8, 4000])));
    out.push(...data.take(stream.subarray(at, end)));
    at = end;
  }
  sum.add({ crc, length });
  return out;
}

describe('A gzip stream', () => {
  it('is made of packed parts, whole streams and plain bytes', () => {
    const all = runs(600);
    for (let seed = 0; seed < all; seed++) {
      const random = new Random(seed);
      const sum = new GzipSum();
      const out = [GZIP_HEAD];
      const wanted: Buffer[] = [];
      for (let n = random.below(6); n > 0; n--) {
        const plain = text(random, random.pick([1, 3, 300, 90_000]));
        wanted.push(plain);
        const kind = random.below(3);
        if (kind === 0) {
          sum.add({ crc: crc32(plain), length: plain.length });
          out.push(packPart(plain, random.below(10), 8));
        } else if (kind === 1) out.push(...spliced(random, packed(random, plain), sum));
        else {
          sum.addPlain(plain);
          out.push(storedBlocks(plain));
        }
      }
      out.push(sum.trailer());
      // zlib compares sum and length.
      expect(gunzipSync(Buffer.concat(out)).equals(Buffer.concat(wanted)), `seed ${seed}`).toBe(true);
    }
  });

  it('is as short as any when it holds nothing', () => {
    expect(Buffer.concat([GZIP_HEAD, new GzipSum().trailer()]).length).toBe(gzipSync('').length);
  });

  it('is summed by the true lengths of its pieces, however long', () => {
    const zeros = { crc: crc32(Buffer.alloc(2 ** 20)), length: 2 ** 20 };
    const many = new GzipSum();
    for (let n = 0; n < 5000; n++) many.add(zeros);
    const all = { crc: many.trailer().readUInt32LE(2), length: 5000 * 2 ** 20 };
    const text = Buffer.from('text before');
    const one = new GzipSum();
    one.addPlain(text);
    const other = new GzipSum();
    other.addPlain(text);
    one.add(all);
    for (let n = 0; n < 5000; n++) other.add(zeros);
    expect(one.trailer()).toEqual(other.trailer());
    expect(one.trailer().readUInt32LE(6)).toBe((text.length + all.length) % 2 ** 32);
  });

  it('leaves bytes alone that do not change', () => {
    const stream = gzipSync(Buffer.alloc(200_000, 'some text that packs'), { level: 0 });
    const places = deflatePlaces(stream);
    const data = new SplicedData({
      from: 10,
      last: places?.last ?? 0,
      stop: places?.stop ?? 0,
      crc: 0,
      length: 0,
    });
    const [first] = data.take(stream);
    expect(first?.buffer).toBe(stream.buffer);
  });
});
