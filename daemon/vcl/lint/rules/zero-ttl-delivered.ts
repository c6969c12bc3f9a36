// Responses without a life that are delivered without being marked as uncacheable.

import type { LintRule } from '../rule.ts';
import { nameOf } from '../walk.ts';

export const zeroTtlDelivered: LintRule = {
  slug: 'zero-ttl-delivered',
  severity: 'warning',
  explanation:
    'An object whose life is over when it arrives answers nobody else, yet others wait for it: requests for one URL go to the backend one after another. Set beresp.uncacheable with a life of some minutes, return (pass(…)), or leave the return to the builtin program, which does that.',
  check(view, report) {
    for (const { statement, block, index } of view.statements('backend_response')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'beresp.ttl') continue;
      if (statement.value.k !== 'number' || Number(statement.value.text) !== 0) continue;
      const marked = block.some((s) => s.k === 'set' && nameOf(s.target) === 'beresp.uncacheable');
      const delivered = block.slice(index).some((s) => s.k === 'return' && s.action?.text === 'deliver');
      if (delivered && !marked) report(statement.span, 'Requests for this will wait for each other.');
    }
  },
};
