// Programs that use one corner of the language, an extension, the log or the admin commands, played against both
// daemons as scenario-play.ts describes: responses, answers and the log of the sessions must be the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { NOT_LOADED, playScenarios, scenarios } from './scenario-play.ts';
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

  beforeAll(async () => {
    [reference, ours] = await Promise.all([
      playScenarios(box, 'varnish', LIST),
      playScenarios(box, 'proxyd', LIST),
    ]);
  }, 300_000);
  afterAll(() => box.dispose());

  it.each(LIST.map((s, i) => [`${s.file}: ${s.name}`, i] as const))('%s', (_name, i) => {
    expect(reference[i]?.[0]).not.toBe(NOT_LOADED);
    expect(reference[i]?.length ?? 0).toBeGreaterThan(1);
    expect(ours[i]).toEqual(reference[i]);
  });
});
