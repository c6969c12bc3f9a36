// Checks what each state can reach through its calls: illegal variables and returns, recursion, unused subs,
// and the headers that a state uses.

import { type KeptHeads, STATES, type StateFacts } from '../../contract/program.ts';
import { type Note, nearest, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { LIMITS } from '../tables/language.ts';
import { countSteps } from '../typed-program.ts';
import { ALL_STATES, type ProgramModel, type SubInfo } from './program-model.ts';

/** Checks every state and marks what is used; `unusedIsError` is the parameter vcc_err_unref. */
export function checkReach(model: ProgramModel, unusedIsError: boolean): void {
  try {
    findRecursion(model);
  } catch (e) {
    if (e instanceof TooDeep) return;
    throw e;
  }
  if (model.reporter.errors.length === 0) boundWork(model);
  STATES.forEach((state, id) => {
    const name = `vcl_${state}`;
    const seen = new Set<string>();
    const visit = (sub: SubInfo, chain: Note[]): void => {
      seen.add(sub.name);
      sub.used = true;
      for (const r of sub.restrictions) {
        if ((r.mask & (1 << id)) === 0) {
          const hint = typeof r.hint === 'function' ? r.hint(name) : r.hint;
          model.reporter.error(r.message(name), r.span, hint, chain);
        }
      }
      for (const c of sub.calls) {
        const next = model.subs.get(c.name);
        if (next === undefined || seen.has(c.name)) continue;
        visit(next, [{ message: `...called from '${sub.name}':`, span: c.span }, ...chain]);
      }
    };
    const root = model.subs.get(name);
    if (root !== undefined) visit(root, []);
  });
  const markUsed = (name: string): void => {
    const sub = model.subs.get(name);
    if (sub === undefined || sub.used) return;
    sub.used = true;
    for (const c of sub.calls) markUsed(c.name);
  };
  for (const name of model.subValues) markUsed(name);
  for (const [name, span] of model.intended) {
    if (model.declared.has(name)) markUsed(model.subName(name));
    else if (!model.brokenNames.has(name)) {
      const near = nearest(name, model.declared.keys());
      const hint = near === null ? undefined : `Did you mean '${near}'?`;
      model.reporter.error(MESSAGES.notFound(name), span, hint);
    }
  }
  if (model.reporter.errors.length === 0) findImpossible(model);
  const unused = (kind: string, name: string, span: Span): void => {
    const message = MESSAGES.unused(kind, name);
    if (unusedIsError) {
      model.reporter.error(message, span, 'The parameter vcc_err_unref turns this into a warning.');
    } else model.reporter.warn(message, span);
  };
  for (const sub of model.subs.values()) {
    if (!sub.used && sub.user && !sub.builtin) unused('sub', sub.name, sub.span);
  }
  for (const sym of model.symbols.values()) {
    if (sym.kind !== 'backend' && sym.kind !== 'acl' && sym.kind !== 'probe') continue;
    const isDefault = sym.kind === 'backend' && sym.name === model.defaultBackend;
    const isDefaultProbe = sym.kind === 'probe' && sym.name === 'default';
    const isIntended = model.intended.has(sym.name);
    if (!sym.used && !isIntended && !isDefault && !isDefaultProbe && !model.forwardUses.has(sym.name)) {
      unused(sym.kind, sym.name, sym.span);
    }
  }
}

/** Without loops and recursion, calls can still double at each level: refuses programs that could run for hours. */
function boundWork(model: ProgramModel): void {
  const known = new Map<string, number>();
  let refused = false;
  const cost = (sub: SubInfo): number => {
    const before = known.get(sub.name);
    if (before !== undefined) return before;
    let steps = 1 + sub.parts.reduce((n, part) => n + countSteps(part.body), 0);
    for (const c of sub.calls) {
      const next = model.subs.get(c.name);
      if (next !== undefined) steps += cost(next);
      if (steps <= LIMITS.steps.value || refused) continue;
      // Reported once: its callers have the same error.
      refused = true;
      model.reporter.error(
        MESSAGES.tooMuchWork(c.name, LIMITS.steps.value, sub.name),
        c.span,
        'Each level of subs that call another one twice doubles the work: call it once, or keep its result.',
      );
    }
    known.set(sub.name, steps);
    return steps;
  };
  for (const sub of model.subs.values()) cost(sub);
}

/** Subs that no state can call. Of those that a state does call, the call was reported; those that are passed as values
 * are called by whatever takes them, such as a test of the program. */
function findImpossible(model: ProgramModel): void {
  const known = new Map<string, number>();
  const mask = (sub: SubInfo): number => {
    const before = known.get(sub.name);
    if (before !== undefined) return before;
    let states = sub.restrictions.reduce((left, r) => left & r.mask, ALL_STATES);
    for (const { name } of sub.calls) {
      const next = model.subs.get(name);
      if (next !== undefined) states &= mask(next);
    }
    known.set(sub.name, states);
    return states;
  };
  for (const sub of model.subs.values()) {
    if (!sub.user || sub.used || isState(sub.name) || mask(sub) !== 0) continue;
    const notes = conflict(model, sub.name).map(({ mask: states, span }) => ({
      message: `...what this uses is there in: ${statesOf(states)}`,
      span,
    }));
    model.reporter.error(MESSAGES.impossibleSub(sub.name), sub.span, undefined, notes);
  }
}

const isState = (name: string): boolean => STATES.some((state) => name === `vcl_${state}`);

function statesOf(mask: number): string {
  return STATES.filter((_, id) => (mask & (1 << id)) !== 0)
    .map((state) => `vcl_${state}`)
    .join(', ');
}

/** The restrictions of an impossible sub up to the first that leaves no state, those that change nothing left out. */
function conflict(model: ProgramModel, name: string): SubInfo['restrictions'] {
  const found: SubInfo['restrictions'] = [];
  let left = ALL_STATES;
  for (const r of reached(model, name).flatMap((sub) => sub.restrictions)) {
    if ((left & r.mask) === left) continue;
    left &= r.mask;
    found.push(r);
    if (left === 0) break;
  }
  return found;
}

class TooDeep extends Error {}

/** Throws TooDeep if calls are nested too deeply for the recursive checks after this. */
function findRecursion(model: ProgramModel): void {
  const done = new Set<string>();
  const open: { name: string; span: Span }[] = [];
  const visit = (sub: SubInfo): void => {
    if (done.has(sub.name)) return;
    for (const c of sub.calls) {
      const at = open.findIndex((o) => o.name === c.name);
      if (at >= 0) {
        const notes = open
          .slice(at + 1)
          .map((o) => ({ message: `...called from '${o.name}'`, span: o.span }));
        model.reporter.error(MESSAGES.recursion(c.name), c.span, undefined, notes);
        continue;
      }
      const next = model.subs.get(c.name);
      if (next === undefined) continue;
      if (open.length > LIMITS.callDepth.value) {
        model.reporter.error(MESSAGES.deepCalls(LIMITS.callDepth.value, sub.name), c.span);
        throw new TooDeep();
      }
      open.push({ name: c.name, span: c.span });
      visit(next);
      open.pop();
    }
    done.add(sub.name);
  };
  for (const sub of model.subs.values()) {
    open.push({ name: sub.name, span: sub.span });
    visit(sub);
    open.pop();
  }
}

/** The states in which everything that a sub reaches is legal: bits in the order of STATES. */
export function legalStates(model: ProgramModel, name: string): number {
  const seen = new Set<string>();
  let mask = ALL_STATES;
  const visit = (at: string): void => {
    const sub = model.subs.get(at);
    if (sub === undefined || seen.has(at)) return;
    seen.add(at);
    for (const r of sub.restrictions) mask &= r.mask;
    for (const c of sub.calls) visit(c.name);
  };
  visit(name);
  return mask;
}

/** Headers by state, as "owner.field" in lower case. */
export function stateFacts(model: ProgramModel): Record<string, StateFacts> {
  const out: Record<string, StateFacts> = {};
  for (const state of STATES) {
    const reads = new Set<string>();
    const writes = new Set<string>();
    let user = false;
    const seen = new Set<string>();
    const visit = (name: string): void => {
      const sub = model.subs.get(name);
      if (sub === undefined || seen.has(name)) return;
      seen.add(name);
      if (sub.user) user = true;
      for (const r of sub.reads) reads.add(r);
      for (const w of sub.writes) writes.add(w);
      for (const c of sub.calls) visit(c.name);
    };
    visit(`vcl_${state}`);
    out[`vcl_${state}`] = { builtinOnly: !user, reads: [...reads].sort(), writes: [...writes].sort() };
  }
  return out;
}

// Whether the original of a modified head has to be kept: for std.rollback, for fragments of a page that the program
// makes, or for a vcl_synth after a failure. Nearly every statement can fail; but if vcl_synth neither reads modified
// parts of the request nor restarts it, restoring the head makes no difference.

/** Variables of a restored head. */
const OF_HEAD: ReadonlySet<string> = new Set(['req.method', 'req.url', 'req.proto']);
/** Headers that affect delivery of a synthetic page with status 200. */
const RANGES: readonly string[] = ['req.range', 'req.if-range'];
const RANGED_METHOD = 'req.method';

export function keptHeads(model: ProgramModel): KeptHeads {
  const subs = [...model.subs.values()];
  return {
    request:
      subs.some((sub) => sub.restores.has('req') || enablesEsi(sub)) || synthReadsOriginal(model, subs),
    fetch: subs.some((sub) => sub.restores.has('bereq')),
  };
}

/** Whether it may enable ESI parsing of a response. */
function enablesEsi(sub: SubInfo): boolean {
  return sub.writesVariables.has('beresp.do_esi') || sub.writesVariables.has('beresp.filters');
}

function synthReadsOriginal(model: ProgramModel, subs: readonly SubInfo[]): boolean {
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

/** A sub and all subs that it calls. */
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
