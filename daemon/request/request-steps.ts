// The steps of a client request. Their functions are bound to them in request-machine.ts.

import { step } from '../transaction/drive.ts';
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
/** What is fetched for this request can be delivered, or it has to wait until it can. */
export const FETCH = step<Request>('fetch');
/** vcl_deliver. */
export const DELIVER = step<Request>('deliver');
export const TRANSMIT = step<Request>('transmit');
export const RESTART = step<Request>('restart');
/** The program failed. */
export const FAIL = step<Request>('fail');
export const FINISH = step<Request>('finish');
