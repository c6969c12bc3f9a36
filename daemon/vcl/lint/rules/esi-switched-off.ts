// Edge-side includes that are parsed and never delivered.

import { esiPages } from '../esi-pages.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule } from '../rule.ts';
import { type At, isNought, nameOf } from '../walk.ts';

/** The place that switches includes off for every request, if nothing switches them on again. */
function switchedOff(view: ProgramView, state: string, name: string): At | undefined {
  const sets = [...view.statements(state)].filter(
    ({ statement: s }) => s.k === 'set' && nameOf(s.target) === name,
  );
  if (sets.some(({ statement: s }) => s.k === 'set' && !isNought(s.value))) return undefined;
  const sub = view.subs.get(`vcl_${state}`);
  if (sub === undefined) return undefined;
  for (const at of view.statementsOf(sub)) {
    // After a return that depends on something, no longer every request comes here.
    if (at.statement.k === 'return' || at.statement.k === 'call') return undefined;
    if (at.guards.length === 0 && sets.some((s) => s.statement === at.statement)) return at;
  }
  return undefined;
}

export const esiSwitchedOff: LintRule = {
  slug: 'esi-switched-off',
  severity: 'warning',
  explanation:
    'beresp.do_esi has pages parsed when they are fetched, resp.do_esi (req.esi in programs of version 4.0) decides at each delivery whether their includes are put in. Switched off for everybody, clients get the markup as it is. Remove one of the two, or make it depend on the request.',
  check(view, report) {
    if (esiPages(view).length === 0) return;
    const at = switchedOff(view, 'deliver', 'resp.do_esi') ?? switchedOff(view, 'recv', 'req.esi');
    if (at !== undefined)
      report(at.statement.span, 'Pages are parsed for ESI, but their includes are never put in.');
  },
};
