// Programs as operators publish them, each with the requests written for it, through Varnish's own daemon and
// through proxyd: what clients get, what the origin is asked and the log must be the same. What is meant to
// differ stands in corpus-differences.ts with its reason.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { CORPUS_DIFFERENCES } from './corpus-differences.ts';
import { corpusNames, playCorpus } from './corpus-runner.ts';
import { isTriedAgain, type Seen } from './runner.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

const NAMES = corpusNames();

function without(name: string, lines: readonly string[]): string[] {
  const known = CORPUS_DIFFERENCES[name] ?? [];
  return lines.filter((line) => !known.some((d) => d.lines.test(line)));
}

describe.skipIf(!there)('programs of the corpus beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-corpus');
  let reference = new Map<string, Seen>();
  let ours = new Map<string, Seen>();

  const play = (names: readonly string[]): Promise<Map<string, Seen>[]> =>
    Promise.all((['varnish', 'proxyd'] as const).map((product) => playCorpus(box, product, names)));
  beforeAll(async () => {
    [reference, ours] = (await play(NAMES)) as [typeof reference, typeof ours];
  }, 400_000);
  afterAll(() => box.dispose());

  it('has at least forty programs, and no difference without one', () => {
    expect(NAMES.length).toBeGreaterThanOrEqual(40);
    expect(Object.keys(CORPUS_DIFFERENCES).filter((name) => !NAMES.includes(name))).toEqual([]);
  });

  describe.each(NAMES)('%s', (name) => {
    beforeEach(async ({ task }) => {
      if (!isTriedAgain(task)) return;
      const all = await play([name]);
      for (const [i, seen] of [reference, ours].entries()) seen.set(name, all[i]?.get(name) as Seen);
    });

    it('is played to its end by both', () => {
      expect(reference.get(name)?.failure).toBeNull();
      expect(ours.get(name)?.failure).toBeNull();
    });

    it.each(['client', 'origin', 'log'] as const)('is the same for the %s', (part) => {
      const wanted = reference.get(name)?.[part] ?? [];
      expect(wanted.length).toBeGreaterThan(0);
      expect(without(name, ours.get(name)?.[part] ?? [])).toEqual(without(name, wanted));
    });
  });
});
