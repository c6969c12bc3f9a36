// Edge-side includes where nothing is cached.

import { esiPages } from '../esi-pages.ts';
import type { LintRule } from '../rule.ts';

export const esiPagesPassed: LintRule = {
  slug: 'esi-pages-passed',
  severity: 'info',
  explanation:
    'Fragments are requests like any other. Where vcl_recv passes all of them, a page of twenty fragments is twenty-one requests to backends each time it is asked for. Let at least fragments be cached (req.esi_level > 0), or the page.',
  check(view, report) {
    if (esiPages(view).length === 0 || view.mentions('recv', 'req.esi_level')) return;
    const sub = view.subs.get('vcl_recv');
    if (sub === undefined) return;
    for (const { statement, guards } of view.statementsOf(sub)) {
      if (statement.k === 'call') return;
      if (statement.k !== 'return') continue;
      const action = statement.action?.text;
      if (action === 'hash') return;
      if (action === 'pass' && guards.length === 0)
        return report(statement.span, 'Pages of ESI and all their fragments are passed.');
    }
  },
};
