import { describe, expect, it } from 'vitest';
import { HEAD_ERRORS } from '../../../daemon/http1/head-errors.ts';
import { HEAD_COMPLETE, HEAD_ERROR, HEAD_INCOMPLETE } from '../../../daemon/http1/head-parser.ts';
import { keep } from '../../../daemon/http1/lent-bytes.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { RequestHeadReader } from '../../../daemon/net/request-head.ts';

const LIMITS = { maxLine: 200, maxFields: 8, maxSize: 600 };

/** Reads a head that comes in pieces that end at `stops`, with the feature lenient_lf. */
function read(text: string, stops: number[], lenient = true): string {
  const reader = new RequestHeadReader();
  const msg = new HttpMessage(0);
  const bytes = Buffer.from(text, 'latin1');
  for (const stop of stops) {
    const buf = Buffer.concat([Buffer.from('..'), bytes.subarray(0, stop), Buffer.from('\n\n')]);
    const status = reader.read(buf, 2, 2 + stop, LIMITS, lenient, msg);
    if (status === HEAD_INCOMPLETE) continue;
    if (status === HEAD_ERROR) return `error ${HEAD_ERRORS[reader.head.error]?.refusal}`;
    expect(status).toBe(HEAD_COMPLETE);
    const raw = keep(reader.bytes, reader.head.lineStart[1] as number, reader.head.headEnd).toString(
      'latin1',
    );
    if (msg.n > 0) expect(raw).toBe(`${msg.lines.slice(0, msg.n).join('\r\n')}\r\n\r\n`);
    const line = `${msg.method} ${msg.url} ${msg.proto}`;
    return [
      line,
      ...msg.lines.slice(0, msg.n),
      text.slice(reader.past - 2),
      reader.leniencies?.text ?? '',
    ].join('|');
  }
  return 'incomplete';
}

describe('feature lenient_lf', () => {
  const CASES: [string, string, string][] = [
    ['a clean head', 'GET / HTTP/1.1\r\nHost: a\r\n\r\nrest', 'GET / HTTP/1.1|Host: a|rest|'],
    [
      'LF everywhere',
      'GET / HTTP/1.1\nHost: a\n\nrest',
      'GET / HTTP/1.1|Host: a|rest|LF without CR ends line 1 (and 2 more)',
    ],
    [
      'one LF',
      'GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n',
      'GET / HTTP/1.1|Host: a|X: y||LF without CR ends line 2 (header Host)',
    ],
    [
      'LF for the empty line',
      'GET / HTTP/1.0\r\n\nrest',
      'GET / HTTP/1.0|rest|LF without CR ends line 2 (the empty one)',
    ],
    [
      'empty lines before it',
      '\n\r\n\nGET / HTTP/1.0\n\n',
      'GET / HTTP/1.0||LF without CR ends line 1 (and 1 more)',
    ],
    ['a fold', 'GET / HTTP/1.1\nHost: a\n b\n\n', 'error fold'],
    ['a fold with CR LF', 'GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n', 'error fold'],
    ['a blank before the colon', 'GET / HTTP/1.1\nHost : a\n\n', 'error name_blank'],
    ['no colon', 'GET / HTTP/1.1\nHost\n\n', 'error colon_missing'],
    ['NUL', 'GET / HTTP/1.1\nHost: a\0\n\n', 'error value_control'],
    ['a bare CR', 'GET / HTTP/1.1\nHost: a\rb\n\n', 'error bare_cr'],
    ['CR CR LF', 'GET / HTTP/1.1\nHost: a\r\r\n\n', 'error bare_cr'],
    ['no version', 'GET /\n\n', 'error target'],
    ['another version', 'GET / HTTP/1.2\n\n', 'error version'],
    ['two blanks', 'GET  / HTTP/1.1\n\n', 'error target'],
    ['nothing', '\n\n', 'incomplete'],
    ['half a head', 'GET / HTTP/1.1\nHost: a\n', 'incomplete'],
    ['a head without end', `GET / HTTP/1.1\n${'X: aaaaaaaaaaaaaaaaa\n'.repeat(40)}`, 'error overflow'],
  ];
  it.each(CASES)('reads %s at every split', (_name, text, expected) => {
    expect(read(text, [text.length])).toBe(expected);
    for (let at = 1; at < text.length; at++)
      expect(read(text, [at, text.length]), `split at ${at}`).toBe(expected);
    expect(
      read(
        text,
        Array.from({ length: text.length }, (_, i) => i + 1),
      ),
    ).toBe(expected);
  });

  it('is off unless it is on', () => {
    const text = 'GET / HTTP/1.1\nHost: a\n\n';
    expect(read(text, [text.length], false)).toBe('error start_line_end');
    const other = 'GET / HTTP/1.1\r\nHost: a\n\r\n';
    expect(read(other, [other.length], false)).toBe('error bare_lf');
  });
});
