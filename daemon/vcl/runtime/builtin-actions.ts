// Actions that are part of the language, and the small questions about backends, objects and storages.

import { RETURN } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext, VclRequest } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import { add_beresp_body, add_resp_body } from './bodies.ts';

export { querysort } from './querysort.ts';

/**
 * hash_data(): the strands of a text are one part of the key, but each has a record of its own, as in Varnish. One that
 * is not there comes as a NUL and adds to the key, so that digests agree.
 */
export function hashData(ctx: VclContext, text: string, ...more: string[]): void {
  const req = ctx.req as VclRequest;
  req.hashData(text, more);
}

/** synthetic(): adds to the body of whichever response this state makes. */
export function synthetic(ctx: VclContext, text: string): void {
  if (ctx.bo !== null) add_beresp_body(ctx, text);
  else add_resp_body(ctx, text);
}

/** The program came by one of its points (trace-points.ts). */
export function trace(ctx: VclContext, point: string): void {
  ctx.log.put(Tag.VCL_trace, `${ctx.vcl.name} ${point}`);
}

/** ban(): a failure is logged and does not fail the task. */
export function banString(ctx: VclContext, expression: string | null): void {
  const problem = expression === null ? 'Null argument' : ctx.host.ban(expression, ctx);
  if (problem !== null) ctx.log.put(Tag.VCL_Error, `ban(): ${problem}`);
}

export function hasBackend(d: Director | null): boolean {
  return d !== null;
}

export function defaultBackend(ctx: VclContext): Director | null {
  return ctx.vcl.defaultDirector;
}

/** `.resolve()`: the backend that would answer now; a director that has none gives `none`. */
export function resolveBackend(ctx: VclContext, d: Director | null): Director | null {
  return d === null ? null : d.resolve(ctx);
}

/** An object made in vcl_init; null before its `new` ran. */
export function object(o: object | null, name: string): object {
  if (o === null) throw new VclFailure(`Object ${name} not initialized`, true);
  return o;
}

/** The end of vcl_init: a program that uses an object has to have made it. */
export function initialised(code: number, objects: readonly (readonly [object | null, string])[]): number {
  if (code === RETURN.ok) {
    for (const [o, name] of objects) if (o === null) throw new VclFailure(`Object ${name} not initialized`);
  }
  return code;
}

export function storageFigure(ctx: VclContext, name: string | null, figure: string): number | boolean {
  const s = name === null ? null : ctx.host.storage(name);
  if (figure === 'happy') return s?.happy ?? false;
  if (s === null) return 0;
  return figure === 'free_space' ? s.freeSpace : s.usedSpace;
}
