// The matrix of matrix.test.ts over HTTP/2 on both daemons, without what only HTTP/1 can ask. There are no exceptions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { linesOf, playMatrix, STATUSES } from './matrix.ts';
import { CaseTimes } from './slow-machine.ts';

describe.skipIf(!installed('varnishd'))('the matrix over HTTP/2 beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-http2-matrix');
  const times = new CaseTimes();
  let theirs: Map<string, string[]>;
  let ours: Map<string, string[]>;

  beforeAll(async () => {
    // One after the other: a loaded machine makes a miss of a hit whose fetch has not ended.
    theirs = await playMatrix(box, 'varnish', undefined, 'HTTP/2');
    ours = await playMatrix(box, 'proxyd', times, 'HTTP/2');
  }, 240_000);
  afterAll(() => box.dispose());

  it('has answers to everything, hits and refusals among them', () => {
    const lines = [...theirs.values()].flat();
    expect(lines.length).toBeGreaterThan(9000);
    for (const part of ['Ids: 2', ': 304 ', ': 206 ', ': 416 ', 'origin: POST'])
      expect(lines.some((line) => line.includes(part))).toBe(true);
  });

  it.each(STATUSES)('is the same for status %i', (status) => {
    const played = (url: string): string[] =>
      times.allow(url, ours.get(url) ?? ['not played'], theirs.get(url) ?? []);
    expect(linesOf(status, played)).toEqual(linesOf(status, (url) => theirs.get(url) ?? []));
  });
});
