// Resolves dotted names: a variable (variable-access.ts), a function or object of an extension, a declaration, or a
// property of one of these. Every failure suggests the nearest existing name.

import type { PathExpr } from '../ast.ts';
import { CompileStop, nearest, type Reporter, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { valueHint, variableHint, wordHint } from '../hints.ts';
import type { Type } from '../tables/type-rows.ts';
import { CONTEXT, type Code, constant, data, helper, lookup, named } from '../typed-program.ts';
import { LANGUAGE_FUNCTIONS, languageFunction } from './language-functions.ts';
import { generatedName, type ProgramModel, type Sym } from './program-model.ts';
import type { Scope } from './type-conversions.ts';
import { isString, type Typed } from './types.ts';
import { findVariable, readVariable, variableNames } from './variable-access.ts';

export type Resolved =
  | { k: 'value'; value: Typed }
  | { k: 'property'; object: Typed; name: string; span: Span }
  | { k: 'function' };

/** Resolves a path as a value of type `want`. */
export function resolvePath(scope: Scope, path: PathExpr, want: Type): Resolved {
  const { model } = scope;
  const first = path.parts[0] as PathExpr['parts'][number];
  const single = path.parts.length === 1;
  const word = first.text.toLowerCase();
  if (single && (word === 'true' || word === 'false')) {
    return { k: 'value', value: { type: 'BOOL', code: constant(word === 'true'), span: path.span } };
  }
  const variable = findVariable(scope, path);
  if (variable !== null) {
    const value = readVariable(
      scope,
      variable,
      path.span,
      variable.taken < path.parts.length ? 'VOID' : want,
    );
    return valueOrProperty(path, value, variable.taken);
  }
  const stevedore = storageValue(scope, path);
  if (stevedore !== null) return valueOrProperty(path, stevedore, 2);
  const sym = model.symbols.get(first.text);
  if (single && sym === undefined && languageFunction(model, first.text) !== undefined) {
    return { k: 'function' };
  }
  if (word === 'default') return { k: 'value', value: defaultValue(scope, path, want) };
  if (sym === undefined) return { k: 'value', value: forward(scope, path, want) };
  if (sym.kind === 'vmod' || sym.kind === 'object') {
    const member = path.parts[1]?.text.toLowerCase() ?? '';
    const known =
      sym.kind === 'vmod'
        ? Object.hasOwn(sym.extension.functions, member)
        : Object.hasOwn(sym.object.methods, member);
    if (known) return { k: 'function' };
    return { k: 'value', value: notFound(scope, path) };
  }
  return valueOrProperty(path, symbolValue(scope, sym, path.span, want), 1);
}

/** A value named by the first `taken` parts of a path, or a property of it named by the rest. */
function valueOrProperty(path: PathExpr, value: Typed, taken: number): Resolved {
  const rest = path.parts[taken];
  if (rest === undefined) return { k: 'value', value };
  const name = path.parts.slice(taken).map((p) => p.text);
  return { k: 'property', object: value, name: name.join('.').toLowerCase(), span: rest.span };
}

/** `default`: the backend that is used when the program names none. Nothing else may have this name. */
function defaultValue(scope: Scope, path: PathExpr, want: Type): Typed {
  const { model } = scope;
  if (want !== 'BACKEND' || path.parts.length > 1) {
    const reporter: Reporter = model.reporter;
    reporter.fail(MESSAGES.reservedDefault(), path.span, 'It names a BACKEND.');
  }
  const declared = model.declared.get('default') === 'backend';
  if (declared) model.forwardUses.add('default');
  const code = declared ? backendCode(model, 'default') : helper('defaultBackend', CONTEXT);
  return { type: 'BACKEND', code, span: path.span };
}

function storageValue(scope: Scope, path: PathExpr): Typed | null {
  const [a, b] = path.parts;
  if (a?.text.toLowerCase() !== 'storage' || b === undefined) return null;
  const wanted = b.text.toLowerCase();
  const found = scope.model.storages.find((s) => s.toLowerCase() === wanted);
  if (found === undefined) {
    const near = nearest(b.text, scope.model.storages);
    const name = `storage.${b.text}`;
    return scope.model.reporter.fail(
      MESSAGES.notFound(name),
      path.span,
      near === null ? `Storages: ${scope.model.storages.join(', ')}.` : `Did you mean 'storage.${near}'?`,
    );
  }
  return { type: 'STEVEDORE', code: constant(found), span: path.span };
}

function symbolValue(scope: Scope, sym: Sym, span: Span, want: Type): Typed {
  sym.used = true;
  switch (sym.kind) {
    case 'backend':
      return { type: 'BACKEND', code: backendCode(scope.model, sym.name), span };
    case 'acl':
      return { type: 'ACL', code: named(generatedName('acl', sym.name)), span };
    case 'probe':
      // A probe is its name where a string is needed, and only there.
      if (isString(want)) return { type: 'STRING', code: constant(sym.name), span };
      return { type: 'PROBE', code: scope.model.hoist('probe', data(sym.decl)), span };
    case 'sub':
      if (want === 'SUB') return subValue(scope, sym.name, span);
      break;
  }
  return scope.model.reporter.fail(MESSAGES.wrongKindHere(sym.name, sym.kind), span);
}

/** The sub as a value: the states it is called from are only known at run time. */
function subValue(scope: Scope, name: string, span: Span): Typed {
  scope.model.subValues.add(name);
  return { type: 'SUB', code: named(generatedName('value', name)), span };
}

function backendCode(model: ProgramModel, name: string): Code {
  return model.hoist('be', lookup('B', name));
}

const DECLARED_TYPES: Partial<Record<Type, 'backend' | 'acl' | 'sub'>> = {
  BACKEND: 'backend',
  ACL: 'acl',
  SUB: 'sub',
};

/** A name without a symbol yet: possibly a forward reference. */
function forward(scope: Scope, path: PathExpr, want: Type): Typed {
  const { model } = scope;
  const name = path.parts[0]?.text ?? '';
  if (path.parts.length === 1) {
    const later = model.declared.get(name);
    const kind = DECLARED_TYPES[want];
    if (later !== undefined && later === kind) {
      const known = model.declared.nameOf(name);
      model.forwardUses.add(known);
      if (kind === 'backend') return { type: 'BACKEND', code: backendCode(model, known), span: path.span };
      if (kind === 'acl') return { type: 'ACL', code: named(generatedName('acl', known)), span: path.span };
      return subValue(scope, known, path.span);
    }
    if (later === 'sub') {
      return model.reporter.fail(MESSAGES.onlyAsSub(name), path.span);
    }
    if (later !== undefined && (kind === undefined || want === 'STRING')) {
      return model.reporter.fail(
        MESSAGES.notFound(name),
        path.span,
        `The ${later} of this name is declared further down: move it up.`,
      );
    }
    if (kind !== undefined) {
      const near = nearest(
        name,
        [...model.declared].flatMap(([n, k]) => (k === kind ? [n] : [])),
      );
      return model.reporter.fail(
        MESSAGES.undefinedKind(kind, name),
        path.span,
        near === null ? undefined : `Did you mean '${near}'?`,
      );
    }
  }
  return notFound(scope, path, [], 'value');
}

/**
 * Reports an unknown name with a hint, or with the nearest known one.
 * @param more candidates besides all symbols
 * @param place whether a value is expected
 */
export function notFound(
  scope: Scope,
  path: PathExpr,
  more: readonly string[] = [],
  place: 'value' | 'name' = 'name',
): never {
  const { model } = scope;
  // Already reported by a failed import or `new`.
  if (model.brokenNames.has(path.parts[0]?.text ?? '')) throw new CompileStop();
  const full = path.parts.map((p) => p.text).join('.');
  const names = variableNames();
  for (const n of model.declared.keys()) names.push(n);
  for (const [n, sym] of model.symbols) {
    names.push(n);
    if (sym.kind === 'vmod') {
      for (const f of Object.keys(sym.extension.functions)) names.push(`${n}.${f}`);
      for (const f of Object.keys(sym.extension.objects ?? {})) names.push(`${n}.${f}`);
    }
    if (sym.kind === 'object') for (const f of Object.keys(sym.object.methods)) names.push(`${n}.${f}`);
  }
  names.push(...LANGUAGE_FUNCTIONS.keys(), ...more);
  const first = path.parts[0]?.text ?? '';
  const near = nearest(full, names);
  const isExtension =
    path.parts.length > 1 && !model.symbols.has(first) && model.extensions(first) !== undefined;
  const hint =
    model.declared.get(full) === 'sub'
      ? `A sub is called without parentheses: call ${full};`
      : (variableHint(full) ??
        (place === 'value' ? valueHint(full) : wordHint(full)) ??
        (near !== null
          ? `Did you mean '${near}'?`
          : isExtension
            ? `Add "import ${first};" before this line.`
            : place === 'value'
              ? 'Text is written in double quotes.'
              : undefined));
  return model.reporter.fail(MESSAGES.notFound(full), path.span, hint);
}
