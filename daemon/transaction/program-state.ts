// Runs a state of the program for a request or a fetch. Where the state makes calls of extensions that may wait, its
// transaction is parked meanwhile and continues with a step of its own; where it makes none, this is a plain call.
//
// A state that has invalidated something is over when the disk tier, the edge's queue and the fleet have it, or have refused it: an answer
// that the program makes itself then says so, 207 or 504 in place of 200. What was done here stays done.

import { RETURN, RETURNS } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { VclContext } from '../contract/context.ts';
import { type FleetReceipt, fleetFailure, fleetReply, isRefused } from '../contract/invalidation.ts';
import { type ReturnCode, STATES, State } from '../contract/program.ts';
import { reasonOf } from '../http1/status-reasons.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';
import { runState, runWaitingState } from '../vcl/runtime/run-state.ts';
import { PARKED, type Step } from './drive.ts';

/** A request or a fetch, which runs a program. */
interface ProgramTask<T> {
  readonly ctx: VclContext;
  readonly core: { readonly turnWatch: TurnWatch | null };
  resume(step: Step<T>): void;
}

/** The step after a state, by what the state returned. */
export type AfterState<T> = (tx: T, code: ReturnCode) => Step<T>;

/**
 * @param stateId index into STATES
 * @param after runs in this turn, or in a later one when the state had to wait
 * @param woken runs in its place after a wait
 */
export function inState<T extends ProgramTask<T>>(
  tx: T,
  stateId: number,
  after: AfterState<T>,
  woken: AfterState<T> = after,
): Step<T> {
  const { ctx } = tx;
  const { vcl } = ctx;
  const steps = vcl.waiting[stateId];
  if (steps === null || steps === undefined) {
    const code = runState(vcl, stateId, ctx);
    // The builtin program's states never take long.
    if (!vcl.isPlain[stateId]) tx.core.turnWatch?.clock.now();
    return isOwed(ctx) ? whenWritten(tx, stateId, code, woken) : after(tx, code);
  }
  const code = runWaitingState(vcl, stateId, steps, ctx, (later) =>
    tx.resume({
      name: 'woken',
      run: () => (isOwed(ctx) ? whenWritten(tx, stateId, later, woken) : woken(tx, later)),
    }),
  );
  if (code === null) return PARKED;
  return isOwed(ctx) ? whenWritten(tx, stateId, code, woken) : after(tx, code);
}

function isOwed({ owed, published, onDisk }: VclContext): boolean {
  return owed !== null || published !== null || onDisk !== null;
}

/** Goes on as after a state that has ended with `code`, once what was invalidated since is written down. */
export function afterWriting<T extends ProgramTask<T>>(
  tx: T,
  stateId: number,
  code: ReturnCode,
  after: AfterState<T>,
): Step<T> {
  return isOwed(tx.ctx) ? whenWritten(tx, stateId, code, after) : after(tx, code);
}

/** The state has invalidated something of which the edge or the fleet must know: the client is answered when
 * that cannot be lost any more, or with the warning that it may be. */
function whenWritten<T extends ProgramTask<T>>(
  tx: T,
  stateId: number,
  code: ReturnCode,
  woken: AfterState<T>,
): Step<T> {
  const { ctx } = tx;
  const { owed, published, onDisk } = ctx;
  ctx.owed = null;
  ctx.published = null;
  ctx.onDisk = null;
  const all = [Promise.all(published ?? []), Promise.all(owed ?? []), Promise.all(onDisk ?? [])] as const;
  Promise.all(all).then(([ofFleet, ofEdge, ofDisk]) => {
    if (ofEdge.some(isRefused) || ofDisk.includes(false)) reportPart(ctx, stateId, code);
    const run = (): Step<T> => woken(tx, afterPublishing(ctx, stateId, code, ofFleet));
    tx.resume({ name: 'written', run });
  });
  return PARKED;
}

const OK = 200;
const MULTI_STATUS = 207;

/** Only of answers that the program makes itself: what a client gets of an object is none to an invalidation. */
function reportPart(ctx: VclContext, stateId: number, code: ReturnCode): void {
  if (ctx.req === null) return;
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

const GATEWAY_TIMEOUT = 504;
const MAY_SYNTH: ReadonlySet<string> = new Set(RETURNS.find(({ name }) => name === 'synth')?.states);

/** The code with which the state ends. */
function afterPublishing(
  ctx: VclContext,
  stateId: number,
  code: ReturnCode,
  receipts: readonly FleetReceipt[],
): ReturnCode {
  if (receipts.length === 0) return code;
  for (const receipt of receipts) ctx.log.put(Tag.Notice, `fleet: ${fleetReply(receipt)}`);
  const failed = receipts.find(({ state }) => state !== 'stored');
  ctx.fleetReply = fleetReply(failed ?? (receipts.at(-1) as FleetReceipt));
  if (failed === undefined || ctx.req === null || code === RETURN.fail) return code;
  const reason = fleetFailure(failed);
  if (stateId === State.synth) {
    ctx.req.resp.status = GATEWAY_TIMEOUT;
    ctx.req.resp.reason = reason;
    return code;
  }
  // A state that may not end so says no more than its log record.
  if (!MAY_SYNTH.has(STATES[stateId] ?? '')) return code;
  ctx.synthStatus = GATEWAY_TIMEOUT;
  ctx.synthReason = reason;
  return RETURN.synth as ReturnCode;
}
