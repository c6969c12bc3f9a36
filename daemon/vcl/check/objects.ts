// Checks `new`: the constructor call in vcl_init, and the name of the object.

import type { Statement } from '../ast.ts';
import { MESSAGES } from '../error-texts.ts';
import { CONTEXT, constant, extensionCall, lookup, type Step } from '../typed-program.ts';
import { bindArgs } from './calls.ts';
import { isReserved } from './language-functions.ts';
import { generatedName, stateMask } from './program-model.ts';
import { notFound } from './symbols.ts';
import type { Scope } from './type-conversions.ts';

const INIT_ONLY = stateMask(['init']);

/** Checks a `new` and declares its object. */
export function newStatement(scope: Scope, s: Extract<Statement, { k: 'new' }>): Step {
  const { model, sub } = scope;
  const { reporter } = model;
  sub.restrictions.push({
    mask: INIT_ONLY,
    message: (state) => MESSAGES.notInState('new', 'Not available in', state),
    span: s.span,
    hint: 'Objects are made in vcl_init.',
  });
  const call = s.value;
  if (call.k !== 'call' || call.callee.k !== 'path') {
    return reporter.fail(MESSAGES.noConstructor(), call.span);
  }
  const [module, type] = call.callee.parts;
  const sym = module === undefined ? undefined : model.symbols.get(module.text);
  const objects = sym?.kind === 'vmod' ? (sym.extension.objects ?? {}) : {};
  const object = type !== undefined && Object.hasOwn(objects, type.text) ? objects[type.text] : undefined;
  if (sym?.kind !== 'vmod' || type === undefined || object === undefined) notFound(scope, call.callee);
  sym.used = true;
  const name = s.name.text;
  if (model.symbols.has(name) || model.declared.has(name)) {
    const first = model.symbols.get(name)?.span;
    reporter.fail(
      MESSAGES.objectTwice(name),
      s.name.span,
      undefined,
      first === undefined ? [] : [{ message: 'First definition:', span: first }],
    );
  }
  if (name.startsWith('vcl_')) reporter.fail(MESSAGES.reservedNames(), s.name.span);
  if (isReserved(name)) reporter.fail(MESSAGES.taken(name), s.name.span);
  const signature = model.signature(object.signature);
  const args = bindArgs(scope, signature, call.args, call.open, sym.extension.name, call.callee.span);
  model.symbols.set(name, {
    kind: 'object',
    name,
    span: s.name.span,
    used: false,
    extension: sym.extension.name,
    type: type.text,
    object,
  });
  const made = generatedName('obj', name);
  model.declare({ k: 'object', name: made });
  const make = model.hoist('make', lookup('N', sym.extension.name, type.text));
  const code = extensionCall(make.name, [CONTEXT, constant(name), ...args]);
  return { k: 'make', name: made, code, span: s.span };
}
