import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHUNK_END,
  CHUNK_HEAD_MAX,
  ChunkedDecoder,
  chunkHead,
  LAST_CHUNK,
} from '../../../daemon/http1/chunked.ts';
import { Leniencies } from '../../../daemon/http1/leniency.ts';
import { runs, sampled } from '../../harness/runs.ts';
import { readCases } from './case-file.ts';

/** Decodes in pieces; every byte that was not used must be at the end. */
function decode(bytes: Buffer, stops: number[], leniencies: Leniencies | null): string[] {
  const decoder = new ChunkedDecoder(leniencies);
  const data: Buffer[] = [];
  let used = 0;
  let from = 0;
  for (const stop of stops) {
    const n = decoder.decode(bytes, from, stop, (b, s, e) => {
      data.push(Buffer.from(b.subarray(s, e)));
    });
    used += n;
    if (decoder.error !== null) return [`error ${decoder.error}`];
    if (!decoder.done) expect(n).toBe(stop - from);
    from = stop;
  }
  const joined = Buffer.concat(data);
  expect(decoder.total).toBe(joined.length);
  const text = joined.toString('latin1').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  const events = [`data ${text}`, decoder.done ? 'done' : 'more', `used ${used}`];
  return leniencies === null ? events : [...events, `lenient ${leniencies.text}`];
}

for (const [file, make] of [
  ['chunked.md', () => null],
  ['chunked-of-origin.md', () => new Leniencies()],
] as const) {
  describe(file, () => {
    for (const { name, bytes, events } of readCases(file)) {
      it(name, () => {
        expect(decode(bytes, [bytes.length], make())).toEqual(events);
        for (const at of sampled([...bytes.keys(), bytes.length]))
          expect(decode(bytes, [at, bytes.length], make())).toEqual(events);
        const each = Array.from({ length: bytes.length }, (_, i) => i + 1);
        expect(decode(bytes, each, make())).toEqual(events);
      });
    }
  });
}

describe('the place of an error', () => {
  it('names the byte and how much data came before', () => {
    const decoder = new ChunkedDecoder();
    const bytes = Buffer.from('2\r\nhi\r\n3 \r\n');
    decoder.decode(bytes, 0, bytes.length, () => {});
    expect([decoder.error, decoder.place]).toEqual(['chunk_size', 'byte 0x20 after 2 bytes of data']);
  });
});

/** Calls to a sink for chunked text decoded in one read: [data, pieces] per call. */
function calls(chunks: readonly string[]): [string, number][] {
  const wire = Buffer.from(
    `${chunks.map((data) => `${data.length.toString(16)}\r\n${data}\r\n`).join('')}0\r\n\r\n`,
  );
  const seen: [string, number][] = [];
  new ChunkedDecoder().decode(wire, 0, wire.length, (buf, start, end, pieces) =>
    seen.push([Buffer.from(buf.subarray(start, end)).toString(), pieces]),
  );
  return seen;
}

describe('the sink', () => {
  it('receives all small chunks of a read at once, with their number', () => {
    expect(calls(Array.from('abc'.repeat(3000)))).toEqual([['abc'.repeat(3000), 9000]]);
  });

  it('gets what is long as it is, and in order', () => {
    const long = 'x'.repeat(5000);
    expect(calls(['a', 'b', long, 'c', long, long])).toEqual([
      ['ab', 2],
      [long, 1],
      ['c', 1],
      [long, 1],
      [long, 1],
    ]);
  });

  it('gets more than there is room for in several parts', () => {
    const chunks = Array.from({ length: 400 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(500));
    const seen = calls(chunks);
    expect(seen.map(([data]) => data).join('')).toBe(chunks.join(''));
    expect(seen.reduce((sum, [, pieces]) => sum + pieces, 0)).toBe(400);
    expect(seen.length).toBeLessThan(5);
  });

  it('may have another body decoded meanwhile', () => {
    const wire = Buffer.from('1\r\na\r\n1\r\nb\r\n');
    const other = Buffer.from('1\r\nx\r\n1\r\ny\r\n');
    const seen: string[] = [];
    new ChunkedDecoder().decode(wire, 0, wire.length, (buf, start, end) => {
      new ChunkedDecoder().decode(other, 0, other.length, (b, s, e) =>
        seen.push(Buffer.from(b.subarray(s, e)).toString()),
      );
      seen.push(Buffer.from(buf.subarray(start, end)).toString());
    });
    expect(seen).toEqual(['xy', 'ab']);
  });

  it('has had everything before an error', () => {
    const wire = Buffer.from('1\r\na\r\n1\r\nb\r\nz');
    const decoder = new ChunkedDecoder();
    let seen = '';
    decoder.decode(wire, 0, wire.length, (buf, start, end) => {
      seen += Buffer.from(buf.subarray(start, end)).toString();
    });
    expect([seen, decoder.error]).toEqual(['ab', 'chunk_size']);
  });
});

describe('chunkHead', () => {
  it('writes what the decoder reads, up to the largest exact size', () => {
    const buf = Buffer.alloc(CHUNK_HEAD_MAX);
    for (const [length, text] of [
      [1, '1\r\n'],
      [15, 'f\r\n'],
      [16, '10\r\n'],
      [65536, '10000\r\n'],
      [2 ** 40 + 10, '1000000000a\r\n'],
    ] as const) {
      expect(buf.toString('latin1', 0, chunkHead(buf, 0, length))).toBe(text);
    }
  });

  it('refuses a chunk that would end the body', () => {
    expect(() => chunkHead(Buffer.alloc(CHUNK_HEAD_MAX), 0, 0)).toThrow('would end the body');
  });

  it('is undone by the decoder for any data in any pieces', () => {
    const body = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });
    fc.assert(
      fc.property(body, fc.array(fc.nat(3000), { maxLength: 6 }), (chunks, cuts) => {
        const parts = chunks.flatMap((chunk) => {
          const head = Buffer.alloc(CHUNK_HEAD_MAX);
          return [head.subarray(0, chunkHead(head, 0, chunk.length)), Buffer.from(chunk), CHUNK_END];
        });
        const wire = Buffer.concat([...parts, LAST_CHUNK]);
        const stops = [...cuts.filter((c) => c < wire.length).sort((a, b) => a - b), wire.length];
        const decoder = new ChunkedDecoder();
        const got: Buffer[] = [];
        let from = 0;
        for (const stop of stops) {
          decoder.decode(wire, from, stop, (b, s, e) => {
            got.push(Buffer.from(b.subarray(s, e)));
          });
          from = stop;
        }
        expect(decoder.done).toBe(true);
        expect(Buffer.concat(got).equals(Buffer.concat(chunks.map((c) => Buffer.from(c))))).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});
