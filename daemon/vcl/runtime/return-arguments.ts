// Returns that carry something: they leave it in the context and give the code of tables/returns.ts.

import { RETURN } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { softFail } from '../../contract/failure.ts';
import { reasonOf } from '../../http1/status-reasons.ts';
import { roundedNumber } from '../../log/rounded-number.ts';
import { CONTROL } from './message-line.ts';

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
  // An empty reason is one; none at all is the status's own.
  return setStatus(ctx, 'synth', status, reason ?? reasonOf(status % 1000)) ? RETURN.synth : RETURN.fail;
}

export function returnError(ctx: VclContext, status?: number, reason?: string | null): number {
  // Bare, it is as if the fetch had failed, and says so.
  const said = status === undefined ? null : (reason ?? reasonOf(status % 1000));
  return setStatus(ctx, 'error', status ?? 503, said) ? RETURN.error : RETURN.fail;
}

/** Without a duration the object keeps the life it has, as one that must not be used. */
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
