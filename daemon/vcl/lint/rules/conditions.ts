// Rules about conditions.

import type { Expr } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { calledName, constantText, expressions, ownExpressions, sameText, variable } from '../walk.ts';

/** The value of a constant condition, or null. */
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

/** Constant conditions. */
export const constantCondition: LintRule = {
  slug: 'constant-condition',
  severity: 'warning',
  explanation:
    'The condition does not depend on the request. A string always differs from at least one of two others: x != "a" || x != "b" is always true, && was meant.',
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

/** A branch whose condition an earlier branch has tested. */
export const repeatedCondition: LintRule = {
  slug: 'repeated-condition',
  severity: 'warning',
  explanation:
    'Only the first branch whose condition is true runs, so a later branch with the same condition never does.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'if') continue;
      const conds = statement.branches.map((b) => b.cond);
      conds.forEach((cond, i) => {
        // A function may return something else the second time.
        if ([...expressions(cond)].some((e) => calledName(e) !== null || e.k === 'member')) return;
        if (conds.slice(0, i).some((c) => sameText(c, cond)))
          report(cond.span, 'An earlier branch has the same condition.');
      });
    }
  },
};

/** Comparisons with a letter case that the other side never has. */
export const caseOfText: LintRule = {
  slug: 'case-never-equal',
  severity: 'warning',
  explanation:
    '== and != compare byte by byte. Methods are written in capitals, and clients send host names in lower case (the builtin program makes sure of it), so the other spelling never matches.',
  check(view, report) {
    for (const e of view.expressions()) {
      if (e.k !== 'binary' || (e.op !== '==' && e.op !== '!=')) continue;
      const name = variable(e.left);
      const text = constantText(e.right);
      if (name === null || text === null) continue;
      if (/^(?:req|bereq)\.method$/.test(name) && /[a-z]/.test(text)) {
        report(
          e.right.span,
          `Methods are in capitals: "${text}" never matches.`,
          `Write "${text.toUpperCase()}".`,
        );
      }
      if (/^(?:req|bereq)\.http\.host$/.test(name) && /[A-Z]/.test(text)) {
        report(e.right.span, `Host is compared with capitals.`, `Write "${text.toLowerCase()}".`);
      }
      if (/^(?:req|bereq)\.http\.host$/.test(name) && text.includes('/')) {
        report(e.right.span, 'Host contains a name and a port: neither scheme nor path.');
      }
      if (/^(?:req|bereq)\.url$/.test(name) && text !== '' && text !== '*' && !text.startsWith('/')) {
        report(e.right.span, `${name} begins with "/": it is never "${text}".`);
      }
    }
  },
};

/** A header compared to "", although unset is not empty. */
export const emptyStringCompare: LintRule = {
  slug: 'empty-string-compare',
  severity: 'warning',
  explanation:
    'A missing header is not equal to "": == "" is false and != "" is true for it. Test for presence with if (req.http.X), or for content with ~ ".".',
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
            `${name} ${e.op} "" is ${e.op === '==' ? 'false' : 'true'} when the header is missing.`,
          );
        }
      }
    }
  },
};

/** Headers that a condition, or a conjunct of it, requires to exist. */
function asked(e: Expr): string[] {
  if (e.k === 'paren') return asked(e.value);
  if (e.k === 'binary' && e.op === '&&') return [...asked(e.left), ...asked(e.right)];
  const name = e.k === 'not' ? variable(e.value) : variable(e);
  return name === null ? [] : [name];
}
