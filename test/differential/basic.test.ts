// The same program and the same exchanges through Varnish's own daemon and through proxyd: responses, requests to the
// origin, and the log must be the same. KNOWN_DIFFERENCES has the intended differences.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { CASES } from './cases.ts';
import { KNOWN_DIFFERENCES, OPEN_DIFFERENCES } from './known-differences.ts';
import { type Answers, type Reference, recording } from './recording.ts';
import { playCases, type Seen, type Suite, suiteInputs } from './runner.ts';

const answers = recording('basic');
const SUITE: Suite = { cases: CASES, program: 'basic.vcl' };

describe('proxyd beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-diff');
  let reference: Reference<Seen>;
  let ours: Answers<Seen>;

  beforeAll(async () => {
    [reference, ours] = await answers.both(await suiteInputs(SUITE), (product) =>
      playCases(box, product, SUITE),
    );
  });
  afterAll(() => box.dispose());

  it('names only cases that exist as differing', () => {
    const names = new Set(CASES.map((c) => c.name));
    const listed = [...Object.keys(KNOWN_DIFFERENCES), ...Object.keys(OPEN_DIFFERENCES)];
    expect(listed.filter((n) => !names.has(n))).toEqual([]);
  });

  describe.each(CASES.map((c) => c.name))('%s', (name) => {
    it('comes to its end in the reference', () => {
      expect(reference.get(name).failure).toBeNull();
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
          if (typeof expected === 'function') expect(seen?.[part]).toEqual(expected(wanted[part]));
          else expect(seen?.[part]).toEqual(expected ?? wanted[part]);
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
        const wanted = reference.get(name);
        const same = isDeepStrictEqual(ours.get(name), wanted);
        if (!same && open !== undefined) context.skip(`open difference: ${open}`);
        expect(ours.get(name)).toEqual(wanted);
      });
    }
  });
});
