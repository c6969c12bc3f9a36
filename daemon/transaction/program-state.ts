// Runs a state of the program for a request or a fetch. Where the state makes calls of extensions that may wait, its
// transaction is parked meanwhile and goes on with a step of its own; where it makes none, this is a plain call.

import type { VclContext } from '../contract/context.ts';
import type { ReturnCode } from '../contract/program.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';
import { runState, runWaitingState } from '../vcl/runtime/run-state.ts';
import { PARKED, type Step } from './drive.ts';
import { afterEdge } from './edge-answer.ts';
import { afterPublishing } from './fleet-answer.ts';

/** What runs a program: a request or a fetch. */
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

function isOwed({ owed, published }: VclContext): boolean {
  return owed !== null || published !== null;
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

/** The state has invalidated something of which the edge or the fleet is to hear: whoever asked for it is answered when
 * that cannot be lost any more, or that it may be. */
function whenWritten<T extends ProgramTask<T>>(
  tx: T,
  stateId: number,
  code: ReturnCode,
  woken: AfterState<T>,
): Step<T> {
  const { ctx } = tx;
  const { owed, published } = ctx;
  ctx.owed = null;
  ctx.published = null;
  Promise.all([Promise.all(published ?? []), Promise.all(owed ?? [])]).then(([ofFleet, ofEdge]) => {
    afterEdge(ctx, stateId, code, ofEdge);
    const run = (): Step<T> => woken(tx, afterPublishing(ctx, stateId, code, ofFleet));
    tx.resume({ name: 'written', run });
  });
  return PARKED;
}
