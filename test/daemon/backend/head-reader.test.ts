import { describe, expect, it } from 'vitest';
import { ResponseHeadReader } from '../../../daemon/backend/head-reader.ts';
import { OriginFailure } from '../../../daemon/backend/origin-failure.ts';
import { Leniencies } from '../../../daemon/http1/leniency.ts';
import { keep } from '../../../daemon/http1/lent-bytes.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { readCases } from '../http1/case-file.ts';

const LIMITS = { maxLine: 200, maxFields: 8, maxSize: 600 };

/** Reads bytes in pieces that end at `stops`, each in a buffer of its own that changes afterwards. */
function read(bytes: Buffer, stops: number[]): string[] {
  const leniencies = new Leniencies();
  const reader = new ResponseHeadReader(leniencies);
  const msg = new HttpMessage(0);
  const events: string[] = [];
  reader.onInterim = (head) => events.push(`interim ${head.status}`);
  let from = 0;
  for (const stop of stops) {
    const piece = Buffer.concat([Buffer.from('..'), bytes.subarray(from, stop), Buffer.from('\n\n')]);
    const got = reader.read(piece, 2, 2 + stop - from, LIMITS, msg);
    from = stop;
    if (got instanceof OriginFailure) return [`failed ${got.reason}`, `refused ${got.refusal}`];
    if (!got) {
      piece.fill('x');
      continue;
    }
    events.push(`head ${msg.proto} ${msg.status} ${msg.reason}`, ...msg.lines.slice(0, msg.n));
    const { raw } = msg;
    const lent = raw === null ? '' : keep(raw, msg.rawFrom, raw.length).toString('latin1');
    if (raw !== null) expect(lent.startsWith(`${msg.lines.slice(0, msg.n).join('\r\n')}\r\n`)).toBe(true);
    const early = reader.take();
    const rest = Buffer.concat([keep(early, 0, early.length), bytes.subarray(from)]).toString('latin1');
    return [
      ...events,
      `rest ${rest.replaceAll('\r', '\\r').replaceAll('\n', '\\n')}`,
      `lenient ${leniencies.text}`,
    ];
  }
  return ['incomplete'];
}

describe('old-response-head.md', () => {
  for (const { name, bytes, events } of readCases('old-response-head.md')) {
    it(name, () => {
      expect(read(bytes, [bytes.length])).toEqual(events);
      // Where a head that breaks is cut off, its line may yet be without an end or a name.
      const rule = (got: string[]): string[] => (got[0]?.startsWith('failed') ? got.slice(0, 1) : got);
      for (let at = 1; at < bytes.length; at++)
        expect(rule(read(bytes, [at, bytes.length])), `split at ${at}`).toEqual(rule(events));
      const each = Array.from({ length: bytes.length }, (_, i) => i + 1);
      expect(rule(read(bytes, each))).toEqual(rule(events));
    });
  }
});

describe('a head in an old form', () => {
  const ends = (text: string): string => read(Buffer.from(text, 'latin1'), [text.length])[0] as string;
  const head = 'HTTP/1.1 200 OK\r\n';

  it.each([
    ['by LF', (n: number) => `X: ${'x'.repeat(n - 3)}\n`],
    ['with a fold', (n: number) => `X: ${'x'.repeat(n - 14)}\r\n        y\r\n`],
    ['with a fold by LF', (n: number) => `X: ${'x'.repeat(n - 13)}\n        y\n`],
    ['with folds, the last of blanks', (n: number) => `X: ${'x'.repeat(n - 11)}\r\n\ty\r\n  \r\n`],
    ['with blanks before a fold', (n: number) => `X: x${' '.repeat(n - 8)}\r\n y\r\n`],
  ])('has the length of a header that came: %s', (_, line) => {
    expect(ends(`${head}A: b\n${line(200)}B: c\r\n\r\n`)).toBe('head HTTP/1.1 200 OK');
    expect(ends(`${head}A: b\n${line(201)}B: c\r\n\r\n`)).toBe('failed bad-head');
    expect(read(Buffer.from(`${head}A: b\n${line(201)}B: c\r\n\r\n`), [300])[1]).toContain(
      'line 3 (header X)',
    );
  });

  it('has the size that came', () => {
    const lines = `${'A: 1\n'.repeat(5)}${'X: '.padEnd(190, 'x')}\n${'Y: '.padEnd(190, 'x')}\n`;
    const text = (n: number): string =>
      `${head}${lines}${'Z: '.padEnd(n - head.length - lines.length - 2, 'x')}\n\n`;
    expect([text(600).length, ends(text(600))]).toEqual([600, 'head HTTP/1.1 200 OK']);
    expect(ends(text(601))).toBe('failed head-overflow');
  });

  it('counts the bytes that came, not those it was made of', () => {
    const reader = new ResponseHeadReader(new Leniencies());
    const bytes = Buffer.from('HTTP/1.1 200 OK\nX: y\n\nbody');
    expect(reader.read(bytes, 0, bytes.length, LIMITS, new HttpMessage(0))).toBe(true);
    expect(reader.bytes).toBe(22);
  });
});
