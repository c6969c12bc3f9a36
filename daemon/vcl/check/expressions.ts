// Checks expressions and generates their code. `want` is the type that the context needs: a literal may become an IP,
// BYTES or REGEX because of it. Operations are in operators.ts, conversions in type-conversions.ts, calls in
// calls.ts.

import { TIME_UNITS } from '../../../protocol/units.ts';
import type { Expr, PathExpr } from '../ast.ts';
import type { Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { LIMITS } from '../tables/language.ts';
import { memberOf, type Type } from '../tables/type-rows.ts';
import { CONTEXT, type Code, constant, helper, wrap } from '../typed-program.ts';
import { resolveIpLiteral } from './addresses.ts';
import { bindCall } from './calls.ts';
import { operation, truthOf } from './operators.ts';
import { resolvePath } from './symbols.ts';
import { checkBlob, convert, regexLiteral, type Scope } from './type-conversions.ts';
import { BYTE_UNITS, isString, SIGNED, type Typed } from './types.ts';
import { noVariableHint } from './variable-access.ts';

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
  const shown = isString(object.type) ? 'STRING' : object.type;
  const member = memberOf(shown, name);
  if (member?.of === 'STEVEDORE') {
    const code = helper('storageFigure', CONTEXT, object.code, constant(name));
    return { type: member.gives, code, span };
  }
  const method = shown === 'STRING' && member?.call === true;
  return scope.model.reporter.fail(
    MESSAGES.noProperty(name, shown),
    nameSpan,
    method ? `Write .${name}() to call it.` : propertyHint(object.type, whole),
  );
}

/** Hint for a path that does not end in a property. */
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

function numberValue(scope: Scope, e: { real: boolean; text: string; span: Span }): number {
  const [whole = '', fraction = ''] = e.text.split('.');
  const digits = e.real ? LIMITS.realDigits : LIMITS.integerDigits;
  if (whole.length > digits.value) {
    scope.model.reporter.fail(MESSAGES.tooManyDigits(e.real ? 'real' : 'integer'), e.span);
  }
  if (fraction.length > LIMITS.realDecimals.value)
    scope.model.reporter.fail(MESSAGES.tooManyDigits('real'), e.span);
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
    const factor = TIME_UNITS.get(e.unit);
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
