// Whether a program may want a head back as it was before it changed it: by std.rollback, or in a vcl_synth that a
// failure leads to. Nearly every statement can fail; but where vcl_synth looks at nothing of the request that the
// program changes, and does not begin it again, nobody can tell whether it was brought back.

import type { KeptHeads } from '../../contract/program.ts';
import type { ProgramModel, SubInfo } from './program.ts';

/** Variables of the head that is brought back. */
const OF_HEAD: ReadonlySet<string> = new Set(['req.method', 'req.url', 'req.proto']);
/** What decides besides vcl_synth how its page is sent, when it makes a 200 of it. */
const RANGES: readonly string[] = ['req.range', 'req.if-range'];
const RANGED_METHOD = 'req.method';

export function keptHeads(model: ProgramModel): KeptHeads {
  const subs = [...model.subs.values()];
  return {
    request: subs.some((sub) => sub.restores.has('req')) || synthLooksBack(model, subs),
    fetch: subs.some((sub) => sub.restores.has('bereq')),
  };
}

function synthLooksBack(model: ProgramModel, subs: readonly SubInfo[]): boolean {
  const synth = reached(model, 'vcl_synth');
  if (!synth.some((sub) => sub.user)) return false;
  if (synth.some((sub) => sub.returns.has('restart'))) return true;
  const fields = [...RANGES, ...synth.flatMap((sub) => [...sub.reads])];
  const variables = [RANGED_METHOD, ...synth.flatMap((sub) => [...sub.readsVariables])];
  const changed = new Set(subs.flatMap((sub) => [...sub.writes]));
  const set = new Set(subs.flatMap((sub) => [...sub.writesVariables]));
  if (fields.includes('*') || changed.has('*')) return true;
  return (
    fields.some((field) => field.startsWith('req.') && changed.has(field)) ||
    variables.some((name) => OF_HEAD.has(name) && set.has(name))
  );
}

/** A sub and all that it calls. */
function reached(model: ProgramModel, name: string): SubInfo[] {
  const found = new Set<SubInfo>();
  const visit = (at: string): void => {
    const sub = model.subs.get(at);
    if (sub === undefined || found.has(sub)) return;
    found.add(sub);
    for (const call of sub.calls) visit(call.name);
  };
  visit(name);
  return [...found];
}
