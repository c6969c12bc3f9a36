// The rules of RFC 9113 and RFC 7541 that demand an error, as the table in http2-cases.md has them: however the bytes of a
// client arrive, it gets the same answer.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bytesOfFrames } from '../../harness/http2-notation.ts';
import { sampled } from '../../harness/runs.ts';
import { FakeHttp2 } from './fake-http2.ts';

interface Case {
  readonly name: string;
  readonly params: Readonly<Record<string, number>>;
  readonly bytes: Buffer;
  readonly reported: string;
}

/** Longer cases are cut at so many places only. */
const LONG = 1000;
const MOST_CUTS = 60;

const ROW = /^\| (RFC [^|]+) \| ([^|]+) \| `([^|]+)` \| `([^|]+)` \|$/;

const cases: Case[] = readFileSync(new URL('http2-cases.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, section, name, sent, reported] = ROW.exec(line) ?? [];
    if (sent === undefined || reported === undefined) return [];
    const params = Object.fromEntries(
      [...sent.matchAll(/PARAM (\w+)=(\d+) ; /g)].map(([, param, value]) => [param, Number(value)]),
    );
    const bytes = bytesOfFrames(sent.replaceAll(/PARAM \S+ ; /g, ''));
    return [{ name: `${section}: ${name}`, params, bytes, reported }];
  });

/** The words for what a client gets that sends the bytes in these pieces, and whether its connection goes on. */
function play({ params }: Case, pieces: readonly Buffer[]): string {
  const one = new FakeHttp2(params, false);
  for (const piece of pieces) one.bytes(piece);
  const reported = one.reported();
  return one.session.isOpen ? reported : `${reported}, closed`;
}

function halves(bytes: Buffer): Buffer[][] {
  const step = bytes.length < LONG ? 1 : Math.ceil(bytes.length / MOST_CUTS);
  const cuts = Array.from({ length: Math.ceil(bytes.length / step) - 1 }, (_, i) => (i + 1) * step);
  return cuts.map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
}

describe('a client', () => {
  it('has many ways to break a rule', () => {
    expect(cases.length).toBeGreaterThan(140);
  });

  it.each(cases)('$name', (each) => {
    const reported = each.reported.includes('GOAWAY') ? `${each.reported}, closed` : each.reported;
    expect(play(each, [each.bytes])).toBe(reported);
    for (const pieces of sampled(halves(each.bytes)))
      expect(play(each, pieces), `cut at ${pieces[0]?.length}`).toBe(reported);
    const single = Array.from(each.bytes, (_, at) => each.bytes.subarray(at, at + 1));
    if (single.length < 20_000) expect(play(each, single), 'byte by byte').toBe(reported);
  });
});
