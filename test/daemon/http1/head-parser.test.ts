import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorText, garbageLength, HEAD_ERRORS } from '../../../daemon/http1/head-errors.ts';
import { fieldLimit, parseRequestHead, parseResponseHead } from '../../../daemon/http1/head-parser.ts';
import { HEAD_COMPLETE, HEAD_ERROR, HEAD_INCOMPLETE, HeadResult } from '../../../daemon/http1/head-result.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { runs } from '../../harness/runs.ts';
import { readCases } from './case-file.ts';

/** Small, so that the cases for limits stay readable. */
const LIMITS = { maxLine: 200, maxFields: 8, maxSize: 600 };

type Parse = typeof parseRequestHead;

/** Replays bytes in pieces that end at `stops`; the buffer moves between calls when `move` is set. */
function replay(parse: Parse, bytes: Buffer, stops: number[], request: boolean, move: boolean): string[] {
  const msg = new HttpMessage(0);
  const out = new HeadResult(LIMITS.maxFields);
  let status: number = HEAD_INCOMPLETE;
  let base = 0;
  let buf = bytes;
  for (const [i, stop] of stops.entries()) {
    base = move ? (i * 7) % 11 : 0;
    buf = Buffer.alloc(base + bytes.length + 5, '\n');
    bytes.copy(buf, base);
    // Bytes after the end must never be looked at: here they are line ends.
    buf.fill('\n', base + stop);
    status = parse(buf, base, base + stop, LIMITS, msg, out);
    if (status !== HEAD_INCOMPLETE) {
      if (status === HEAD_ERROR) return errorEvents(out, buf, base + stop);
      return headEvents(msg, out, buf, base, request);
    }
  }
  return ['incomplete'];
}

function errorEvents(out: HeadResult, buf: Buffer, end: number): string[] {
  const row = HEAD_ERRORS[out.error];
  return row?.record === 'BogoHeader'
    ? [`error ${row.refusal}`, `bogus ${errorText(out, buf, end)}`]
    : [`error ${row?.refusal}`];
}

function headEvents(
  msg: HttpMessage,
  out: HeadResult,
  buf: Buffer,
  base: number,
  request: boolean,
): string[] {
  const events = request
    ? [`method ${msg.method}`, `url ${msg.url}`, `proto ${msg.proto}`]
    : [`proto ${msg.proto}`, `status ${msg.status}`, `reason ${msg.reason}`];
  expect(out.lines).toBe(msg.n + 1);
  for (let i = 0; i < msg.n; i++) {
    events.push(`${msg.keys[i]} ${msg.lines[i]}`);
    const raw = buf.toString('latin1', out.lineStart[i + 1], out.lineEnd[i + 1]);
    expect(msg.lines[i]).toBe(raw.replace(/[ \t]+$/, ''));
    if (!out.trimmed) expect(msg.lines[i]).toBe(raw);
  }
  if (out.preface) events.push('preface');
  events.push(`end ${out.headEnd - base}`);
  return events;
}

function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}

for (const [file, parse, request] of [
  ['request-head.md', parseRequestHead, true],
  ['response-head.md', parseResponseHead, false],
] as const) {
  describe(file, () => {
    for (const { name, bytes, events } of readCases(file)) {
      // The text of a bogus line that is still arriving may be cut; the reason may not differ.
      const rule = (got: string[]) =>
        request ? got : got.slice(0, got[0]?.startsWith('error') ? 1 : undefined);
      it(name, () => {
        expect(rule(replay(parse, bytes, [bytes.length], request, false))).toEqual(events);
        for (let at = 1; at < bytes.length; at++) {
          const got = rule(replay(parse, bytes, [at, bytes.length], request, at % 2 === 0));
          expect(got[0], `split at ${at}`).toEqual(events[0]);
          if (!events[0]?.startsWith('error')) expect(got, `split at ${at}`).toEqual(events);
        }
        const slow = rule(replay(parse, bytes, upTo(bytes.length), request, true));
        expect(slow[0]).toEqual(events[0]);
      });
    }
  });
}

describe('a head that arrives slowly', () => {
  it('is not scanned again before its line ends', () => {
    const text = `GET / HTTP/1.1\r\nX: ${'a'.repeat(150)}`;
    const out = new HeadResult();
    const msg = new HttpMessage(0);
    // Line ends after the received bytes do not count.
    const buf = Buffer.alloc(1000, '\n');
    buf.write(`${text}a`, 'latin1');
    expect(parseRequestHead(buf, 0, text.length, LIMITS, msg, out)).toBe(HEAD_INCOMPLETE);
    expect(out.scanFrom).toBe(text.length);
    // An invalid byte in a part already scanned is not noticed until the line ends.
    buf[20] = 0;
    expect(parseRequestHead(buf, 0, text.length + 1, LIMITS, msg, out)).toBe(HEAD_INCOMPLETE);
    buf.write('\r\n', text.length + 1, 'latin1');
    expect(parseRequestHead(buf, 0, text.length + 3, LIMITS, msg, out)).toBe(HEAD_ERROR);
  });

  it('is refused once it is too large, whatever is still to come', () => {
    const out = new HeadResult();
    const buf = Buffer.from(`GET /${'a'.repeat(2000)}`);
    expect(parseRequestHead(buf, 0, 599, LIMITS, new HttpMessage(0), out)).toBe(HEAD_INCOMPLETE);
    expect(parseRequestHead(buf, 0, 600, LIMITS, new HttpMessage(0), out)).toBe(HEAD_ERROR);
    expect(HEAD_ERRORS[out.error]).toMatchObject({ refusal: 'overflow', status: 0, close: 'RX_OVERFLOW' });
  });
});

describe('reuse of one result and one message', () => {
  it('leaves nothing of the head before', () => {
    const out = new HeadResult();
    const msg = new HttpMessage(0);
    const first = Buffer.from('PRI * HTTP/2.0\r\nA: b\r\nC: d\r\n\r\n');
    const second = Buffer.from('GET /z HTTP/1.0\r\nE: f\r\n\r\n');
    expect(parseRequestHead(first, 0, first.length, LIMITS, msg, out)).toBe(HEAD_COMPLETE);
    expect(parseRequestHead(second, 0, second.length, LIMITS, msg, out)).toBe(HEAD_COMPLETE);
    expect([msg.method, msg.url, msg.proto, msg.n, msg.lines[0], out.preface, out.lines]).toEqual([
      'GET',
      '/z',
      'HTTP/1.0',
      1,
      'E: f',
      false,
      2,
    ]);
  });
});

describe('a result used for many heads', () => {
  it('parses each as a new one would', () => {
    // Names that begin alike, so that the name remembered for a line is nearly right.
    const name = fc.constantFrom(
      'Host',
      'host',
      'Hos',
      'Hostname',
      'Host ',
      'TE',
      'Te',
      'T',
      'Accept',
      'Accept-',
      'X',
      'X-One',
      'x-oNE',
      'X-Two',
      'X-Six',
      'X-On',
      'X-One-More',
      'X-One ',
      'X One',
      `X-${'Long'.repeat(20)}`,
      '',
    );
    const value = fc.constantFrom(': a', ':', ': b c', ':\u0001', ' : a', '');
    const head = fc.array(fc.tuple(name, value), { maxLength: 5 });
    const show = (text: string, msg: HttpMessage, out: HeadResult) => {
      const buf = Buffer.from(text, 'latin1');
      const status = parseRequestHead(buf, 0, buf.length, LIMITS, msg, out);
      if (status !== HEAD_COMPLETE) return [status, out.error, out.errorLine, out.errorAt];
      return [out.headEnd, msg.keys.slice(0, msg.n), msg.lines.slice(0, msg.n)];
    };
    fc.assert(
      fc.property(fc.array(head, { minLength: 2, maxLength: 6 }), (heads) => {
        const out = new HeadResult();
        const msg = new HttpMessage(0);
        for (const fields of heads) {
          const lines = fields.map((field) => `${field.join('')}\r\n`);
          const text = `GET / HTTP/1.1\r\n${lines.join('')}\r\n`;
          expect(show(text, msg, out)).toEqual(show(text, new HttpMessage(0), new HeadResult()));
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('fieldLimit', () => {
  it('leaves the start line its places in http_max_hdr', () => {
    expect(fieldLimit(64)).toBe(59);
    expect(fieldLimit(32)).toBe(27);
  });
});

describe('garbageLength', () => {
  it.each([
    ['GET / HTTP/1.1 \r\n', 3],
    ['HTTP/1.1 20 OK\r\n', 8],
    ['hello\r\n\r\n', 9],
    ['', 0],
  ])('of %j', (text, length) => {
    expect(garbageLength(Buffer.from(`..${text}..`), 2, 2 + text.length)).toBe(length);
  });
});
