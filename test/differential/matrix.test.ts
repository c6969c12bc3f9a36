// The matrix of methods, statuses, cache fields and conditions through both daemons, some nine thousand requests each:
// every response and every request to the origin must be the same. There are no exceptions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { combinations, linesOf, playMatrix, STATUSES } from './matrix.ts';
import { type Answers, type Reference, recording } from './recording.ts';
import { CaseTimes } from './slow-machine.ts';

const answers = recording('matrix');

describe('the matrix beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-matrix');
  const times = new CaseTimes();
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;

  beforeAll(async () => {
    const inputs = new Map(combinations().map((c) => [c.url, JSON.stringify(c)]));
    // One after the other: a loaded machine makes a miss of a hit whose fetch has not ended.
    [reference, ours] = await answers.both(
      inputs,
      (product) => playMatrix(box, product, product === 'proxyd' ? times : undefined),
      'in turn',
    );
  }, 240_000);
  afterAll(() => box.dispose());

  it('has answers to everything, hits and refusals among them', () => {
    const lines = reference.values().flat();
    expect(lines.length).toBeGreaterThan(10_000);
    for (const part of ['Ids: 2', ': 304 Not Modified', ': 206 Partial', ': 416 ', 'origin: POST'])
      expect(lines.some((line) => line.includes(part))).toBe(true);
  });

  it.each(STATUSES)('is the same for status %i', (status) => {
    const played = (url: string): string[] =>
      times.allow(url, ours.get(url) ?? ['not played'], reference.get(url));
    expect(linesOf(status, played)).toEqual(linesOf(status, (url) => reference.get(url)));
  });
});
