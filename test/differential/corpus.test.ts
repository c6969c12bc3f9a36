// Programs as published by operators, each with requests written for it, through Varnish's own daemon and through
// proxyd: responses, requests to the origin and the log must be the same. Intended differences are in
// corpus-differences.ts with their reasons.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { CORPUS_DIFFERENCES } from './corpus-differences.ts';
import { corpusInput, corpusNames, playCorpus } from './corpus-runner.ts';
import { type Answers, type Reference, recording } from './recording.ts';
import type { Seen } from './runner.ts';

const answers = recording('corpus');
const NAMES = corpusNames();

function without(name: string, lines: readonly string[]): string[] {
  const known = CORPUS_DIFFERENCES[name] ?? [];
  return (
    lines
      .filter((line) => !known.some((d) => d.lines.test(line)))
      // A slow machine takes seconds of what is left of a ttl.
      .map((line) => line.replace(/( hit ttl=)(?:9\d|100)\b/, '$1ABOUT 100'))
  );
}

describe('programs of the corpus beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-corpus');
  let reference: Reference<Seen>;
  let ours: Answers<Seen>;

  beforeAll(async () => {
    const inputs = new Map(NAMES.map((name) => [name, corpusInput(name)]));
    [reference, ours] = await answers.both(inputs, (product) => playCorpus(box, product, NAMES));
  }, 400_000);
  afterAll(() => box.dispose());

  it('has at least forty programs, and no difference without one', () => {
    expect(NAMES.length).toBeGreaterThanOrEqual(40);
    expect(Object.keys(CORPUS_DIFFERENCES).filter((name) => !NAMES.includes(name))).toEqual([]);
  });

  describe.each(NAMES)('%s', (name) => {
    it('is played to its end by both', () => {
      expect(reference.get(name).failure).toBeNull();
      expect(ours.get(name)?.failure).toBeNull();
    });

    it.each(['client', 'origin', 'log'] as const)('is the same for the %s', (part) => {
      const wanted = reference.get(name)[part];
      expect(wanted.length).toBeGreaterThan(0);
      expect(without(name, ours.get(name)?.[part] ?? [])).toEqual(without(name, wanted));
    });
  });
});
