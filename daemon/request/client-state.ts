// Runs a client-side state of the program. A client may leave while the program waits for an extension: then nothing
// that the program says counts, and what the state held is let go of.

import { RETURN } from '../../protocol/tables/returns.ts';
import { State } from '../contract/program.ts';
import type { Step } from '../transaction/drive.ts';
import { type AfterState, inState } from '../transaction/program-state.ts';
import type { Request } from '../transaction/request.ts';
import { FINISH } from './request-steps.ts';

/** States whose steps hold references to objects or a bereq, which a failed program makes them give back. */
const HOLDING: ReadonlySet<number> = new Set([State.hit, State.miss, State.pipe]);

/** As inState(). */
export function inClientState(req: Request, stateId: number, after: AfterState<Request>): Step<Request> {
  const { vcl, host } = req.ctx;
  if (vcl.waiting[stateId] === null && host.edge === null && host.fleet === null)
    return inState(req, stateId, after);
  return inState(req, stateId, after, (tx, code) => {
    // The bytes of a head of the cache or of the read buffer may be others by this turn.
    tx.resp.raw = null;
    if (!tx.aborted) return after(tx, code);
    if (HOLDING.has(stateId)) after(tx, RETURN.fail);
    return FINISH;
  });
}
