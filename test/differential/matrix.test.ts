// The matrix of methods, statuses, cache fields and conditions through both daemons, some nine thousand requests each:
// every response and every request to the origin must be the same. There are no exceptions.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { combinations, playMatrix } from './matrix.ts';
import { isTriedAgain } from './runner.ts';

const there = installed('varnishd');
if (!there) console.warn('differential matrix skipped: varnishd is not installed');

describe.skipIf(!there)('the matrix beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-matrix');
  let reference = new Map<string, string[]>();
  let ours = new Map<string, string[]>();

  const play = async (): Promise<void> => {
    // One after the other: a loaded machine makes a miss of a hit whose fetch has not ended.
    reference = await playMatrix(box, 'varnish');
    ours = await playMatrix(box, 'proxyd');
  };
  beforeAll(play, 120_000);
  beforeEach(async ({ task }) => {
    if (isTriedAgain(task)) await play();
  }, 120_000);
  afterAll(() => box.dispose());

  it('has answers to everything, hits and refusals among them', () => {
    const lines = [...reference.values()].flat();
    expect(lines.length).toBeGreaterThan(10_000);
    for (const part of ['Ids: 2', ': 304 Not Modified', ': 206 Partial', ': 416 ', 'origin: POST'])
      expect(lines.some((line) => line.includes(part))).toBe(true);
  });

  it.each([...new Set(combinations().map((c) => c.status))])('is the same for status %i', (status) => {
    const mine = combinations().filter((c) => c.status === status);
    const told = (seen: Map<string, string[]>): string[] =>
      mine.flatMap((c) => (seen.get(c.url) ?? ['not played']).map((l) => `${JSON.stringify(c.fields)} ${l}`));
    expect(told(ours)).toEqual(told(reference));
  });
});
