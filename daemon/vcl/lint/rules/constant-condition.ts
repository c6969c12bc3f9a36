// Conditions that are the same for every request.

import type { Expr } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { calledName, expressions, sameText, variable } from '../walk.ts';

/** The value of a condition that is known beforehand, or null. */
function value(e: Expr): boolean | null {
  switch (e.k) {
    case 'paren':
      return value(e.value);
    case 'not': {
      const v = value(e.value);
      return v === null ? null : !v;
    }
    case 'path': {
      const name = variable(e);
      return name === 'true' ? true : name === 'false' ? false : null;
    }
    case 'binary': {
      if (e.op === '&&' || e.op === '||') {
        const sides = [value(e.left), value(e.right)];
        const decides = e.op === '||';
        if (sides.includes(decides)) return decides;
        return sides.includes(null) ? null : !decides;
      }
      if (e.op !== '==' && e.op !== '!=') return null;
      if (e.left.k === 'string' && e.right.k === 'string')
        return (e.left.value === e.right.value) === (e.op === '==');
      const asks = [...expressions(e)].some((x) => calledName(x) !== null);
      return !asks &&
        e.left.k === 'path' &&
        sameText(e.left, e.right) &&
        !e.left.parts.some((p) => p.text === 'http')
        ? e.op === '=='
        : null;
    }
    default:
      return null;
  }
}

/** `a != "x" || a != "y"`: always true; `a == "x" && a == "y"`: always false. */
function contradiction(e: Expr): boolean | null {
  if (e.k === 'paren') return contradiction(e.value);
  if (e.k !== 'binary' || (e.op !== '||' && e.op !== '&&')) return null;
  const want = e.op === '||' ? '!=' : '==';
  const sides = [e.left, e.right].map((s) => (s.k === 'paren' ? s.value : s));
  const [a, b] = sides;
  if (a?.k !== 'binary' || b?.k !== 'binary' || a.op !== want || b.op !== want) return null;
  if (a.right.k !== 'string' || b.right.k !== 'string' || a.right.value === b.right.value) return null;
  return sameText(a.left, b.left) ? e.op === '||' : null;
}

export const constantCondition: LintRule = {
  slug: 'constant-condition',
  severity: 'warning',
  explanation:
    'The condition does not depend on the request. A text is always different from at least one of two others: x != "a" || x != "b" is always true, && was meant.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'if') continue;
      for (const { cond } of statement.branches) {
        const v = value(cond);
        if (v !== null) report(cond.span, `This condition is always ${v}.`);
        for (const e of expressions(cond)) {
          const c = contradiction(e);
          if (c !== null && e.k !== 'paren') report(e.span, `This is always ${c}.`);
        }
      }
    }
  },
};
