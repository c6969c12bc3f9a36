import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fieldIn,
  gunzippedLength,
  headBytes,
  readHead,
  setGunzippedLength,
  varyStart,
  wireLength,
  wireStart,
  writeHead,
} from '../../../daemon/cache/head-codec.ts';
import type { ChunkBytes } from '../../../daemon/cache/storage/slab.ts';
import { storedNames, type VaryKey } from '../../../daemon/cache/vary.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { runs } from '../../harness/runs.ts';

function message(
  status: number,
  reason: string,
  fields: [string, string][],
  proto = 'HTTP/1.1',
): HttpMessage {
  const msg = new HttpMessage(0);
  msg.proto = proto;
  msg.status = status;
  msg.reason = reason;
  for (const [name, value] of fields) msg.push(name.toLowerCase(), `${name}: ${value}`);
  return msg;
}

function stored(msg: HttpMessage, vary: VaryKey | null, at: number): ChunkBytes {
  const bytes = headBytes(msg, vary);
  const memory = Buffer.from(new SharedArrayBuffer(bytes + at)) as ChunkBytes;
  expect(writeHead(msg, vary, memory, at)).toBe(at + bytes);
  return memory;
}

function shape(msg: HttpMessage): unknown {
  return [msg.proto, msg.status, msg.reason, msg.keys.slice(0, msg.n), msg.lines.slice(0, msg.n)];
}

describe('head codec', () => {
  it('gives back what it was given', () => {
    const name = fc.oneof(
      fc.constantFrom('Date', 'content-type', 'ETag', 'XKEY', 'Set-Cookie'),
      fc.stringMatching(/^[A-Za-z0-9-]{1,300}$/),
    );
    const value = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((c) => String.fromCharCode(c)) });
    fc.assert(
      fc.property(
        fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 999 })),
        fc.oneof(fc.constantFrom('OK', 'Hi', 'OKAY', ''), value),
        fc.array(fc.tuple(name, value), { maxLength: 20 }),
        fc.nat(40),
        (status, reason, fields, at) => {
          const msg = message(status, reason, fields);
          const memory = stored(msg, null, at);
          const back = new HttpMessage(0);
          back.push('old', 'old: field');
          readHead(memory, at, back);
          for (const key of [...msg.keys.slice(0, msg.n), 'absent', 'age']) {
            expect(fieldIn(memory, at, key)).toBe(msg.get(key));
          }
          expect(shape(back)).toEqual(shape(msg));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('keeps the wire form ready to be copied, and the variant after it', () => {
    const msg = message(
      404,
      'Not Found',
      [
        ['Date', 'x'],
        ['X-A', 'b'],
      ],
      'HTTP/1.0',
    );
    const memory = stored(msg, { names: ['accept', 'x-b'], values: [null, 'v'] }, 16);
    const start = wireStart(memory, 16);
    expect(memory.latin1Slice(start, start + wireLength(memory, 16))).toBe(
      'HTTP/1.0 404 Not Found\r\nDate: x\r\nX-A: b\r\n',
    );
    expect(storedNames(memory, varyStart(memory, 16))).toEqual(['accept', 'x-b']);
  });

  it('remembers the unpacked length once it is known', () => {
    const memory = stored(message(200, 'OK', []), null, 0);
    expect(gunzippedLength(memory, 0)).toBe(-1);
    setGunzippedLength(memory, 0, 0);
    expect(gunzippedLength(memory, 0)).toBe(0);
    setGunzippedLength(memory, 0, 3_000_000_000);
    expect(gunzippedLength(memory, 0)).toBe(3_000_000_000);
    setGunzippedLength(memory, 0, 2 ** 40);
    expect(gunzippedLength(memory, 0)).toBe(-1);
  });

  it('refuses what its table cannot describe', () => {
    expect(headBytes(message(200, 'OK', [['A', 'x'.repeat(70_000)]]), null)).toBe(-1);
  });
});
