// Binds the arguments of a call to a signature: positions, names, defaults, optional ones, ENUMs, and private data,
// which programs do not write. Also the functions of the language (regsub, hash_data …) and the methods of STRING.

import { placesToStates } from '../../../protocol/tables/variables.ts';
import { WAITING_PLACES } from '../../contract/waiting.ts';
import type { Arg, Expr, PathExpr } from '../ast.ts';
import { nearest, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { STATEMENT_WORDS } from '../parse-statement.ts';
import { REMOVED_FUNCTIONS } from '../tables/newer-releases.ts';
import { MEMBERS, memberOf } from '../tables/type-rows.ts';
import {
  ABSENT,
  CONTEXT,
  type Code,
  constant,
  extensionCall,
  helper,
  lookup,
  named,
} from '../typed-program.ts';
import { languageFunction } from './language-functions.ts';
import { ALL_STATES, generatedName, stateMask } from './program-model.ts';
import type { Param, PrivScope, Signature } from './signature.ts';
import { notFound, resolvePath } from './symbols.ts';
import {
  asString,
  check,
  type Joining,
  joined,
  type Scope,
  strandsOf,
  stringCode,
} from './type-conversions.ts';
import { isString, type Typed } from './types.ts';
import { findVariable } from './variable-access.ts';

type CallExpr = Extract<Expr, { k: 'call' }>;

/** Checks a call and returns its value; VOID calls are for statements. */
export function bindCall(scope: Scope, e: CallExpr, statement = false): Typed {
  const v = bind(scope, e);
  if (v.type === 'VOID' && !statement) {
    return scope.model.reporter.fail(MESSAGES.voidValue(), e.span);
  }
  return v;
}

function bind(scope: Scope, e: CallExpr): Typed {
  if (e.callee.k === 'member') {
    return method(
      scope,
      scope.infer(scope, e.callee.object, 'STRING'),
      e.callee.name.text,
      e.callee.name.span,
      e,
    );
  }
  if (e.callee.k !== 'path') return scope.model.reporter.fail(MESSAGES.notCallable(), e.callee.span);
  const target = resolveCallable(scope, e.callee);
  if (target.k === 'method') return method(scope, target.object, target.name, target.span, e);
  return callFunction(scope, target, e);
}

function method(scope: Scope, object: Typed, name: string, nameSpan: Span, e: CallExpr): Typed {
  const shown = isString(object.type) ? 'STRING' : object.type;
  const member = memberOf(shown, name);
  if (member?.call === true && shown === 'STRING') {
    if (e.args.length > 0) scope.model.reporter.fail(MESSAGES.noArguments(), (e.args[0] as Arg).value.span);
    const s = asString(scope, object);
    const single = s.type === 'STRING' && s.nullable === true;
    const text = single ? s.code : joined(scope, s);
    const code = helper(name === 'lower' ? 'lowerCase' : 'upperCase', text);
    const v: Typed = { type: 'STRING', code, span: e.span };
    if (single) v.nullable = true;
    return v;
  }
  if (member?.call === true && shown === 'BACKEND') {
    if (e.args.length > 0) scope.model.reporter.fail(MESSAGES.noArguments(), (e.args[0] as Arg).value.span);
    return { type: 'BACKEND', code: helper('resolveBackend', CONTEXT, object.code), span: e.span };
  }
  const near = nearest(
    name,
    MEMBERS.filter((m) => m.of === shown && m.call).map((m) => m.name),
  );
  return scope.model.reporter.fail(
    MESSAGES.noProperty(name, shown),
    nameSpan,
    near === null ? undefined : `Did you mean '.${near}()'?`,
  );
}

function callFunction(scope: Scope, target: Extract<Callable, { k: 'function' }>, e: CallExpr): Typed {
  const sig = scope.model.signature(target.signature);
  if (target.places !== undefined) {
    scope.sub.restrictions.push({
      mask: stateMask(placesToStates(target.places)) & ALL_STATES,
      message: (sub) => MESSAGES.notInState(target.name, 'Not available in', sub),
      span: e.callee.span,
      ...(target.hint === undefined ? {} : { hint: target.hint }),
    });
  }
  const args = bindArgs(scope, sig, e.args, e.open, target.extension, e.callee.span, target.joining);
  if (touchesAnyHeader(scope, sig, target.extension)) {
    scope.sub.reads.add('*');
    scope.sub.writes.add('*');
  }
  if (target.restores === true) {
    for (const arg of args) {
      if (arg.k !== 'helper') continue;
      if (arg.helper === 'get_req') scope.sub.restores.add('req');
      if (arg.helper === 'get_bereq') scope.sub.restores.add('bereq');
    }
  }
  const v: Typed = { type: sig.returns, code: target.call(args), span: e.span };
  if (sig.returns === 'STRING') v.nullable = true;
  return v;
}

const CLIENT_STATES = stateMask(placesToStates('client'));

/** Code of the private data for a PRIV parameter. */
function privCode(scope: Scope, priv: PrivScope, extension: string, span: Span): Code {
  const { model } = scope;
  const ofExtension = (): Code => model.hoist('ext', lookup('X', extension));
  switch (priv) {
    case 'PRIV_CALL':
      return model.hoist('call', lookup('P', null, model.callPlaces++));
    case 'PRIV_VCL':
      return model.hoist('own', lookup('P', extension));
    case 'PRIV_TASK':
      return helper('taskPriv', CONTEXT, ofExtension());
    case 'PRIV_TOP':
      scope.sub.restrictions.push({
        mask: CLIENT_STATES,
        message: (sub) => MESSAGES.notOfState(sub),
        span,
        hint: 'Its data belongs to the request of a client.',
      });
      return helper('topPriv', CONTEXT, ofExtension());
  }
}

/** Whether a call may read and write headers that no argument names. */
function touchesAnyHeader(scope: Scope, sig: Signature, extension: string | undefined): boolean {
  if (scope.model.modules.some((m) => m.module.name === extension)) return true;
  return sig.returns === 'SUB' || sig.params.some((p) => p.type === 'HTTP' || p.type === 'SUB');
}

/**
 * The arguments, in the order of the signature; ABSENT for omitted ones.
 * @param extension owner of the private data of PRIV parameters
 * @param place position for restrictions to states
 * @param joining how the strands of a text are passed
 */
export function bindArgs(
  scope: Scope,
  signature: Signature,
  args: readonly Arg[],
  open: Span,
  extension = '',
  place: Span = open,
  joining?: Joining,
): Code[] {
  const { reporter } = scope.model;
  const sig = { name: signature.name, params: signature.params.filter((p) => p.priv === null) };
  const bound: (readonly Code[] | null)[] = sig.params.map(() => null);
  let position = 0;
  let named = false;
  for (const arg of args) {
    let index: number;
    if (arg.name === null) {
      if (named) reporter.fail(MESSAGES.positionalAfterNamed(), arg.value.span);
      index = position++;
      if (index >= sig.params.length) {
        reporter.fail(MESSAGES.tooManyArguments(sig.name, sig.params.length), arg.value.span);
      }
    } else {
      named = true;
      index = sig.params.findIndex((p) => p.name === arg.name);
      if (index < 0) {
        const near = nearest(
          arg.name,
          sig.params.map((p) => p.name),
        );
        reporter.fail(
          MESSAGES.unknownArgument(arg.name),
          arg.nameSpan ?? arg.value.span,
          near === null ? undefined : `Did you mean '${near}'?`,
        );
      }
      if (bound[index] !== null) {
        reporter.fail(MESSAGES.argumentTwice(arg.name), arg.nameSpan ?? arg.value.span);
      }
    }
    bound[index] = argument(scope, sig.params[index] as Param, arg.value, joining);
  }
  let next = 0;
  const out = signature.params.flatMap((p): Code | readonly Code[] => {
    if (p.priv !== null) return privCode(scope, p.priv, extension, place);
    const i = next++;
    const given = bound[i] ?? null;
    if (given !== null) return given;
    if (p.fallback !== undefined) return constant(p.fallback);
    if (p.optional) return ABSENT;
    return reporter.fail(MESSAGES.missingArgument(p.name || i + 1), open);
  });
  while (out.at(-1)?.k === 'absent') out.pop();
  return out;
}

/** One argument; several if the strands of a text are passed separately. */
function argument(scope: Scope, p: Param, value: Expr, joining?: Joining): Code[] {
  if (p.type === 'ENUM') {
    const word = value.k === 'path' && value.parts.length === 1 ? value.parts[0]?.text : undefined;
    const values = p.values ?? [];
    if (word === undefined || !values.includes(word)) {
      const near = word === undefined ? null : nearest(word, values);
      return scope.model.reporter.fail(
        MESSAGES.wrongEnum(values),
        value.span,
        near === null ? undefined : `Did you mean '${near}'?`,
      );
    }
    return [constant(word)];
  }
  const v = check(scope, value, p.type);
  if (p.type === 'STRING') {
    if (joining === undefined) return [stringCode(scope, v)];
    return joining.apart ? strandsOf(scope, v, joining.absent) : [joined(scope, v, joining.absent)];
  }
  if (p.type === 'HEADER' && v.header !== undefined) {
    scope.sub.writes.add(`${v.header.message}.${v.header.name.toLowerCase()}`);
  }
  return [v.code];
}

// Resolves a path to a callable: a function of the language, of an extension or of an object, or a method of a value.

type Callable =
  | {
      k: 'function';
      name: string;
      /** The call with its arguments. */
      call: (args: readonly Code[]) => Code;
      signature: string;
      places?: string;
      /** Reason of the restriction, if not obvious. */
      hint?: string;
      /** Owner of the private data of its PRIV parameters. */
      extension?: string;
      /** Rolls back its message argument. */
      restores?: boolean;
      /** How the strands of its text are passed. */
      joining?: Joining;
    }
  | { k: 'method'; object: Typed; name: string; span: Span };

function own<T>(rows: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** States from which it may be called; a call that may wait is refused where waiting is impossible. */
function restrict(
  { model }: Scope,
  out: Extract<Callable, { k: 'function' }>,
  row: { places?: string; newerPlaces?: string; waits?: boolean },
): void {
  if (row.newerPlaces !== undefined && model.changes.restrictedCalls) out.places = row.newerPlaces;
  else if (row.places !== undefined) out.places = row.places;
  else if (row.waits === true) {
    out.places = WAITING_PLACES;
    out.hint = 'It may have to wait, which vcl_hash, vcl_init and vcl_fini cannot.';
  }
}

function resolveCallable(scope: Scope, path: PathExpr): Callable {
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
    const instead = REMOVED_FUNCTIONS.get(`${sym.extension.name}.${name}`);
    if (instead !== undefined && model.changes.removedFunctions) {
      return model.reporter.fail(MESSAGES.notFound(full), path.span, `Write: ${instead}`);
    }
    if (f.refusal !== undefined) model.reporter.fail(MESSAGES.notOffered(full), path.span, f.refusal);
    const ext = sym.extension.name;
    const fn = model.hoist('fn', lookup('E', ext, name));
    const out: Callable = {
      k: 'function',
      name: full,
      call: (args) => extensionCall(fn.name, [CONTEXT, ...args], f.waits === true),
      signature: f.signature,
      extension: ext,
    };
    restrict(scope, out, f);
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
    restrict(scope, out, m);
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
