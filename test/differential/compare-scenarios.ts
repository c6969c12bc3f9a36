// Makes a test of each scenario of some files: programs that use one corner of the language, an extension, the log or
// the admin commands, played as scenario-play.ts describes. Responses, answers and the log of the sessions must be
// those of Varnish.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { LUCK } from './luck.ts';
import { MODE, type Reference, recording } from './recording.ts';
import {
  FOLDERS,
  type Folder,
  NOT_LOADED,
  playScenarios,
  scenarioInput,
  scenarios,
  titleOf,
} from './scenario-play.ts';
import { CaseTimes } from './slow-machine.ts';
import { varnishKnows } from './varnish-modules.ts';

/** Imports of a program; Varnish has some of them in a package of its own. */
const imports = (program: string): string[] =>
  [...program.matchAll(/\bimport (\w+)/g)].map((m) => m[1] ?? '');
/**
 * @param among the files whose names match
 * @param folder whose scenarios; it says which release they are played on
 */
export function compareScenarios(among: RegExp, folder: Folder = 'scenarios'): void {
  const all = scenarios(folder).filter(({ file }) => among.test(file));
  const list = all.filter((s) => varnishKnows(...imports(s.program)));
  const files = [...new Set(list.map((s) => s.file))];
  const recordings = files.map((file) => recording(`${folder}/${file}`, FOLDERS[folder]));
  if (list.length < all.length) {
    console.warn(
      `${all.length - list.length} scenarios skipped: their extensions are not installed for Varnish`,
    );
  }

  describe('a scenario', () => {
    const box = new Sandbox('proxyd-scenarios');
    const reference = new Map<string, Reference<string[]>>();
    const times = new CaseTimes();
    let ours: string[][] = [];

    beforeAll(async () => {
      const [theirs, own] = await Promise.all([
        MODE === 'replay' ? null : playScenarios(box, 'varnish', list, undefined, folder),
        MODE === 'record' ? [] : playScenarios(box, 'proxyd', list, times, folder),
      ]);
      ours = own;
      const seen = new Map(list.map((scenario, i) => [scenario, theirs?.[i] ?? []]));
      for (const [i, file] of files.entries()) {
        const mine = list.filter((s) => s.file === file);
        const inputs = new Map(mine.map((s) => [s.name, scenarioInput(s)]));
        const played = new Map(mine.map((s) => [s.name, seen.get(s) ?? []]));
        reference.set(file, recordings[i]?.settle(inputs, theirs && played) as Reference<string[]>);
      }
    }, 300_000);
    afterAll(() => box.dispose());

    it.for(list.map((s, i) => [titleOf(s), i] as const))('%s', ([name, i], { skip }) => {
      skip(MODE === 'replay' && name in LUCK, LUCK[name]);
      const scenario = list[i];
      const theirs = reference.get(scenario?.file ?? '')?.get(scenario?.name ?? '') ?? [];
      const mine = times.allow(name, ours[i] ?? [], theirs);
      expect(theirs[0]).not.toBe(NOT_LOADED);
      expect(theirs.length).toBeGreaterThan(1);
      // From where they part, so that a message that is cut says it.
      const at = theirs.findIndex((line, k) => line !== mine[k]);
      expect(mine.slice(at < 0 ? theirs.length : at)).toEqual(at < 0 ? [] : theirs.slice(at));
    });
  });
}
