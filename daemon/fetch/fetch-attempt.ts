// What one attempt at a fetch knows: up to a retry, or from one retry to the next. A retry puts a new one in its place,
// as does an answer made here once there will be none of the origin.

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { VclFetchAttempt } from '../contract/context.ts';
import type { FetchChain } from '../filters/chain.ts';
import { NO_FETCH_FILTERS } from '../filters/filter-table.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import type { BodyPump } from './body.ts';

export class FetchAttempt implements VclFetchAttempt {
  readonly vxid: number;
  doStream: boolean;
  was304 = false;
  /** The stale object stands in for an error of the origin. */
  standsIn = false;
  /** vcl_backend_response has taken the request back: its answer is not for keeping. */
  rolledBack = false;
  /** Bytes of the stale object's body that have been copied, and why no more can be. */
  copied = 0;
  copyFailure: FetchFailure | null = null;
  /** How the answer's body is framed. */
  framing: BodyFraming = NO_BODY;
  /** The filters chosen for the body, and what they are for this one; null where it passes none. */
  filterList = NO_FETCH_FILTERS;
  chain: FetchChain | null = null;
  /** The body on its way into the store; null before it comes and where there is none. */
  pump: BodyPump | null = null;
  synthBody: string | null = null;
  /** The answer is made here, for an origin that gave none or none that the program takes. */
  madeHere = false;
  /** The origin answered a HEAD. */
  headAlone = false;

  /** @param vxid the id of the attempt's transaction */
  constructor(vxid: number, doStream = true) {
    this.vxid = vxid;
    this.doStream = doStream;
  }
}
