// A body in several pieces, given to a page that still uses the one before: all of it comes, in order.
import { expect, it } from 'vitest';
import { PageOutput } from '../../../daemon/filters/page-output.ts';
import { own } from '../../../daemon/flow/piece.ts';
import { PageSink, writeStored } from '../../../daemon/request/fragment-body.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { RequestAttempt } from '../../../daemon/transaction/request-attempt.ts';
import { bytesOf, sinkOf, textOf } from '../flow/flow-ends.ts';

/** Larger than what a page puts together. */
const PIECE = 40_000;

it.each([
  ['takes all at once', 0],
  ['is in use after each piece', 1],
  ['is in use after every second piece', 2],
])('goes into a page whose client %s', async (_name, every) => {
  const got: string[] = [];
  let given = 0;
  const sink = sinkOf((piece) => {
    got.push(textOf(piece));
    if (every === 0 || ++given % every !== 0) return 'more';
    setImmediate(() => output.room());
    return 'wait';
  });
  const output: PageOutput = new PageOutput(sink, null, null);
  const body = new PageSink({ attempt: new RequestAttempt() }, output, 'raw');
  const texts = Array.from({ length: 24 }, (_, i) => String.fromCharCode(97 + i).repeat(PIECE));
  // In writes of one to four pieces, each begun when the one before has been taken.
  for (let at = 0, count = 1; at < texts.length; at += count, count = (count % 4) + 1) {
    const parts = texts.slice(at, at + count).map((text) => Buffer.from(text));
    await new Promise<void>((taken) => {
      body.connect({ room: taken, stop: () => undefined });
      if (body.write(own(...parts)) === 'more') taken();
    });
  }
  expect(got.join('')).toBe(texts.join(''));
});

it('a small stored body in several places goes into a page once that has sent on what it had', () => {
  const got: string[] = [];
  const sink = sinkOf((piece) => {
    got.push(textOf(piece));
    return 'wait';
  });
  const output: PageOutput = new PageOutput(sink, null, null);
  const before = 'x'.repeat(16_000);
  for (let i = 0; i < 2; i++) output.write(bytesOf(before));
  const body = Buffer.from(`${'a'.repeat(3000)}${'b'.repeat(3000)}${'c'.repeat(3000)}`);
  // Data to be kept is copied: its owner may release it meanwhile.
  expect(output.makesRoom(body.length)).toBe(false);
  expect(got.join('')).toBe(before + before);
  output.room();
  expect(output.makesRoom(body.length)).toBe(true);
  const reading = {
    slice: (_oc: number, from: number, max: number) =>
      Buffer.from(body.subarray(from, from + Math.min(max, 3000))),
  };
  writeStored(
    { core: { cache: { reading, references: {} } }, attempt: { oc: 1 } } as unknown as Request,
    output,
    body.length,
  );
  output.flush();
  expect(got.join('')).toBe(before + before + body);
});
