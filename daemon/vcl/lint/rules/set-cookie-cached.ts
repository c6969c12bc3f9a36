// return (deliver) past the builtin check for Set-Cookie.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

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
      const uncacheable = block
        .slice(0, index)
        .some(
          (s) =>
            s.k === 'set' &&
            /^beresp\.(?:uncacheable|ttl)$/.test(nameOf(s.target)) &&
            !/[1-9]/.test(textOf(s.value.span)),
        );
      if (uncacheable) continue;
      report(statement.span, 'Responses with Set-Cookie can come here, and are cached with it.');
      return;
    }
  },
};

function textOf(span: { file: { text: string }; start: number; end: number }): string {
  return span.file.text.slice(span.start, span.end);
}
