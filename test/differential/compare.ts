// Plays a suite of cases against proxyd and makes a test of each case: responses, what the origin was asked and the log
// must be those of Varnish, but for the parts that `known` explains.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { LUCK } from './luck.ts';
import { type Answers, MODE, type Reference, recording } from './recording.ts';
import { ONLY_HTTP1 } from './requests-over-http2.ts';
import { playCases, type Seen, type Suite, suiteInputs } from './runner.ts';
import { CaseTimes } from './slow-machine.ts';

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

/**
 * @param name of the recording
 * @param more defines further tests, and steps before them after the suite ran
 */
export function compareCases(
  name: string,
  title: string,
  suite: Suite,
  known: Record<string, Known>,
  more: () => void = () => {},
): void {
  const answers = recording(name);
  describe(title, () => {
    const box = new Sandbox('proxyd-compare');
    const times = new CaseTimes();
    let reference: Reference<Seen>;
    let ours: Answers<Seen>;
    beforeAll(async () => {
      [reference, ours] = await answers.both(await suiteInputs(suite), (product) =>
        playCases(box, product, suite, product === 'proxyd' ? times : undefined),
      );
    }, 240_000);
    afterAll(() => box.dispose());

    it('explains only cases that exist', () => {
      const names = new Set(suite.cases.map((c) => c.name));
      expect(Object.keys(known).filter((name) => !names.has(name))).toEqual([]);
    });

    more();

    it.for(suite.cases.map((c) => c.name))('%s', (name, { skip }) => {
      skip(MODE === 'replay' && name in LUCK, LUCK[name]);
      const wanted = reference.get(name);
      skip(wanted.failure?.startsWith(ONLY_HTTP1) === true, wanted.failure ?? '');
      const seen = ours.get(name);
      const difference = known[name];
      const free: readonly string[] = difference?.parts ?? [];
      for (const part of ['client', 'origin', 'log'] as const) {
        if (free.includes(part)) continue;
        expect(times.allow(name, seen?.[part] ?? [], wanted[part]), part).toEqual(wanted[part]);
      }
      if (difference?.failure !== true) expect(seen?.failure).toBeNull();
      if (difference?.client !== undefined) {
        const heads = seen?.client.filter((line) => line.startsWith('HTTP/1.1 '));
        expect(heads).toEqual(difference.client.map((text) => `HTTP/1.1 ${text}`));
      }
    });
  });
}
