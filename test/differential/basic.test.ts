// The same program and the same exchanges through Varnish's own daemon and through proxyd: responses,
// what the origin was asked, and the log must be the same. Varnish's daemon is run twice, to show that
// what the normaliser leaves is the same from run to run. KNOWN_DIFFERENCES holds what is meant to differ.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { CASES } from './cases.ts';
import { KNOWN_DIFFERENCES, OPEN_DIFFERENCES } from './known-differences.ts';
import { isTriedAgain, playCases, type Seen } from './runner.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

describe.skipIf(!there)('proxyd beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-diff');
  let reference = new Map<string, Seen>();
  let again = new Map<string, Seen>();
  let ours = new Map<string, Seen>();

  const play = (only: string | null): Promise<Map<string, Seen>[]> =>
    Promise.all((['varnish', 'varnish', 'proxyd'] as const).map((product) => playCases(box, product, only)));
  beforeAll(async () => {
    [reference, again, ours] = (await play(null)) as [typeof reference, typeof again, typeof ours];
  }, 180_000);
  afterAll(() => box.dispose());

  it('names only cases that exist as differing', () => {
    const names = new Set(CASES.map((c) => c.name));
    const listed = [...Object.keys(KNOWN_DIFFERENCES), ...Object.keys(OPEN_DIFFERENCES)];
    expect(listed.filter((n) => !names.has(n))).toEqual([]);
  });

  describe.each(CASES.map((c) => c.name))('%s', (name) => {
    beforeEach(async ({ task }) => {
      if (!isTriedAgain(task)) return;
      const all = await play(name);
      for (const [i, seen] of [reference, again, ours].entries()) seen.set(name, all[i]?.get(name) as Seen);
    });

    it('is the same in two runs of the reference', () => {
      expect(again.get(name)).toEqual(reference.get(name));
      expect(reference.get(name)?.failure).toBeNull();
    });

    const known = KNOWN_DIFFERENCES[name];
    const open = OPEN_DIFFERENCES[name];
    if (known !== undefined) {
      it(`differs: ${known.reason}`, () => {
        const seen = ours.get(name);
        const wanted = reference.get(name);
        expect(seen?.failure).toBeNull();
        for (const part of ['client', 'origin', 'log'] as const) {
          const expected = known[part];
          if (expected === 'any') continue;
          if (typeof expected === 'function') expect(seen?.[part]).toEqual(expected(wanted?.[part] ?? []));
          else expect(seen?.[part]).toEqual(expected ?? wanted?.[part]);
        }
        const { status, instead, says, words } = known;
        const first = (of: Seen | undefined): string | undefined =>
          of?.client.find((line) => line.startsWith('HTTP/'));
        if (status !== undefined) expect(first(seen)).toBe(`HTTP/1.1 ${status}`);
        if (instead !== undefined) expect(first(wanted)).toBe(`HTTP/1.1 ${instead}`);
        if (says !== undefined)
          expect(seen?.log.filter((line) => line.includes(says)).join('\n')).toContain(words);
      });
    } else {
      it('is the same', (context) => {
        const same = isDeepStrictEqual(ours.get(name), reference.get(name));
        if (!same && open !== undefined) context.skip(`open difference: ${open}`);
        expect(ours.get(name)).toEqual(reference.get(name));
      });
    }
  });
});
