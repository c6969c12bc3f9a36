// Several ranges as one body: whatever pieces come, and however slowly what comes out is taken.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assembled } from '../../harness/assembled-parts.ts';
import { deliveryChain, Taking } from './filter-setup.ts';

const BODY = Buffer.from(Array.from({ length: 2000 }, (_, i) => i % 251));

function chainFor(range: string, head: Record<string, string> = {}) {
  return deliveryChain('range', { length: BODY.length, request: { Range: range }, head }).chain;
}

it('puts a frame around each part', async () => {
  const chain = chainFor('bytes=1000-1001,0-1', { 'Content-Type': 'image/png' });
  const boundary = chain.parts?.boundary as string;
  expect([chain.head.status, chain.head.get('content-range')]).toEqual([206, null]);
  expect(chain.head.get('content-type')).toBe(`multipart/byteranges; boundary=${boundary}`);
  const taking = await new Taking(chain).give([BODY.subarray(1000, 1002), BODY.subarray(0, 2)], true);
  const part = (range: string, from: number): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: image/png\r\nContent-Range: bytes ${range}/2000\r\n\r\n`),
      BODY.subarray(from, from + 2),
      Buffer.from('\r\n'),
    ]);
  const expected = Buffer.concat([
    part('1000-1001', 1000),
    part('0-1', 0),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  expect(taking.bytes.toString('latin1')).toBe(expected.toString('latin1'));
  expect(chain.head.get('content-length')).toBe(String(expected.length));
});

it('gives the same in any pieces', async () => {
  const spans = fc.uniqueArray(fc.nat(9), { minLength: 2, maxLength: 10 });
  const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(spans, sizes, fc.boolean(), fc.boolean(), async (places, pieces, slow, endsApart) => {
      const chain = chainFor(`bytes=${places.map((n) => `${n * 200}-${n * 200 + n * 10}`).join()}`);
      const { parts } = chain;
      if (parts === null) throw new Error('no parts');
      const read = Buffer.concat(parts.spans.map(({ from, to }) => BODY.subarray(from, to)));
      const given: Buffer[] = [];
      for (let at = 0, i = 0; at < read.length; i++) {
        const size = pieces[i % pieces.length] as number;
        given.push(read.subarray(at, at + size));
        at += size;
      }
      const taking = await new Taking(chain, slow).give(given, endsApart);
      expect(taking.outcome).toBe('whole');
      expect(taking.bytes.equals(assembled(BODY, parts))).toBe(true);
      expect(taking.bytes).toHaveLength(chain.length);
    }),
    { numRuns: 60 },
  );
});

it('has no end where a part is missing', async () => {
  const chain = chainFor('bytes=0-99,1000-1099');
  const taking = await new Taking(chain).give([BODY.subarray(0, 150)], true);
  expect(taking.bytes.length).toBeLessThan(chain.length);
  expect(taking.bytes.includes(`--${chain.parts?.boundary}--`)).toBe(false);
});

it.each([
  ['bytes=0-9,5-14', 206, 'bytes 0-14/2000'],
  ['bytes=0-9,3000-', 206, 'bytes 0-9/2000'],
  ['bytes=2000-,3000-', 416, 'bytes */2000'],
  ['bytes=0-9,x', 416, 'bytes */2000'],
  ['items=0-9,20-29', 200, null],
])('answers %s with %i and no parts', (range, status, contentRange) => {
  const { head, parts } = chainFor(range);
  expect([head.status, head.get('content-range'), parts]).toEqual([status, contentRange, null]);
});

it('leaves whole what is unpacked on its way, or of unknown length', () => {
  const request = { Range: 'bytes=0-1,1000-1001' };
  const unpacked = deliveryChain('gunzip range', { gzipped: true, length: 500, unpacked: 2000, request });
  const open = deliveryChain('range', { length: -1, request });
  for (const { chain } of [unpacked, open]) expect([chain.head.status, chain.parts]).toEqual([200, null]);
});
