// Programs that use one corner of the language, an extension, the log or the admin commands, played against both
// daemons as scenario-play.ts describes: responses, answers and the log of the sessions must be the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { isTriedAgain } from './runner.ts';
import { NOT_LOADED, playScenarios, type Scenario, scenarios } from './scenario-play.ts';
import { varnishKnows } from './varnish-modules.ts';

const there = installed('varnishd');
/** What a program imports; Varnish has some of it in a package of its own. */
const imports = (program: string): string[] =>
  [...program.matchAll(/\bimport (\w+)/g)].map((m) => m[1] ?? '');
const ALL = scenarios();
const LIST = ALL.filter((s) => varnishKnows(...imports(s.program)));
if (!there) console.warn('differential tests skipped: varnishd is not installed');
else if (LIST.length < ALL.length) {
  console.warn(
    `${ALL.length - LIST.length} scenarios skipped: their extensions are not installed for Varnish`,
  );
}

describe.skipIf(!there)('a scenario', () => {
  const box = new Sandbox('proxyd-scenarios');
  let reference: string[][] = [];
  let ours: string[][] = [];

  const play = (list: readonly Scenario[]): Promise<[string[][], string[][]]> =>
    Promise.all([playScenarios(box, 'varnish', list), playScenarios(box, 'proxyd', list)]);

  beforeAll(async () => {
    [reference, ours] = await play(LIST);
  }, 300_000);
  afterAll(() => box.dispose());

  it.for(LIST.map((s, i) => [`${s.file}: ${s.name}`, i] as const))('%s', async ([, i], { task }) => {
    // What rests on time may differ once on a busy machine: the second try plays the scenario anew, by itself.
    if (isTriedAgain(task)) {
      const [[r = []], [o = []]] = await play(LIST.slice(i, i + 1));
      reference[i] = r;
      ours[i] = o;
    }
    const theirs = reference[i] ?? [];
    const mine = ours[i] ?? [];
    expect(theirs[0]).not.toBe(NOT_LOADED);
    expect(theirs.length).toBeGreaterThan(1);
    // From where they part, so that a message that is cut says it.
    const at = theirs.findIndex((line, k) => line !== mine[k]);
    expect(mine.slice(at < 0 ? theirs.length : at)).toEqual(at < 0 ? [] : theirs.slice(at));
  });
});
