// Programs that use one corner of the language, an extension, the log or the admin commands, played against both
// daemons as scenario-play.ts describes: responses, answers and the log of the sessions must be the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { MODE, type Reference, recording } from './recording.ts';
import { NOT_LOADED, playScenarios, scenarioInput, scenarios } from './scenario-play.ts';
import { varnishKnows } from './varnish-modules.ts';

/** What a program imports; Varnish has some of it in a package of its own. */
const imports = (program: string): string[] =>
  [...program.matchAll(/\bimport (\w+)/g)].map((m) => m[1] ?? '');
const ALL = scenarios();
const LIST = ALL.filter((s) => varnishKnows(...imports(s.program)));
const FILES = [...new Set(LIST.map((s) => s.file))];
const recordings = FILES.map((file) => recording(`scenarios/${file}`));
if (LIST.length < ALL.length) {
  console.warn(
    `${ALL.length - LIST.length} scenarios skipped: their extensions are not installed for Varnish`,
  );
}

describe('a scenario', () => {
  const box = new Sandbox('proxyd-scenarios');
  const reference = new Map<string, Reference<string[]>>();
  let ours: string[][] = [];

  beforeAll(async () => {
    const [theirs, own] = await Promise.all([
      MODE === 'replay' ? null : playScenarios(box, 'varnish', LIST),
      MODE === 'record' ? [] : playScenarios(box, 'proxyd', LIST),
    ]);
    ours = own;
    const seen = new Map(LIST.map((scenario, i) => [scenario, theirs?.[i] ?? []]));
    for (const [i, file] of FILES.entries()) {
      const mine = LIST.filter((s) => s.file === file);
      const inputs = new Map(mine.map((s) => [s.name, scenarioInput(s)]));
      const played = new Map(mine.map((s) => [s.name, seen.get(s) ?? []]));
      reference.set(file, recordings[i]?.settle(inputs, theirs && played) as Reference<string[]>);
    }
  }, 300_000);
  afterAll(() => box.dispose());

  it.for(LIST.map((s, i) => [`${s.file}: ${s.name}`, i] as const))('%s', ([, i]) => {
    const scenario = LIST[i];
    const theirs = reference.get(scenario?.file ?? '')?.get(scenario?.name ?? '') ?? [];
    const mine = ours[i] ?? [];
    expect(theirs[0]).not.toBe(NOT_LOADED);
    expect(theirs.length).toBeGreaterThan(1);
    // From where they part, so that a message that is cut says it.
    const at = theirs.findIndex((line, k) => line !== mine[k]);
    expect(mine.slice(at < 0 ? theirs.length : at)).toEqual(at < 0 ? [] : theirs.slice(at));
  });
});
