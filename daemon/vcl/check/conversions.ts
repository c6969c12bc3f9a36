// Turns checked values into the type their place needs: strings from anything, truth from some, REAL from INT,
// a regular expression from a literal. A mismatch is reported with what would help.

import { checkRegex, RegexError } from '../../../queries/regex/bounded-regex.ts';
import type { Expr } from '../ast.ts';
import type { Span } from '../errors.ts';
import { type ProgramModel, quote, type SubInfo } from './program.ts';
import { isString, NULLABLE_STRING, TO_STRING, type Type, type Typed } from './types.ts';

/** Where an expression stands. Declarations use a sub of their own. */
export interface Scope {
  model: ProgramModel;
  sub: SubInfo;
  /** Checks an expression; here so that calls and expressions need not import each other. */
  infer: (scope: Scope, e: Expr, want: Type) => Typed;
}

/** Checks an expression and converts it to `want`. */
export function check(scope: Scope, e: Expr, want: Type): Typed {
  return convert(scope, scope.infer(scope, e, want), want);
}

/** What to write where a text stands and something else is needed. */
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

/** Converts a value to the type its place needs, or reports the mismatch. */
export function convert(scope: Scope, v: Typed, want: Type): Typed {
  const { model } = scope;
  if (v.type === want) return v;
  if (want === 'STRING' || want === 'STRINGS') return asString(scope, v);
  if (want === 'BOOL') {
    const js = asBool(scope, v);
    if (js !== null) return { type: 'BOOL', js, span: v.span };
  }
  if (want === 'REGEX' && v.literal !== undefined) return regexLiteral(scope, v.literal, v.span);
  const shown = v.type === 'STRINGS' ? 'STRING' : v.type;
  const hint =
    want === 'DURATION' && (v.type === 'INT' || v.type === 'REAL')
      ? 'A duration needs a unit: ms, s, m, h, d, w or y.'
      : isString(v.type)
        ? TEXT_INSTEAD[want]
        : undefined;
  return model.reporter.fail('type', `Expression has type ${shown}, expected ${want}`, v.span, hint);
}

function asBool(scope: Scope, v: Typed): string | null {
  switch (v.type) {
    case 'HEADER':
      return `(${headerJs(scope, v)} !== null)`;
    case 'STRING':
      return v.nullable === true ? `(${v.js} !== null)` : `(${v.js}, true)`;
    case 'STRINGS': {
      const parts = (v.strands ?? []).map((s) => asBool(scope, s));
      return `(${parts.join(' || ')})`;
    }
    case 'INT':
      return `(${v.js} !== 0)`;
    case 'DURATION':
      return `(${v.js} > 0)`;
    case 'BACKEND':
      return `${scope.model.helper('hasBackend')}(${v.js})`;
    default:
      return null;
  }
}

/** Value of the field that a function named; a field named in the program is a STRING from the start. */
function headerJs(scope: Scope, v: Typed): string {
  return `${scope.model.helper('headerValue')}(${v.js})`;
}

/** A STRING (one strand, possibly unset) or a STRINGS. */
export function asString(scope: Scope, v: Typed): Typed {
  if (v.type === 'STRING') return v;
  if (v.type === 'STRINGS') return v;
  if (v.type === 'HEADER') return { type: 'STRING', js: headerJs(scope, v), span: v.span, nullable: true };
  const helper = TO_STRING[v.type];
  if (helper === null) {
    return scope.model.reporter.fail('type', `Cannot convert ${v.type} to STRING.`, v.span);
  }
  if (helper === '') return { type: 'STRING', js: v.js, span: v.span };
  const ctx = helper === 'realString' || helper === 'intString' ? 'ctx, ' : '';
  const out: Typed = { type: 'STRING', js: `${scope.model.helper(helper)}(${ctx}${v.js})`, span: v.span };
  if (NULLABLE_STRING.has(v.type)) out.nullable = true;
  return out;
}

/** How the strands of a text become an argument. */
export interface Joining {
  /** Stands for a strand that is not there. */
  absent: string;
  /** A comma leaves each strand an argument of its own. */
  between: ' + ' | ', ';
}

const PLAIN: Joining = { absent: '', between: ' + ' };

/** JavaScript of one string that is never null, its strands joined; or of several, if the strands stay apart. */
export function joined(scope: Scope, v: Typed, { absent, between }: Joining = PLAIN): string {
  const s = asString(scope, v);
  const parts = s.type === 'STRINGS' ? (s.strands ?? []) : [s];
  const js = parts.map((p) =>
    p.literal !== undefined
      ? quote(p.literal)
      : p.nullable === true && absent !== ''
        ? `(${p.js} ?? ${quote(absent)})`
        : p.nullable === true
          ? `${scope.model.helper('str')}(${p.js})`
          : p.js,
  );
  if (js.length === 0) return '""';
  if (js.length === 1) return js[0] as string;
  return between === ', ' ? js.join(between) : `(${js.join(between)})`;
}

/** JavaScript of one string that is null only for a single unset strand. */
export function stringJs(scope: Scope, v: Typed): string {
  const s = asString(scope, v);
  return s.type === 'STRINGS' ? joined(scope, s) : s.js;
}

export function regexLiteral(scope: Scope, pattern: string, span: Span): Typed {
  const known = scope.model.regexes.get(pattern);
  if (known !== undefined) return { type: 'REGEX', js: known, span };
  try {
    checkRegex(pattern);
  } catch (err) {
    if (!(err instanceof RegexError)) throw err;
    return scope.model.reporter.fail(
      'regex',
      `Regexp compilation error: ${err.message}`,
      span,
      `At position ${err.position + 1} of the expression.`,
    );
  }
  const js = scope.model.hoist('re', `${scope.model.helper('regex')}(${quote(pattern)})`);
  scope.model.regexes.set(pattern, js);
  return { type: 'REGEX', js, span };
}
