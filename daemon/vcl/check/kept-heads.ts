// Whether a program may need the original of a head that it changes: for std.rollback, for fragments of a page that it
// makes, or in a vcl_synth that a failure leads to. Nearly every statement can fail; but if vcl_synth reads no part of the request that the
// program changes, and does not restart it, restoring the head makes no difference.

import type { KeptHeads } from '../../contract/program.ts';
import type { ProgramModel, SubInfo } from './program-model.ts';

/** Variables of the head that is restored. */
const OF_HEAD: ReadonlySet<string> = new Set(['req.method', 'req.url', 'req.proto']);
/** The headers that, besides vcl_synth, decide how its page is sent if it has status 200. */
const RANGES: readonly string[] = ['req.range', 'req.if-range'];
const RANGED_METHOD = 'req.method';

export function keptHeads(model: ProgramModel): KeptHeads {
  const subs = [...model.subs.values()];
  return {
    request: subs.some((sub) => sub.restores.has('req') || makesPages(sub)) || synthLooksBack(model, subs),
    fetch: subs.some((sub) => sub.restores.has('bereq')),
  };
}

/** Whether it may have a response parsed for edge-side includes. */
function makesPages(sub: SubInfo): boolean {
  return sub.writesVariables.has('beresp.do_esi') || sub.writesVariables.has('beresp.filters');
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
