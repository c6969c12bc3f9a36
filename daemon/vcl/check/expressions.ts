// Checks expressions and writes their JavaScript. `want` is the type the place needs: a literal may become an
// IP, BYTES or REGEX because of it. Conversions are in conversions.ts, calls in calls.ts.
//
// Strings joined by + stay a list of strands until they are needed as one, so that a list can be tested for
// "all unset" and converted part by part, as in the field.

import type { BinaryOp, Expr, PathExpr } from '../ast.ts';
import type { Span } from '../errors.ts';
import { MESSAGES } from '../messages.ts';
import { type BinaryOperator, binary, CONTEXT, type Code, constant, helper, wrap } from '../typed-program.ts';
import { resolveIpLiteral } from './addresses.ts';
import { checkBlob } from './blob-literal.ts';
import { bindCall } from './calls.ts';
import { asString, check, convert, joined, regexLiteral, type Scope, stringCode } from './conversions.ts';
import { resolvePath } from './symbols.ts';
import {
  type ArithmeticOperator,
  arithmetic,
  BYTE_UNITS,
  COMPARABLE,
  DURATION_UNITS,
  isString,
  SIGNED,
  type Type,
  type Typed,
} from './types.ts';
import { noVariableHint } from './variables.ts';

export function infer(scope: Scope, e: Expr, want: Type): Typed {
  switch (e.k) {
    case 'number':
      return number(scope, e, want);
    case 'string':
      return stringLiteral(scope, e.value, e.span, want);
    case 'blob':
      return { type: 'BLOB', code: blobConstant(scope, e.value, e.span), span: e.span };
    case 'paren': {
      const v = infer(scope, e.value, want);
      return { ...v, span: e.span, code: v.type === 'STRINGS' ? v.code : wrap('group', v.code) };
    }
    case 'negate': {
      if (!SIGNED.has(want)) {
        return scope.model.reporter.fail(MESSAGES.noSign(want), e.span);
      }
      const v = infer(scope, e.value, want);
      if (v.type !== 'INT' && v.type !== 'REAL' && v.type !== 'DURATION') {
        return scope.model.reporter.fail(MESSAGES.noNegative(v.type), e.span);
      }
      return { type: v.type, code: wrap('negate', v.code), span: e.span };
    }
    case 'not': {
      const v = convert(scope, infer(scope, e.value, truthOf(want)), 'BOOL');
      return { type: 'BOOL', code: wrap('not', v.code), span: e.span };
    }
    case 'binary':
      return operation(scope, e, want);
    case 'path':
      return path(scope, e, want);
    case 'call':
      return bindCall(scope, e);
    case 'member':
      return property(scope, infer(scope, e.object, 'STRING'), e.name.text, e.span, e.name.span);
  }
}

/** What the operands of ! && || are read as: only a place for a string lets them begin with a minus sign. */
function truthOf(want: Type): Type {
  return isString(want) ? 'STRING' : 'BOOL';
}

function path(scope: Scope, e: PathExpr, want: Type): Typed {
  const r = resolvePath(scope, e, want);
  if (r.k === 'value') return r.value;
  const full = e.parts.map((p) => p.text).join('.');
  if (r.k === 'property') return property(scope, r.object, r.name, e.span, r.span, e);
  return scope.model.reporter.fail(MESSAGES.functionWithoutCall(full), e.span);
}

/** A property without parentheses; methods are calls. */
function property(
  scope: Scope,
  object: Typed,
  name: string,
  span: Span,
  nameSpan: Span,
  whole: PathExpr | null = null,
): Typed {
  if (object.type === 'STEVEDORE') {
    const types: Record<string, Type> = { free_space: 'BYTES', used_space: 'BYTES', happy: 'BOOL' };
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type !== undefined) {
      return { type, code: helper('storageFigure', CONTEXT, object.code, constant(name)), span };
    }
  }
  const shown = isString(object.type) ? 'STRING' : object.type;
  const method = isString(object.type) && (name === 'lower' || name === 'upper');
  return scope.model.reporter.fail(
    MESSAGES.noProperty(name, shown),
    nameSpan,
    method ? `Write .${name}() to call it.` : propertyHint(object.type, whole),
  );
}

/** The hint for a path whose end is no property of what it begins with. */
function propertyHint(type: Type, whole: PathExpr | null): string | undefined {
  if (whole === null) return undefined;
  if (whole.parts.some((p) => p.quoted)) return 'Strings are joined with "+".';
  return type === 'HTTP' ? noVariableHint(whole.parts.map((p) => p.text).join('.')) : undefined;
}

function stringLiteral(scope: Scope, value: string, span: Span, want: Type): Typed {
  if (want === 'IP') return { type: 'IP', code: resolveIpLiteral(scope.model, value, span), span };
  if (want === 'REGEX') return regexLiteral(scope, value, span);
  return { type: 'STRING', code: constant(value), literal: value, span };
}

function blobConstant(scope: Scope, text: string, span: Span): Code {
  checkBlob(scope.model.reporter, text, span);
  return scope.model.hoist('blob', helper('blobFrom', constant(text)));
}

/** Digits as the field limits them: 15 for an INT, 12 before the point and 3 behind it for a REAL. */
function numberValue(scope: Scope, e: { real: boolean; text: string; span: Span }): number {
  const [whole = '', fraction = ''] = e.text.split('.');
  if (whole.length > (e.real ? 12 : 15)) {
    scope.model.reporter.fail(MESSAGES.tooManyDigits(e.real ? 'real' : 'integer'), e.span);
  }
  if (fraction.length > 3) scope.model.reporter.fail(MESSAGES.tooManyDigits('real'), e.span);
  return Number(e.text);
}

function number(scope: Scope, e: Extract<Expr, { k: 'number' }>, want: Type): Typed {
  const value = numberValue(scope, e);
  if (e.unit !== null && e.unitSpan !== null) {
    if (want === 'BYTES') {
      const factor = BYTE_UNITS.get(e.unit.toLowerCase());
      if (factor === undefined) {
        return scope.model.reporter.fail(
          MESSAGES.bytesUnit(e.unit),
          e.unitSpan,
          "Legal are 'B', 'KB', 'MB', 'GB', 'TB' and 'PB'.",
        );
      }
      if (!Number.isInteger(value) && factor === 1) {
        return scope.model.reporter.fail(MESSAGES.partOfByte(), e.span);
      }
      return { type: 'BYTES', code: constant(Math.floor(value * factor)), span: e.span };
    }
    const factor = DURATION_UNITS.get(e.unit);
    if (factor === undefined) {
      return scope.model.reporter.fail(
        MESSAGES.durationUnit(e.unit),
        e.unitSpan,
        "Legal duration units are 'ms', 's', 'm', 'h', 'd', 'w' and 'y'.",
      );
    }
    return { type: 'DURATION', code: constant(value * factor), span: e.span };
  }
  if (want === 'BYTES') {
    const hint = "Legal are 'B', 'KB', 'MB', 'GB', 'TB' and 'PB'.";
    return scope.model.reporter.fail(MESSAGES.bytesWithoutUnit(), e.span, hint);
  }
  return { type: e.real || want === 'REAL' ? 'REAL' : 'INT', code: constant(value), span: e.span };
}

function operation(scope: Scope, e: Extract<Expr, { k: 'binary' }>, want: Type): Typed {
  switch (e.op) {
    case '&&':
    case '||': {
      const left = convert(scope, infer(scope, e.left, truthOf(want)), 'BOOL');
      const right = convert(scope, infer(scope, e.right, truthOf(want)), 'BOOL');
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
  const left = infer(scope, e.left, regexParts ? 'STRING' : want);
  const right = infer(scope, e.right, rightOf(e.op, left.type));
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

/** What the right side of an arithmetic operator is read as. */
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
  const left = infer(scope, e.left, want);
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

/** The answer of a helper, or its opposite. */
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
  const left = infer(scope, e.left, want);
  const right = infer(scope, e.right, isString(left.type) ? 'STRING' : left.type);
  const operator = COMPARISONS[e.op] as BinaryOperator;
  const shown = (t: Typed): string => (t.type === 'STRINGS' || t.type === 'HEADER' ? 'STRING' : t.type);
  if (isString(left.type) && isString(right.type)) {
    const plain = left.type !== 'STRINGS' && right.type !== 'STRINGS';
    const equal = e.op === '==' || e.op === '!=';
    if (equal) {
      // Two single strings: unset equals nothing but unset. Longer lists compare as their text.
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
