import { constants, crc32, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflatePlaces, PackedPieces } from '../../../daemon/filters/deflate-places.ts';
import { runs } from '../../harness/runs.ts';

/** A body whose blocks of every kind lie where they were put: a stored one, a fixed one, a last one. */
const BLOCKS = Buffer.from([
  ...[31, 139, 8, 0, 0, 0, 0, 0, 0, 3],
  // Stored, not the last: five bytes of head, two of data.
  ...[0, 2, 0, 0xfd, 0xff, 65, 66],
  // Fixed and last, nothing in it: 1, 01, 0000000.
  ...[3, 0],
  ...[0, 0, 0, 0, 2, 0, 0, 0],
]);

describe('the places of deflate blocks', () => {
  it.each([
    // As Varnish's daemon logs for these.
    [`${'plain '.repeat(4)}plain`, { start: 80, last: 80, stop: 161 }],
    ['', { start: 80, last: 80, stop: 90 }],
  ])('of %j', (text, places) => {
    expect(deflatePlaces(gzipSync(text))).toEqual(places);
  });

  it('of several blocks', () => {
    expect(deflatePlaces(BLOCKS)).toEqual({ start: 80, last: 136, stop: 146 });
  });

  it('follow the file name and the other fields of the header', () => {
    const head = Buffer.concat([
      Buffer.from([31, 139, 8, 4 + 8 + 16 + 2, 0, 0, 0, 0, 0, 3, 2, 0, 1, 1]),
      Buffer.from('name\0remark\0', 'latin1'),
    ]);
    const sum = crc32(head) & 0xffff;
    const named = Buffer.concat([head, Buffer.of(sum & 255, sum >> 8), BLOCKS.subarray(10)]);
    expect(deflatePlaces(named)?.start).toBe(28 * 8);
  });

  it('end within the last byte before the trailer, whatever is packed and how', () => {
    const levels = fc.integer({ min: 0, max: 9 });
    const strategies = fc.constantFrom(
      constants.Z_DEFAULT_STRATEGY,
      constants.Z_FIXED,
      constants.Z_HUFFMAN_ONLY,
      constants.Z_RLE,
    );
    const text = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc
        .array(fc.constantFrom('<p>', 'the ', 'of ', '</p>\n', 'a'), { maxLength: 2000 })
        .map((w) => Buffer.from(w.join(''))),
    );
    fc.assert(
      fc.property(text, levels, strategies, (bytes, level, strategy) => {
        const packed = gzipSync(bytes, { level, strategy });
        const places = deflatePlaces(packed);
        expect(places?.start).toBe(80);
        expect(Math.ceil((places?.stop ?? 0) / 8)).toBe(packed.length - 8);
        expect(places?.last).toBeLessThan(places?.stop ?? 0);
      }),
      { numRuns: runs(150) },
    );
  });

  it('are not there in what is cut or is no gzip', () => {
    const packed = gzipSync('The quick brown fox jumps over the lazy dog. '.repeat(30));
    for (let n = 0; n < packed.length - 9; n += 7) expect(deflatePlaces(packed.subarray(0, n))).toBeNull();
    expect(deflatePlaces(Buffer.from('no gzip, but as long as some might be'))).toBeNull();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const places = deflatePlaces(Buffer.concat([BLOCKS.subarray(0, 10), bytes]));
        if (places !== null) expect(places.stop).toBeLessThanOrEqual((bytes.length + 10) * 8);
      }),
    );
  });

  it('are the same in any pieces, of long bodies too', () => {
    const long = Buffer.concat(
      Array.from({ length: 3000 }, (_, i) => Buffer.from(`line ${i * 7919} of many\n`)),
    );
    const bodies = [
      gzipSync(long),
      gzipSync(long, { level: 0 }),
      gzipSync(long, { strategy: constants.Z_FIXED }),
      BLOCKS,
    ];
    fc.assert(
      fc.property(fc.nat(3), fc.array(fc.nat(100_000), { maxLength: 6 }), (which, cuts) => {
        const body = bodies[which] as Buffer;
        const pieces = new PackedPieces();
        const at = [0, ...cuts.map((c) => c % body.length).sort((x, y) => x - y), body.length];
        at.slice(1).forEach((end, i) => {
          pieces.add(body.subarray(at[i], end));
        });
        expect(pieces.found()).toEqual(deflatePlaces(body));
        expect(Math.ceil((pieces.found()?.stop ?? 0) / 8)).toBe(body.length - 8);
      }),
      { numRuns: runs(200) },
    );
    const bytewise = new PackedPieces();
    for (const byte of bodies[0] as Buffer) bytewise.add(Uint8Array.of(byte));
    expect(bytewise.found()).toEqual(deflatePlaces(bodies[0] as Buffer));
  });
});
