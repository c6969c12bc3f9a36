// The matrix of methods, statuses, cache fields and conditions through both daemons, some nine thousand requests each:
// every response and every request to the origin must be the same. There are no exceptions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { combinations, playMatrix } from './matrix.ts';
import { type Answers, type Reference, recording } from './recording.ts';

const answers = recording('matrix');

describe('the matrix beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-matrix');
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;

  beforeAll(async () => {
    const inputs = new Map(combinations().map((c) => [c.url, JSON.stringify(c)]));
    // One after the other: a loaded machine makes a miss of a hit whose fetch has not ended.
    [reference, ours] = await answers.both(inputs, (product) => playMatrix(box, product), 'in turn');
  }, 240_000);
  afterAll(() => box.dispose());

  it('has answers to everything, hits and refusals among them', () => {
    const lines = reference.values().flat();
    expect(lines.length).toBeGreaterThan(10_000);
    for (const part of ['Ids: 2', ': 304 Not Modified', ': 206 Partial', ': 416 ', 'origin: POST'])
      expect(lines.some((line) => line.includes(part))).toBe(true);
  });

  it.each([...new Set(combinations().map((c) => c.status))])('is the same for status %i', (status) => {
    const mine = combinations().filter((c) => c.status === status);
    const told = (seen: { get(url: string): string[] | undefined }): string[] =>
      mine.flatMap((c) => (seen.get(c.url) ?? ['not played']).map((l) => `${JSON.stringify(c.fields)} ${l}`));
    expect(told(ours)).toEqual(told(reference));
  });
});
