// URL or Host changed after the cache key was made from them.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

export const keyChangedLate: LintRule = {
  slug: 'key-changed-late',
  severity: 'warning',
  explanation:
    'The cache key was made in vcl_hash. When URL or Host change afterwards, the backend is asked for another page than the one it is stored as, and clients get what they did not ask for. Change them in vcl_recv, or hash what they depend on too.',
  check(view, report) {
    for (const state of ['miss', 'hit', 'backend_fetch']) {
      for (const { statement } of view.statements(state)) {
        if (statement.k !== 'set' && statement.k !== 'unset') continue;
        const name = nameOf(statement.target);
        const late = state === 'backend_fetch' ? /^bereq\.url$/ : /^(?:req\.url|req\.http\.host)$/;
        if (late.test(name)) report(statement.target.span, `${name} changes after the cache key was made.`);
      }
    }
  },
};
