// Puts an outside extension behind the interface of the built-in ones: each call gets a context of its own, values
// are converted by the signature, and whatever is thrown becomes a failure of the transaction that names its origin.

import type { VclContext } from '../../contract/context.ts';
import type {
  Extension,
  ExtensionFunction,
  ExtensionMethod,
  ExtensionObject,
} from '../../contract/extension.ts';
import { ExtensionError, VclFailure } from '../../contract/failure.ts';
import { parseSignature, type Signature } from '../../vcl/check/signature.ts';
import type { Type } from '../../vcl/check/types.ts';
import { SubReturned } from '../../vcl/runtime/sub-value.ts';
import type { OutsideExtension, OutsideFunction, OutsideMethod, OutsideObject } from './interface.ts';
import type { FunctionManifest, Manifest } from './manifest.ts';
import { CallLife, Context } from './outside-context.ts';
import { fromOutside, toOutside } from './values.ts';

/** @param exported what `readManifest` found in the module's exports, with its functions */
export function adaptExtension(manifest: Manifest, exported: OutsideExtension): Extension {
  const { name } = manifest;
  const functions: Record<string, ExtensionFunction> = {};
  for (const [f, row] of Object.entries(manifest.functions)) {
    const theirs = exported.functions?.[f] as OutsideFunction;
    const sig = parseSignature(row.signature);
    functions[f] = {
      ...row,
      call: guarded(`${name}.${f}`, sig, sig.returns, 0, (c, args) => theirs.call(c, ...args)),
    };
  }
  const objects: Record<string, ExtensionObject> = {};
  for (const [o, row] of Object.entries(manifest.objects)) {
    const theirs = exported.objects?.[o] as OutsideObject;
    objects[o] = adaptObject(`${name}.${o}`, row, row.methods, theirs);
  }
  const out: Extension = { name, outside: true, functions, objects };
  const { event } = exported;
  if (event !== undefined) {
    out.event = (ctx, what, priv) => {
      const text = run(`${name}: event ${what}`, ctx, true, (c) => event.call(exported, c, what, priv));
      return typeof text === 'string' ? text : undefined;
    };
  }
  return out;
}

function adaptObject(
  label: string,
  row: { signature: string; mayBeAbsent?: boolean },
  rows: Record<string, FunctionManifest>,
  theirs: OutsideObject,
): ExtensionObject {
  const methods: Record<string, ExtensionMethod> = {};
  for (const [m, method] of Object.entries(rows)) {
    const their = theirs.methods[m] as OutsideMethod;
    const sig = parseSignature(method.signature);
    methods[m] = {
      ...method,
      call: guarded(`${label}.${m}`, sig, sig.returns, 1, (c, [self, ...args]) =>
        their.call(c, self as object, ...args),
      ),
    };
  }
  const out: ExtensionObject = {
    signature: row.signature,
    methods,
    create: guarded(label, parseSignature(row.signature), null, 1, (c, [name, ...args]) => {
      const self = theirs.create(c, name as string, ...args);
      if (typeof self !== 'object' || self === null) {
        throw new ExtensionError(`${label} made no object for ${String(name)}`);
      }
      return self;
    }) as ExtensionObject['create'],
  };
  if (row.mayBeAbsent === true) out.mayBeAbsent = true;
  if (typeof theirs.destroy === 'function') out.destroy = (self: object) => theirs.destroy?.(self);
  return out;
}

/**
 * A call by our interface.
 * @param returns null: not to be converted
 * @param leading arguments before those of the signature, passed on as they are
 */
function guarded(
  label: string,
  sig: Signature,
  returns: Type | null,
  leading: number,
  theirs: (c: Context, args: unknown[]) => unknown,
): (ctx: VclContext, ...args: unknown[]) => unknown {
  const { params } = sig;
  return (ctx, ...args) => {
    const value = run(label, ctx, false, (c, life) => {
      for (let i = leading; i < args.length; i++) {
        const p = params[i - leading];
        if (p !== undefined && p.priv === null) args[i] = toOutside(ctx, life, p.type, args[i]);
      }
      return theirs(c, args);
    });
    return returns === null ? value : fromOutside(`${label}()`, returns, value);
  };
}

function run(
  label: string,
  ctx: VclContext,
  event: boolean,
  action: (c: Context, life: CallLife) => unknown,
): unknown {
  const life = new CallLife();
  try {
    return action(new Context(ctx, life, event), life);
  } catch (error) {
    if (error instanceof VclFailure || error instanceof SubReturned) throw error;
    throw new ExtensionError(`${label}: ${messageOf(error)}`);
  } finally {
    life.over = true;
  }
}

/** Text of whatever was thrown; even asking for it may throw. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a text';
  }
}
