// Operations on two values: logic, arithmetic, matching and comparing, by the types of both sides.
//
// Strings joined by + stay a list of strands until they are needed as one, so that a list can be tested for
// "all unset" and converted part by part, as in Varnish.

import type { BinaryOp, Expr } from '../ast.ts';
import type { Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { type ArithmeticOperator, COMPARABLE } from '../tables/operator-rows.ts';
import type { Type } from '../tables/type-rows.ts';
import { type BinaryOperator, binary, CONTEXT, type Code, constant, helper, wrap } from '../typed-program.ts';
import { asString, check, convert, joined, type Scope, stringCode } from './type-conversions.ts';
import { arithmetic, asNumber, isString, type Typed } from './types.ts';

/** The type in which the operands of ! && || are read: only in a STRING context may they begin with a minus sign. */
export function truthOf(want: Type): Type {
  return isString(want) ? 'STRING' : 'BOOL';
}

/** Checks an operation on two values. */
export function operation(scope: Scope, e: Extract<Expr, { k: 'binary' }>, want: Type): Typed {
  switch (e.op) {
    case '&&':
    case '||': {
      const left = convert(scope, scope.infer(scope, e.left, truthOf(want)), 'BOOL');
      const right = convert(scope, scope.infer(scope, e.right, truthOf(want)), 'BOOL');
      return { type: 'BOOL', code: binary(left.code, e.op, right.code), span: e.span };
    }
    case '~':
    case '!~':
      return matching(scope, e, want);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return sum(scope, e, e.op, want);
    default:
      return comparison(scope, e, want);
  }
}

function sum(scope: Scope, e: Extract<Expr, { k: 'binary' }>, op: ArithmeticOperator, want: Type): Typed {
  const { model } = scope;
  const regexParts = want === 'REGEX';
  const written = scope.infer(scope, e.left, regexParts ? 'STRING' : want);
  // With 7.1 an id is a text where texts can be joined, and a number elsewhere.
  const fitsText = want === 'STRING' || want === 'STRINGS' || want === 'HEADER' || regexParts;
  const joins = op === '+' && fitsText && !model.changes.idSums;
  const left = joins ? written : asNumber(written);
  const second = scope.infer(scope, e.right, rightOf(e.op, left.type));
  const right = joins || isString(left.type) ? second : asNumber(second);
  const row = arithmetic(left.type, e.op, right.type);
  if (row !== null) {
    if ((e.op === '/' || e.op === '%') && right.code.k === 'constant' && right.code.value === 0) {
      if (row.type === 'INT') return model.reporter.fail(MESSAGES.divisionByZero(), e.opSpan);
      model.reporter.warn(MESSAGES.divisionFails(), e.opSpan);
    }
    const code =
      row.helper === null ? binary(left.code, op, right.code) : helper(row.helper, left.code, right.code);
    return { type: row.type, code, span: e.span };
  }
  const wantsString = want === 'STRING' || want === 'STRINGS' || want === 'HEADER';
  if (e.op === '+' && (isString(left.type) || wantsString)) {
    const strands = [left, right].flatMap((v) => {
      const s = asString(scope, v);
      return s.type === 'STRINGS' ? (s.strands ?? []) : [s];
    });
    const folded = foldLiterals(strands);
    if (folded.length === 1 && folded[0] !== undefined) return { ...folded[0], span: e.span };
    const out: Typed = { type: 'STRINGS', code: constant(''), span: e.span, strands: folded };
    return { ...out, code: joined(scope, out) };
  }
  if (e.op === '%') return model.reporter.fail(MESSAGES.moduloOfInt(), e.opSpan);
  const l = left.type === 'STRINGS' ? 'STRING' : left.type;
  const r = right.type === 'STRINGS' ? 'STRING' : right.type;
  return model.reporter.fail(MESSAGES.noArithmetic(l, e.op, r), e.opSpan);
}

/** The type in which the right side of an arithmetic operator is read. */
function rightOf(op: string, left: Type): Type {
  if ((op === '*' || op === '/') && (left === 'BYTES' || left === 'DURATION')) return 'REAL';
  return isString(left) || left === 'IP' ? 'STRING' : left;
}

function foldLiterals(strands: Typed[]): Typed[] {
  const out: Typed[] = [];
  for (const s of strands) {
    const prev = out.at(-1);
    if (prev?.literal !== undefined && s.literal !== undefined) {
      const literal = prev.literal + s.literal;
      out[out.length - 1] = { type: 'STRING', code: constant(literal), literal, span: prev.span };
    } else {
      out.push(s);
    }
  }
  return out;
}

function matching(scope: Scope, e: Extract<Expr, { k: 'binary' }>, want: Type): Typed {
  const { model } = scope;
  const left = scope.infer(scope, e.left, want);
  const answer = (code: Code): Typed => truth(code, e.op === '!~', e.span);
  if (left.type === 'IP') {
    const acl = check(scope, e.right, 'ACL');
    return answer(helper('aclMatch', CONTEXT, acl.code, left.code));
  }
  if (isString(left.type)) {
    const re = check(scope, e.right, 'REGEX');
    return answer(helper('matches', CONTEXT, stringCode(scope, left), re.code));
  }
  return model.reporter.fail(
    MESSAGES.noOperator(e.op, left.type),
    e.opSpan,
    'It takes a STRING and a regular expression, or an IP and an acl.',
  );
}

/** The result of a helper, or its negation. */
function truth(code: Code, opposite: boolean, span: Span): Typed {
  return { type: 'BOOL', code: opposite ? wrap('not', code) : code, span };
}

/** Operators that compare, as JavaScript has them. */
const COMPARISONS: Partial<Record<BinaryOp, BinaryOperator>> = {
  '==': '===',
  '!=': '!==',
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
};

function comparison(scope: Scope, e: Extract<Expr, { k: 'binary' }>, want: Type): Typed {
  const { model } = scope;
  const first = scope.infer(scope, e.left, want);
  const second = scope.infer(scope, e.right, isString(first.type) ? 'STRING' : first.type);
  // An id compares with texts as a text, and with numbers as a number.
  const texts = isString(first.type) && isString(second.type);
  const left = texts ? first : asNumber(first);
  const right = texts ? second : asNumber(second);
  const operator = COMPARISONS[e.op] as BinaryOperator;
  const shown = (t: Typed): string => (t.type === 'STRINGS' || t.type === 'HEADER' ? 'STRING' : t.type);
  if (isString(left.type) && isString(right.type)) {
    const plain = left.type !== 'STRINGS' && right.type !== 'STRINGS';
    const equal = e.op === '==' || e.op === '!=';
    if (equal) {
      // Two single strings: an unset one equals nothing, not even another. Longer lists compare as their text.
      const l = plain ? stringCode(scope, left) : joined(scope, left);
      const r = plain ? stringCode(scope, right) : joined(scope, right);
      if (plain && left.literal === undefined && right.literal === undefined) {
        return truth(helper('sameString', l, r), e.op === '!=', e.span);
      }
      return { type: 'BOOL', code: binary(l, operator, r), span: e.span };
    }
    const order = helper('compareStrings', stringCode(scope, left), stringCode(scope, right));
    return { type: 'BOOL', code: binary(order, operator, constant(0)), span: e.span };
  }
  if (left.type !== right.type) {
    return model.reporter.fail(
      MESSAGES.differentTypes(shown(left), e.op, shown(right)),
      e.opSpan,
      isString(left.type) !== isString(right.type)
        ? 'std has conversions: std.integer(), std.real() and others.'
        : undefined,
    );
  }
  const kind = COMPARABLE[left.type];
  const equality = e.op === '==' || e.op === '!=';
  if (kind === undefined || (kind === 'equal' && !equality)) {
    return model.reporter.fail(MESSAGES.noOperator(e.op, left.type), e.opSpan);
  }
  if (left.type === 'IP') {
    return truth(helper('sameIp', left.code, right.code), e.op === '!=', e.span);
  }
  return { type: 'BOOL', code: binary(left.code, operator, right.code), span: e.span };
}
