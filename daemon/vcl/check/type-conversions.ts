// Converts checked values to the type that the context needs: strings from anything, booleans from some types, REAL
// from INT, a regular expression from a literal. A mismatch is reported with a hint.

import { checkRegex, RegexError } from '../../../queries/regex/bounded-regex.ts';
import type { Expr } from '../ast.ts';
import type { Reporter, Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import type { Type } from '../tables/type-rows.ts';
import { binary, CONTEXT, type Code, constant, helper, join, otherwise, wrap } from '../typed-program.ts';
import type { ProgramModel, SubInfo } from './program-model.ts';
import { isString, NULLABLE_STRING, TO_STRING, type Typed } from './types.ts';

/** The context of an expression. Declarations use a sub of their own. */
export interface Scope {
  model: ProgramModel;
  sub: SubInfo;
  /** Checks an expression; passed here so that calls and expressions need not import each other. */
  infer: (scope: Scope, e: Expr, want: Type) => Typed;
}

/** Checks an expression and converts it to `want`. */
export function check(scope: Scope, e: Expr, want: Type): Typed {
  return convert(scope, scope.infer(scope, e, want), want);
}

/** Hints for a string where another type is needed. */
const TEXT_INSTEAD: Partial<Record<Type, string>> = {
  REGEX: 'A regular expression must be a literal string, so that it can be checked at load time.',
  ACL: 'Addresses are matched by an acl: acl name { "192.0.2.0"/24; }, and here its name without quotes.',
  BACKEND: 'It is the name of a backend, without quotes.',
  SUB: 'It is the name of a sub, without quotes.',
  PROBE: 'It is the name of a probe, without quotes.',
  STEVEDORE: 'It is a storage by its name, without quotes: storage.s0',
  DURATION: 'A duration is written without quotes: 120s; std.duration() reads one from text.',
  INT: 'A number is written without quotes; std.integer() reads one from text.',
  REAL: 'A number is written without quotes; std.real() reads one from text.',
  BYTES: 'A size is written without quotes: 10MB; std.bytes() reads one from text.',
  TIME: 'std.time() reads a time from text.',
  IP: 'std.ip() reads an address from text.',
};

/** Converts a value to the type the context needs, or reports the mismatch. */
export function convert(scope: Scope, v: Typed, want: Type): Typed {
  const { model } = scope;
  if (v.type === want) return v;
  if (v.also?.type === want) return v.also;
  if (want === 'STRING' || want === 'STRINGS') return asString(scope, v);
  if (want === 'BOOL') {
    const code = asBool(v);
    if (code !== null) return { type: 'BOOL', code, span: v.span };
  }
  if (want === 'REGEX' && v.literal !== undefined) return regexLiteral(scope, v.literal, v.span);
  const shown = v.type === 'STRINGS' ? 'STRING' : v.type;
  const hint =
    want === 'DURATION' && (v.type === 'INT' || v.type === 'REAL')
      ? 'A duration needs a unit: ms, s, m, h, d, w or y.'
      : isString(v.type)
        ? TEXT_INSTEAD[want]
        : undefined;
  return model.reporter.fail(MESSAGES.wrongType(shown, want), v.span, hint);
}

function asBool(v: Typed): Code | null {
  switch (v.type) {
    case 'HEADER':
      return binary(headerCode(v), '!==', constant(null));
    case 'STRING':
      return v.nullable === true ? binary(v.code, '!==', constant(null)) : wrap('always', v.code);
    case 'STRINGS':
      return (v.strands ?? []).map((s) => asBool(s) as Code).reduce((a, b) => binary(a, '||', b));
    case 'INT':
      return binary(v.code, '!==', constant(0));
    case 'DURATION':
      return binary(v.code, '>', constant(0));
    case 'BACKEND':
      return helper('hasBackend', v.code);
    default:
      return null;
  }
}

/** Value of the header that a function returned; a header named in the program is a STRING from the start. */
function headerCode(v: Typed): Code {
  return helper('headerValue', v.code);
}

/** A STRING (one strand, possibly unset) or a STRINGS. */
export function asString(scope: Scope, v: Typed): Typed {
  if (v.type === 'STRING') return v;
  if (v.type === 'STRINGS') return v;
  if (v.type === 'HEADER') return { type: 'STRING', code: headerCode(v), span: v.span, nullable: true };
  const row = TO_STRING[v.type];
  if (row === null) {
    return scope.model.reporter.fail(MESSAGES.noText(v.type), v.span);
  }
  if (row === 'itself') return { type: 'STRING', code: v.code, span: v.span };
  const code = row.takesContext === true ? helper(row.helper, CONTEXT, v.code) : helper(row.helper, v.code);
  const out: Typed = { type: 'STRING', code, span: v.span };
  if (NULLABLE_STRING.has(v.type)) out.nullable = true;
  return out;
}

/** How the strands of a text become an argument. */
export interface Joining {
  /** Replaces an unset strand. */
  absent: string;
  /** Whether each strand is an argument of its own. */
  apart: boolean;
}

/** The strands of a text, each a string that is never null; `absent` replaces unset ones. */
export function strandsOf(scope: Scope, v: Typed, absent = ''): Code[] {
  const s = asString(scope, v);
  const parts = s.type === 'STRINGS' ? (s.strands ?? []) : [s];
  if (parts.length === 0) return [constant('')];
  return parts.map((p) => {
    if (p.literal !== undefined) return constant(p.literal);
    if (p.nullable !== true) return p.code;
    return absent === '' ? helper('str', p.code) : otherwise(p.code, absent);
  });
}

/** One string that is never null, its strands joined. */
export function joined(scope: Scope, v: Typed, absent = ''): Code {
  const strands = strandsOf(scope, v, absent);
  return strands.length === 1 ? (strands[0] as Code) : join(strands);
}

/** One string that is null only for a single unset strand. */
export function stringCode(scope: Scope, v: Typed): Code {
  const s = asString(scope, v);
  return s.type === 'STRINGS' ? joined(scope, s) : s.code;
}

export function regexLiteral(scope: Scope, pattern: string, span: Span): Typed {
  const known = scope.model.regexes.get(pattern);
  if (known !== undefined) return { type: 'REGEX', code: known, span };
  try {
    checkRegex(pattern);
  } catch (err) {
    if (!(err instanceof RegexError)) throw err;
    return scope.model.reporter.fail(
      MESSAGES.regex(err.message),
      span,
      `At position ${err.position + 1} of the expression.`,
    );
  }
  const code = scope.model.hoist('re', helper('regex', constant(pattern)));
  scope.model.regexes.set(pattern, code);
  return { type: 'REGEX', code, span };
}

// BLOB constants: base64 between colons, whole groups of four, without unused bits set.

/** Reports an invalid BLOB constant; returns whether it is valid. */
export function checkBlob(reporter: Reporter, text: string, span: Span): boolean {
  const hint = 'BLOBs are base64 between colons.';
  if (/[^A-Za-z0-9+/=]/.test(text)) {
    reporter.error(MESSAGES.blobCharacter(), span, hint);
    return false;
  }
  if (text.length % 4 !== 0) {
    reporter.error(MESSAGES.blobLength(), span, hint);
    return false;
  }
  if (!/^[^=]*={0,2}$/.test(text)) {
    reporter.error(MESSAGES.blobPadding(), span, hint);
    return false;
  }
  if (Buffer.from(text, 'base64').toString('base64') !== text) {
    reporter.error(MESSAGES.blobBits(), span, hint);
    return false;
  }
  return true;
}
