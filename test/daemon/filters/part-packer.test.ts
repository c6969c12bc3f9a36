// Parts of packed pages, with one compressor for many of them.
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GZIP_HEAD, GzipSum, packPart } from '../../../daemon/esi/gzip-stitch.ts';
import { packInTurn } from '../../../daemon/filters/part-packer.ts';
import { Random } from '../../fuzz/random.ts';

const END = Buffer.from([3, 0]);

describe('parts that one compressor packs', () => {
  it('are what a compressor of their own makes of each, at changing settings', () => {
    const text = Buffer.from('a text that comes again, a text that comes again, and again\n'.repeat(270));
    for (const level of [1, 6, 9, 0, 6])
      for (const memLevel of [1, 8])
        for (const length of [33, 200, 5000, 16_000])
          expect(packInTurn(text.subarray(0, length), level, memLevel)).toEqual(
            packPart(text.subarray(0, length), level, memLevel),
          );
  });

  it('can each be read without those before them', () => {
    const first = Buffer.from('the quick brown fox jumps over the lazy dog, and back'.repeat(2));
    packInTurn(first, 6, 8);
    expect(inflateRawSync(Buffer.concat([packInTurn(first, 6, 8), END])).equals(first)).toBe(true);
  });

  it('make one stream, whatever their bytes are', () => {
    const random = new Random(43);
    const sum = new GzipSum();
    const plain: Buffer[] = [];
    const packed: Buffer[] = [GZIP_HEAD];
    for (let i = 0; i < 300; i++) {
      const part = Buffer.from(
        Array.from({ length: random.below(i % 10 === 0 ? 16_384 : 400) }, () =>
          random.below(i % 3 === 0 ? 256 : 4),
        ),
      );
      plain.push(part);
      packed.push(packInTurn(part, 6, 8));
      sum.add({ crc: crc32(part), length: part.length });
    }
    const whole = gunzipSync(Buffer.concat([...packed, sum.trailer()]));
    expect(whole.equals(Buffer.concat(plain))).toBe(true);
  });
});
