// A header compared to "", where not set is not empty.

import type { LintRule } from '../rule.ts';
import { variable } from '../walk.ts';

export const emptyStringCompare: LintRule = {
  slug: 'empty-string-compare',
  severity: 'warning',
  explanation:
    'A header that is not there is not equal to "": == "" is false and != "" is true for it. Ask whether it is there with if (req.http.X), or for text with ~ ".".',
  check(view, report) {
    for (const e of view.expressions()) {
      if (e.k !== 'binary' || (e.op !== '==' && e.op !== '!=')) continue;
      for (const [a, b] of [
        [e.left, e.right],
        [e.right, e.left],
      ] as const) {
        const name = variable(a);
        if (b.k !== 'string' || b.value !== '' || name?.split('.')[1] !== 'http') continue;
        report(
          e.span,
          `${name} ${e.op} "" is ${e.op === '==' ? 'false' : 'true'} when the header is not there.`,
        );
      }
    }
  },
};
