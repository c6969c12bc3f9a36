// The steps of a client request. Their functions are bound to them in request-machine.ts; inClientState() runs a state of
// the program in one of them. A client may leave while the program waits for an extension: then the program's return is
// ignored, and the state releases what it held.

import { RETURN } from '../../protocol/tables/returns.ts';
import { State } from '../contract/program.ts';
import { type Step, step } from '../transaction/drive.ts';
import { type AfterState, inState } from '../transaction/program-state.ts';
import type { Request } from '../transaction/request.ts';

/** The head is judged before a program sees it. */
export const TRANSPORT = step<Request>('transport');
/** vcl_recv and vcl_hash. */
export const RECV = step<Request>('recv');
export const LOOKUP = step<Request>('lookup');
export const HIT = step<Request>('hit');
export const MISS = step<Request>('miss');
export const PASS = step<Request>('pass');
export const PIPE = step<Request>('pipe');
export const PURGE = step<Request>('purge');
export const SYNTH = step<Request>('synth');
/** Waits until the object that this request fetches can be delivered. */
export const FETCH = step<Request>('fetch');
/** vcl_deliver. */
export const DELIVER = step<Request>('deliver');
export const TRANSMIT = step<Request>('transmit');
export const RESTART = step<Request>('restart');
/** The program failed. */
export const FAIL = step<Request>('fail');
export const FINISH = step<Request>('finish');
/** The client left before its response. */
export const RESET = step<Request>('reset');

/** States whose steps hold references to objects or a bereq, which a failed program makes them give back. */
const HOLDING: ReadonlySet<number> = new Set([State.hit, State.miss, State.pipe]);

/** As inState(). */
export function inClientState(req: Request, stateId: number, after: AfterState<Request>): Step<Request> {
  const { vcl, host } = req.ctx;
  if (vcl.waiting[stateId] === null && host.edge === null && host.fleet === null && host.disk === null)
    return inState(req, stateId, after);
  return inState(req, stateId, after, (tx, code) => {
    // The bytes of a head of the cache or of the read buffer may be others by this turn.
    tx.resp.raw = null;
    if (!tx.aborted) return after(tx, code);
    if (HOLDING.has(stateId)) after(tx, RETURN.fail);
    return RESET;
  });
}
