// Branches that do nothing.

import type { LintRule } from '../rule.ts';

export const emptyBranch: LintRule = {
  slug: 'empty-branch',
  severity: 'info',
  explanation:
    'The condition is computed for nothing. Take it out, turn it round, or write what was to come here.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'if') continue;
      const followed = statement.otherwise !== null;
      statement.branches.forEach((b, i) => {
        // One that keeps others from being taken has its use.
        const last = i === statement.branches.length - 1 && !followed;
        if (b.body.length === 0 && last) report(b.cond.span, 'Nothing is done when this holds.');
      });
    }
  },
};
