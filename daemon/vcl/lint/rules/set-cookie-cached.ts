// return (deliver) past the builtin check for Set-Cookie.

import type { Statement } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { isNought, nameOf } from '../walk.ts';

/** Whether a statement sees to it that nothing is cached. */
function forgets(s: Statement): boolean {
  if (s.k !== 'set') return false;
  const name = nameOf(s.target);
  return name === 'beresp.ttl' ? isNought(s.value) : name === 'beresp.uncacheable' && !isNought(s.value);
}

export const setCookieCached: LintRule = {
  slug: 'set-cookie-cached',
  severity: 'warning',
  explanation:
    'return (deliver) in vcl_backend_response skips the builtin program, which does not cache responses with Set-Cookie. One visitor’s session cookie is then given to everyone. Unset beresp.http.Set-Cookie, or set beresp.uncacheable for such responses, before it.',
  check(view, report) {
    if (view.mentions('backend_response', 'beresp.http.set-cookie')) return;
    for (const { statement, block, index } of view.statements('backend_response')) {
      if (
        statement.k === 'call' &&
        /^vcl_(?:beresp_|builtin_backend_response)/.test(nameOf(statement.target))
      )
        return;
      if (statement.k !== 'return' || statement.action?.text !== 'deliver') continue;
      const uncacheable = block.slice(0, index).some(forgets);
      if (uncacheable) continue;
      report(statement.span, 'Responses with Set-Cookie can come here, and are cached with it.');
      return;
    }
  },
};
