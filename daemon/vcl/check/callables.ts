// The callable that a path names: a function of the language, of an extension or of an object, or a method of a
// value.

import { WAITING_PLACES } from '../../contract/waiting.ts';
import type { PathExpr } from '../ast.ts';
import type { Span } from '../diagnostics.ts';
import { STATEMENT_WORDS } from '../parse-statement.ts';
import { CONTEXT, type Code, constant, extensionCall, helper, lookup, named } from '../typed-program.ts';
import { languageFunction } from './language-functions.ts';
import { generatedName } from './program-model.ts';
import { notFound, resolvePath } from './symbols.ts';
import type { Joining, Scope } from './type-conversions.ts';
import type { Typed } from './types.ts';
import { findVariable } from './variable-access.ts';

export type Callable =
  | {
      k: 'function';
      name: string;
      /** The call with its arguments. */
      call: (args: readonly Code[]) => Code;
      signature: string;
      places?: string;
      /** Why it may not be called from elsewhere, where that is not plain. */
      hint?: string;
      /** Whose private data its PRIV parameters mean. */
      extension?: string;
      /** Rolls back the message that it is given. */
      restores?: boolean;
      /** How the strands of its text are passed. */
      joining?: Joining;
    }
  | { k: 'method'; object: Typed; name: string; span: Span };

function own<T>(rows: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** Where a row may be called from; the compiler refuses a call that could not wait. */
function restrict(
  out: Extract<Callable, { k: 'function' }>,
  row: { places?: string; waits?: boolean },
): void {
  if (row.places !== undefined) out.places = row.places;
  else if (row.waits === true) {
    out.places = WAITING_PLACES;
    out.hint = 'It may have to wait, which vcl_hash, vcl_init and vcl_fini cannot.';
  }
}

/** The callable that a path names. */
export function resolveCallable(scope: Scope, path: PathExpr): Callable {
  const { model } = scope;
  const [first, second] = path.parts as [PathExpr['parts'][number], PathExpr['parts'][number] | undefined];
  const full = path.parts.map((p) => p.text).join('.');
  const language = path.parts.length === 1 ? languageFunction(model, first.text) : undefined;
  if (language !== undefined) {
    const out: Callable = {
      k: 'function',
      name: first.text.toLowerCase(),
      call: (args) => helper(language.helper, CONTEXT, ...args),
      signature: language.signature,
    };
    if (language.places !== undefined) out.places = language.places;
    if (language.joining !== undefined) out.joining = language.joining;
    return out;
  }
  const sym = model.symbols.get(first.text);
  if (sym?.kind === 'vmod' && second !== undefined && path.parts.length === 2) {
    const name = second.text.toLowerCase();
    const f = own(sym.extension.functions, name);
    if (f === undefined) return notFound(scope, path);
    sym.used = true;
    const ext = sym.extension.name;
    const fn = model.hoist('fn', lookup('E', ext, name));
    const out: Callable = {
      k: 'function',
      name: full,
      call: (args) => extensionCall(fn.name, [CONTEXT, ...args], f.waits === true),
      signature: f.signature,
      extension: ext,
    };
    restrict(out, f);
    if (f.restores === true) out.restores = true;
    return out;
  }
  if (sym?.kind === 'object' && second !== undefined && path.parts.length === 2) {
    const name = second.text.toLowerCase();
    const m = own(sym.object.methods, name);
    if (m === undefined) return notFound(scope, path);
    sym.used = true;
    const fn = model.hoist('fn', lookup('M', sym.extension, sym.type, name));
    const object = named(generatedName('obj', sym.name));
    const self = sym.object.mayBeAbsent === true ? object : helper('object', object, constant(sym.name));
    const out: Callable = {
      k: 'function',
      name: full,
      call: (args) => extensionCall(fn.name, [CONTEXT, self, ...args], m.waits === true),
      signature: m.signature,
      extension: sym.extension,
    };
    restrict(out, m);
    return out;
  }
  if (path.parts.length > 1) {
    const word = first.text.toLowerCase();
    const known = sym !== undefined || model.declared.has(word) || word === 'storage' || word === 'default';
    if (!known && findVariable(scope, path) === null) return notFound(scope, path, STATEMENT_WORDS);
    const want = path.parts.length === 2 && word === 'default' ? 'BACKEND' : 'STRING';
    const r = resolvePath(scope, { ...path, parts: path.parts.slice(0, -1) }, want);
    const last = path.parts.at(-1) as PathExpr['parts'][number];
    if (r.k === 'value')
      return { k: 'method', object: r.value, name: last.text.toLowerCase(), span: last.span };
  }
  return notFound(scope, path, STATEMENT_WORDS);
}
