import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequestHead, parseResponseHead } from '../../../daemon/http1/head-parser.ts';
import { HEAD_COMPLETE, HeadResult } from '../../../daemon/http1/head-result.ts';
import {
  headSize,
  requestHeadLength,
  writeRequestHead,
  writeResponseHead,
} from '../../../daemon/http1/head-writer.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { runs } from '../../harness/runs.ts';

const LIMITS = { maxLine: 8192, maxFields: 58, maxSize: 65536 };
const TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const text = (chars: string, minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...chars), { minLength, maxLength }).map((a) => a.join(''));
const VISIBLE = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i))
  .filter((c) => c > ' ' && c !== '\u007f')
  .join('');
const field = fc.tuple(
  fc.oneof(text(TOKEN, 1, 30), fc.constantFrom('Host', 'content-length', 'X-FORWARDED-FOR')),
  text(`${VISIBLE} \t`, 0, 60),
);
const fields = fc.array(field, { maxLength: 20 });

function fill(msg: HttpMessage, list: [string, string][]): void {
  for (const [name, value] of list) msg.push(name.toLowerCase(), `${name}:${value}`);
}

function same(a: HttpMessage, b: HttpMessage): void {
  const show = (m: HttpMessage) => [
    m.method,
    m.url,
    m.proto,
    m.status,
    m.reason,
    m.keys.slice(0, m.n),
    // The parser removes blanks after a value.
    m.lines.slice(0, m.n).map((line) => line.replace(/[ \t]+$/, '')),
  ];
  expect(show(a)).toEqual(show(b));
}

describe('what is written', () => {
  it('is read back as the same request', () => {
    fc.assert(
      fc.property(
        text(TOKEN, 1, 12),
        text(VISIBLE, 1, 80),
        fields,
        fc.nat(2000),
        (method, url, list, cut) => {
          const msg = new HttpMessage(0);
          msg.method = method;
          msg.url = url;
          msg.proto = 'HTTP/1.1';
          fill(msg, list);
          const buf = Buffer.alloc(headSize(msg) + 7);
          const length = writeRequestHead(buf, 3, msg);
          expect(length).toBe(requestHeadLength(msg));
          const back = new HttpMessage(0);
          const out = new HeadResult();
          parseRequestHead(buf, 3, 3 + Math.min(cut, length), LIMITS, back, out);
          if (cut < length) {
            expect(parseRequestHead(buf, 3, 3 + length, LIMITS, back, out)).toBe(HEAD_COMPLETE);
          }
          expect(out.headEnd).toBe(3 + length);
          same(back, msg);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('is read back as the same response', () => {
    const status = fc.integer({ min: 100, max: 999 });
    fc.assert(
      fc.property(status, text(`${VISIBLE} `, 1, 30), fields, (code, reason, list) => {
        const msg = new HttpMessage(0);
        msg.proto = 'HTTP/1.1';
        msg.status = code;
        msg.reason = reason;
        fill(msg, list);
        const buf = Buffer.alloc(headSize(msg));
        const length = writeResponseHead(buf, 0, msg);
        const back = new HttpMessage(0);
        expect(parseResponseHead(buf, 0, length, LIMITS, back, new HeadResult())).toBe(HEAD_COMPLETE);
        // Blanks before a reason are no part of it.
        msg.reason = reason.replace(/^ +/, '');
        same(back, msg);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('writeResponseHead', () => {
  it('uses the encoded line only for the registered reason', () => {
    const msg = new HttpMessage(0);
    msg.status = 404;
    const buf = Buffer.alloc(200);
    for (const [reason, line] of [
      ['Not Found', 'HTTP/1.1 404 Not Found\r\n\r\n'],
      ['Gone fishing', 'HTTP/1.1 404 Gone fishing\r\n\r\n'],
      ['', 'HTTP/1.1 404 \r\n\r\n'],
    ] as const) {
      msg.reason = reason;
      expect(buf.toString('latin1', 0, writeResponseHead(buf, 0, msg))).toBe(line);
    }
  });

  it('reports when there is no room, and writes nothing', () => {
    const msg = new HttpMessage(0);
    msg.status = 200;
    msg.reason = 'OK';
    const buf = Buffer.alloc(18);
    expect(writeResponseHead(buf, 0, msg)).toBe(-1);
    expect(buf.every((b) => b === 0)).toBe(true);
  });
});
