// Which subs of a program may wait, and what that does to their generated code: those with a call that is marked,
// and those that call such a sub. They become generators, and their callers pass on what they yield.

import type { GeneratedLine, ProgramModel, SubInfo } from './check/program.ts';

/** Stands in generated code where an answer may be waited for. */
export const YIELD = 'yield/*wait*/';

/** The subs that have to be generators. One that is also used as a value is none: an extension calls it. */
export function waitingSubs(model: ProgramModel): ReadonlySet<SubInfo> {
  const found = new Set<SubInfo>();
  const asValue = (sub: SubInfo): boolean => model.subValues.has(sub.name);
  for (const sub of model.subs.values()) {
    if (sub.lines.some((l) => l.text.includes(YIELD))) found.add(sub);
  }
  if (found.size === 0) return found;
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const sub of model.subs.values()) {
      for (const c of sub.calls) {
        const callee = model.subs.get(c.name);
        if (callee !== undefined && found.has(callee) && !asValue(callee)) found.add(sub);
      }
    }
  }
  return found;
}

/** Lines of a sub that waits: calls of others that wait yield what those yield. */
export function waitingLines(
  model: ProgramModel,
  sub: SubInfo,
  waits: ReadonlySet<SubInfo>,
): GeneratedLine[] {
  const callees = new Set<string>();
  for (const c of sub.calls) {
    const callee = model.subs.get(c.name);
    if (callee !== undefined && waits.has(callee) && !model.subValues.has(callee.name))
      callees.add(callee.js);
  }
  return sub.lines.map((line) => {
    const m = /^( *if \(\(r = )(\w+)(\(ctx\)\) !== 0\) return r;)$/.exec(line.text);
    if (m === null || !callees.has(m[2] as string)) return line;
    return { text: `${m[1]}yield* ${m[2]}${m[3]}`, span: line.span };
  });
}
