// Actions of the language, and helpers for backends, objects and storages.

import { readableNumber } from '../../../protocol/tables/params.ts';
import { RETURN } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclBusyobj, VclContext, VclRequest } from '../../contract/context.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { reasonOf } from '../../http1/status-reasons.ts';
import { roundedNumber } from '../../log/rounded-number.ts';
import { CONTROL } from './limits.ts';

export { querysort } from './querysort.ts';

/** hash_data(): the strands of a text are one part of the key, but each has its own log record, as in Varnish. An
 * unset one is passed as NUL and added to the key, so that digests agree. */
export function hashData(ctx: VclContext, text: string, ...more: string[]): void {
  const req = ctx.req as VclRequest;
  req.hashData(text, more);
}

/** synthetic(): appends to the response body of this state. */
export function synthetic(ctx: VclContext, text: string): void {
  if (ctx.bo !== null) add_beresp_body(ctx, text);
  else add_resp_body(ctx, text);
}

/** Logs that the program passed a trace point. */
export function trace(ctx: VclContext, point: string): void {
  ctx.log.putUnmasked(Tag.VCL_trace, `${ctx.vcl.name} ${point}`);
}

/** `param.<name>`: seconds, bytes or a number, by the parameter. */
export function parameterValue(ctx: VclContext, name: string): number {
  return readableNumber(Number(ctx.host.param(name)));
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

/** `.resolve()`: the backend that would be chosen now; `none` if a director has none. */
export function resolveBackend(ctx: VclContext, d: Director | null): Director | null {
  return d === null ? null : d.resolve(ctx);
}

/** An object made in vcl_init; null before its `new` ran. */
export function object(o: object | null, name: string): object {
  if (o === null) throw new VclFailure(`Object ${name} not initialized`, true);
  return o;
}

/** End of vcl_init: every object that the program uses must have been created. */
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

// Returns with arguments: they store them in the context and return the code of tables/returns.ts.

function setStatus(
  ctx: VclContext,
  what: string,
  status: number,
  reason: string | null | undefined,
): boolean {
  if (status < 0) softFail(ctx, `return(${what}()) status code (${status}) is negative`);
  else if (status > 65535) softFail(ctx, `return(${what}()) status code (${status}) > 65535`);
  else if (status % 1000 < 100) softFail(ctx, `illegal return(${what}()) status code (${status}) (..0##)`);
  else if (reason && CONTROL.test(reason)) softFail(ctx, `control character in return(${what}()) reason`);
  else {
    ctx.synthStatus = status;
    ctx.synthReason = reason ?? '';
    return true;
  }
  return false;
}

export function returnSynth(ctx: VclContext, status: number, reason?: string | null): number {
  // An empty reason is kept; a missing one is the default of the status.
  return setStatus(ctx, 'synth', status, reason ?? reasonOf(status % 1000)) ? RETURN.synth : RETURN.fail;
}

export function returnError(ctx: VclContext, status?: number, reason?: string | null): number {
  // Without a status it is reported like a failed fetch.
  const phrase = status === undefined ? null : (reason ?? reasonOf(status % 1000));
  return setStatus(ctx, 'error', status ?? 503, phrase) ? RETURN.error : RETURN.fail;
}

/** Without a duration the object keeps its TTL, as one that must not be used. */
export function returnPass(ctx: VclContext, duration: number | null = null): number {
  ctx.passTtl = duration;
  if (ctx.bo !== null && duration !== null) {
    ctx.log.put(Tag.TTL, `HFP ${roundedNumber(duration)} 0 0 ${roundedNumber(ctx.now)} uncacheable`);
  }
  return RETURN.pass;
}

export function returnFail(ctx: VclContext, message: string | null = 'Failed from VCL'): number {
  softFail(ctx, message ?? '');
  return RETURN.fail;
}

export function returnVcl(ctx: VclContext, label: string): number {
  ctx.req?.selectProgram(label);
  return RETURN.vcl;
}

// Bodies made in vcl_synth and vcl_backend_error. They are byte strings, as all strings of programs, and are sent
// unchanged.

export function set_resp_body(ctx: VclContext, value: string): void {
  (ctx.req as VclRequest).attempt.synthBody = value;
}

export function add_resp_body(ctx: VclContext, value: string): void {
  const { attempt } = ctx.req as VclRequest;
  attempt.synthBody = (attempt.synthBody ?? '') + value;
}

export function set_beresp_body(ctx: VclContext, value: string): void {
  (ctx.bo as VclBusyobj).attempt.synthBody = value;
}

export function add_beresp_body(ctx: VclContext, value: string): void {
  const { attempt } = ctx.bo as VclBusyobj;
  attempt.synthBody = (attempt.synthBody ?? '') + value;
}

export function unset_bereq_body(ctx: VclContext): void {
  (ctx.bo as VclBusyobj).unsetBody();
}

// Arithmetic that differs from JavaScript's operators: INT division truncates, and division by zero fails the task.

export function intDivide(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return Math.trunc(a / b) + 0;
}

export function intModulo(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return (a % b) + 0;
}

export function realDivide(a: number, b: number): number {
  if (b === 0) throw new VclFailure('Division by zero', true);
  return a / b;
}
