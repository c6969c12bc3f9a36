// The subs of a program that may wait: those with a call whose result may come later, and those that call such a sub.
// They become generators, and their callers delegate to them. So does a long vcl_init, which is run over many turns of the
// event loop.

import type { ProgramModel, SubInfo } from '../check/program-model.ts';
import { codesOf } from '../typed-program.ts';
import { isLong } from './statements.ts';

/** The sub that is interrupted where it is long. */
export const INIT = 'vcl_init';

/** The subs that have to be generators. */
export function waitingSubs(model: ProgramModel): ReadonlySet<SubInfo> {
  const found = new Set<SubInfo>();
  for (const sub of model.subs.values()) {
    if (sub.parts.some((part) => [...codesOf(part.body)].some((code) => code.waits))) found.add(sub);
  }
  const init = model.subs.get(INIT);
  if (init?.parts.some((part) => isLong(part.body)) === true) found.add(init);
  if (found.size === 0) return found;
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const sub of model.subs.values()) {
      if (sub.calls.some((call) => isGenerator(model, found, call.name))) found.add(sub);
    }
  }
  return found;
}

/** Whether a sub is called as a generator. One that is also used as a value is not: an extension calls it, too. */
export function isGenerator(model: ProgramModel, waits: ReadonlySet<SubInfo>, name: string): boolean {
  const sub = model.subs.get(name);
  return sub !== undefined && waits.has(sub) && !model.subValues.has(sub.name);
}
