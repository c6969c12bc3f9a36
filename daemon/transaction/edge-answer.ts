// What the edge's queue has refused of a program's invalidations, as the program's client learns it: 207 in place of a 200
// that would say that all is well. What was done here stays done; the log says what was refused and why.

import { RETURN } from '../../protocol/tables/returns.ts';
import type { VclContext } from '../contract/context.ts';
import { type EdgeReceipt, isRefused } from '../contract/invalidation.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { reasonOf } from '../http1/status-reasons.ts';

const OK = 200;
const MULTI_STATUS = 207;

/** Only of answers that the program makes itself: what a client gets of an object is none to an invalidation. */
export function afterEdge(
  ctx: VclContext,
  stateId: number,
  code: ReturnCode,
  receipts: readonly EdgeReceipt[],
): void {
  if (ctx.req === null || !receipts.some(isRefused)) return;
  const reason = reasonOf(MULTI_STATUS);
  const { resp } = ctx.req;
  if (stateId === State.synth && code !== RETURN.fail && resp.status === OK) {
    resp.status = MULTI_STATUS;
    resp.reason = reason;
  } else if (code === RETURN.synth && ctx.synthStatus === OK) {
    ctx.synthStatus = MULTI_STATUS;
    ctx.synthReason = reason;
  }
}
