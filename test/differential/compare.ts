// Plays a suite of cases against Varnish and against proxyd, and makes a test of each case: responses, what the origin
// was asked and the log must be the same, but for the parts that `known` explains.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { isTriedAgain, playCases, type Seen, type Suite } from './runner.ts';

export type Part = 'client' | 'origin' | 'log';

/** A difference that is meant, and why. A part that is not named must be the same. */
export interface Known {
  reason: string;
  parts: readonly Part[];
  /** The status lines that clients get, where `client` is free. */
  client?: readonly string[];
  /** The case ends without a response, as it should. */
  failure?: true;
}

/** @param more defines further tests; it gets what plays the whole suite once more */
export function compareCases(
  title: string,
  suite: Suite,
  known: Record<string, Known>,
  more: (playAll: () => Promise<void>) => void = () => {},
): void {
  const there = installed('varnishd');
  if (!there) console.warn('differential tests skipped: varnishd is not installed');
  describe.skipIf(!there)(title, () => {
    const box = new Sandbox('proxyd-compare');
    let reference = new Map<string, Seen>();
    let ours = new Map<string, Seen>();
    const play = (only: string | null): Promise<Map<string, Seen>[]> =>
      Promise.all((['varnish', 'proxyd'] as const).map((product) => playCases(box, product, only, suite)));
    const playAll = async (): Promise<void> => {
      [reference, ours] = (await play(null)) as [typeof reference, typeof ours];
    };
    beforeAll(playAll, 240_000);
    afterAll(() => box.dispose());

    it('explains only cases that exist', () => {
      const names = new Set(suite.cases.map((c) => c.name));
      expect(Object.keys(known).filter((name) => !names.has(name))).toEqual([]);
    });

    more(playAll);

    it.for(suite.cases.map((c) => c.name))('%s', async (name, { task }) => {
      if (isTriedAgain(task)) {
        const [theirs, own] = await play(name);
        reference.set(name, theirs?.get(name) as Seen);
        ours.set(name, own?.get(name) as Seen);
      }
      const difference = known[name];
      const free: readonly string[] = difference?.parts ?? [];
      for (const part of ['client', 'origin', 'log'] as const) {
        if (!free.includes(part)) expect(ours.get(name)?.[part], part).toEqual(reference.get(name)?.[part]);
      }
      if (difference?.failure !== true) expect(ours.get(name)?.failure).toBeNull();
      if (difference?.client !== undefined) {
        const heads = ours.get(name)?.client.filter((line) => line.startsWith('HTTP/1.1 '));
        expect(heads).toEqual(difference.client.map((text) => `HTTP/1.1 ${text}`));
      }
    });
  });
}
