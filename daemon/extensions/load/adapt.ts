// Adapts an outside extension to the interface of built-in ones: each call gets a context of its own, values are
// converted by signature, and anything thrown becomes a failure of the transaction that names its origin.

import type { BodyTransform, ExtensionFilter, PassingBody } from '../../contract/body-filter.ts';
import type { VclContext } from '../../contract/context.ts';
import type {
  Extension,
  ExtensionFunction,
  ExtensionMethod,
  ExtensionObject,
} from '../../contract/extension.ts';
import { ExtensionError, VclFailure } from '../../contract/failure.ts';
import { awaited, CALL_TIMEOUT, Waiting } from '../../contract/waiting.ts';
import { parseSignature, type Signature } from '../../vcl/check/signature.ts';
import { SubReturned } from '../../vcl/runtime/sub-value.ts';
import type {
  OutsideExtension,
  OutsideFilter,
  OutsideFunction,
  OutsideMethod,
  OutsideObject,
} from './interface.ts';
import type { FunctionManifest, Manifest } from './manifest.ts';
import { byteText, CallLife, Context } from './outside-context.ts';
import { fromOutside, isPromise, toOutside } from './values.ts';

/** @param exported what `readManifest` found in the module's exports, with its functions */
export function adaptExtension(manifest: Manifest, exported: OutsideExtension): Extension {
  const { name } = manifest;
  const functions: Record<string, ExtensionFunction> = {};
  for (const [f, row] of Object.entries(manifest.functions)) {
    const theirs = exported.functions?.[f] as OutsideFunction;
    const sig = parseSignature(row.signature);
    functions[f] = {
      ...row,
      help: theirs.help ?? '',
      call: guarded(`${name}.${f}`, sig, row, 0, (c, args) => theirs.call(c, ...args)),
    };
  }
  const objects: Record<string, ExtensionObject> = {};
  for (const [o, row] of Object.entries(manifest.objects)) {
    const theirs = exported.objects?.[o] as OutsideObject;
    objects[o] = adaptObject(`${name}.${o}`, row, row.methods, theirs);
  }
  const filters: Record<string, ExtensionFilter> = {};
  for (const [f, row] of Object.entries(manifest.filters)) {
    const theirs = exported.filters?.[f] as OutsideFilter;
    filters[f] = { ...row, help: theirs.help ?? '', open: (body) => adaptTransform(theirs, body) };
  }
  const out: Extension = { name, help: exported.help ?? '', outside: true, functions, objects, filters };
  const { event } = exported;
  if (event !== undefined) {
    out.event = (ctx, what, priv) => {
      const text = run(`${name}: event ${what}`, ctx, 'event', (c) => event.call(exported, c, what, priv));
      return typeof text === 'string' ? text : undefined;
    };
  }
  return out;
}

/** The filter's log ends with the body: the transaction continues, and its log is reused. */
function adaptTransform(theirs: OutsideFilter, body: PassingBody): BodyTransform {
  const life = new CallLife();
  const log = (text: string): void => {
    life.check();
    body.log(byteText(String(text)));
  };
  const made = theirs.open(Object.freeze({ log }));
  return {
    transform: (bytes, last) => made.transform(bytes, last),
    close: () => {
      life.over = true;
      made.close?.();
    },
  };
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
      help: their.help ?? '',
      call: guarded(`${label}.${m}`, sig, method, 1, (c, [self, ...args]) =>
        their.call(c, self as object, ...args),
      ),
    };
  }
  const out: ExtensionObject = {
    signature: row.signature,
    help: theirs.help ?? '',
    methods,
    create: guarded(label, parseSignature(row.signature), null, 1, (c, [name, ...args]) => {
      const self = theirs.create(c, name as string, ...args);
      if (typeof self !== 'object' || self === null) {
        throw new ExtensionError(`${label} created no object for ${String(name)}`);
      }
      return self;
    }) as ExtensionObject['create'],
  };
  if (row.mayBeAbsent === true) out.mayBeAbsent = true;
  if (typeof theirs.destroy === 'function') out.destroy = (self: object) => theirs.destroy?.(self);
  return out;
}

/**
 * A call through our interface.
 * @param row null for a constructor, which is synchronous and whose result is not converted
 * @param leading arguments before those of the signature, passed unchanged
 */
function guarded(
  label: string,
  sig: Signature,
  row: FunctionManifest | null,
  leading: number,
  theirs: (c: Context, args: unknown[]) => unknown,
): (ctx: VclContext, ...args: unknown[]) => unknown {
  const { params } = sig;
  return (ctx, ...args) => {
    const value = run(label, ctx, row, (c, life) => {
      for (let i = leading; i < args.length; i++) {
        const p = params[i - leading];
        if (p !== undefined && p.priv === null) args[i] = toOutside(ctx, life, p.type, args[i]);
      }
      return theirs(c, args);
    });
    if (row === null || value instanceof Waiting) return value;
    return fromOutside(`${label}()`, sig.returns, value);
  };
}

function run(
  label: string,
  ctx: VclContext,
  row: FunctionManifest | 'event' | null,
  action: (c: Context, life: CallLife) => unknown,
): unknown {
  const life = new CallLife();
  let waits = false;
  try {
    const value = action(new Context(ctx, life, row === 'event'), life);
    if (row === null || row === 'event' || row.waits !== true || !isPromise(value)) return value;
    waits = true;
    return later(label, row, value, life);
  } catch (error) {
    throw failure(label, error);
  } finally {
    if (!waits) life.over = true;
  }
}

/** A call that lasts until its promise settles or times out; its context is valid until then. */
function later(
  label: string,
  { signature, timeout }: FunctionManifest,
  promise: PromiseLike<unknown>,
  life: CallLife,
): Waiting {
  const { returns } = parseSignature(signature);
  const waiting = awaited(label, promise, timeout ?? CALL_TIMEOUT);
  return new Waiting((answered, failed) =>
    waiting.start(
      (value) => {
        life.over = true;
        let converted: unknown;
        try {
          converted = fromOutside(`${label}()`, returns, value);
        } catch (error) {
          failed(error);
          return;
        }
        answered(converted);
      },
      (error) => {
        life.over = true;
        failed(failure(label, error));
      },
    ),
  );
}

/** Converts a thrown value to a failure of the transaction. */
function failure(label: string, error: unknown): Error {
  if (error instanceof VclFailure || error instanceof SubReturned) return error;
  return new ExtensionError(`${label}: ${messageOf(error)}`);
}

/** Text of a thrown value; reading it may throw, too. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a text';
  }
}
