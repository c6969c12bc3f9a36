// A life for every response, also for those that say they are private.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

export const ttlIgnoresPrivate: LintRule = {
  slug: 'ttl-ignores-private',
  severity: 'warning',
  explanation:
    'beresp.ttl is set for every response and return (deliver) skips the builtin program, which does not cache what says Cache-Control: private, no-cache or no-store. Ask for beresp.http.Cache-Control, or leave the return to the builtin program.',
  check(view, report) {
    if (view.fallsThrough('backend_response')) return;
    if (view.mentions('backend_response', 'beresp.http.cache-control')) return;
    for (const { statement, guards } of view.statements('backend_response')) {
      if (statement.k !== 'set' || guards.length > 0 || nameOf(statement.target) !== 'beresp.ttl') continue;
      if (statement.value.k !== 'number' || Number(statement.value.text) === 0) continue;
      report(statement.span, 'Private responses get this life too.');
      return;
    }
  },
};
