// A branch whose condition an earlier branch has asked already.

import type { LintRule } from '../rule.ts';
import { calledName, expressions, sameText } from '../walk.ts';

export const repeatedCondition: LintRule = {
  slug: 'repeated-condition',
  severity: 'warning',
  explanation:
    'Of several branches the first whose condition holds is taken, so one that asks the same again is never taken.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'if') continue;
      const conds = statement.branches.map((b) => b.cond);
      conds.forEach((cond, i) => {
        // A function may answer differently the second time.
        if ([...expressions(cond)].some((e) => calledName(e) !== null || e.k === 'member')) return;
        if (conds.slice(0, i).some((c) => sameText(c, cond)))
          report(cond.span, 'An earlier branch has this condition.');
      });
    }
  },
};
