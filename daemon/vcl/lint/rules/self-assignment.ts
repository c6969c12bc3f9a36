// set x = x.

import type { LintRule } from '../rule.ts';
import { nameOf, variable } from '../walk.ts';

export const selfAssignment: LintRule = {
  slug: 'self-assignment',
  severity: 'info',
  explanation:
    'A variable set to itself stays what it is; one of the two names is probably another variable’s.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'set' || statement.op !== '=') continue;
      // A header set to itself becomes one line, and an unset one becomes empty: some do that on purpose.
      const name = nameOf(statement.target);
      if (variable(statement.value) === name) report(statement.span, `${name} is set to itself.`);
    }
  },
};
