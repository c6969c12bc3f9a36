// return (hash) for everybody, with answers that were meant for someone who logged in.

import type { LintRule } from '../rule.ts';

export const authorizationCached: LintRule = {
  slug: 'authorization-cached',
  severity: 'warning',
  explanation:
    'The builtin vcl_recv passes requests with Authorization. An unconditional return (hash) skips that, so that the page of one who logged in may be given to others. Pass them, or hash the header.',
  check(view, report) {
    if (view.mentions('recv', 'req.http.authorization') || view.mentions('hash', 'req.http.authorization'))
      return;
    for (const { statement, guards } of view.statements('recv')) {
      if (
        statement.k === 'call' &&
        /^vcl_(?:req_authorization|builtin_recv)$/.test(statement.target.parts[0]?.text ?? '')
      )
        return;
      if (statement.k !== 'return' || statement.action?.text !== 'hash' || guards.length > 0) continue;
      report(statement.span, 'Every request is looked up, also one with Authorization.');
      return;
    }
  },
};
