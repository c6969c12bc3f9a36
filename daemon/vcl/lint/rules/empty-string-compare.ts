// A header compared to "", where not set is not empty.

import type { Expr } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { expressions, ownExpressions, variable } from '../walk.ts';

export const emptyStringCompare: LintRule = {
  slug: 'empty-string-compare',
  severity: 'warning',
  explanation:
    'A header that is not there is not equal to "": == "" is false and != "" is true for it. Ask whether it is there with if (req.http.X), or for text with ~ ".".',
  check(view, report) {
    for (const { statement, guards } of view.statements()) {
      const own = ownExpressions(statement);
      const there = new Set([...guards, ...own].flatMap(asked));
      for (const e of own.flatMap((x) => [...expressions(x)])) {
        if (e.k !== 'binary' || (e.op !== '==' && e.op !== '!=')) continue;
        for (const [a, b] of [
          [e.left, e.right],
          [e.right, e.left],
        ] as const) {
          const name = variable(a);
          if (b.k !== 'string' || b.value !== '' || name?.split('.')[1] !== 'http' || there.has(name))
            continue;
          report(
            e.span,
            `${name} ${e.op} "" is ${e.op === '==' ? 'false' : 'true'} when the header is not there.`,
          );
        }
      }
    }
  },
};

/** Headers that a condition, or a part of it that must hold too, asks for being there. */
function asked(e: Expr): string[] {
  if (e.k === 'paren') return asked(e.value);
  if (e.k === 'binary' && e.op === '&&') return [...asked(e.left), ...asked(e.right)];
  const name = e.k === 'not' ? variable(e.value) : variable(e);
  return name === null ? [] : [name];
}
