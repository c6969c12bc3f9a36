// The steps of a fetch. Their functions are bound to them in fetch-machine.ts. A fetch that finds a kept connection
// makes no promise on its way.

import { step } from '../transaction/drive.ts';
import type { BusyObj } from './busyobj.ts';

/** vcl_backend_fetch, and the way to a connection. */
export const ATTEMPT = step<BusyObj>('attempt');
/** The director may name a backend now. */
export const CHOOSE = step<BusyObj>('choose');
/** There is a connection, or there will be none. */
export const CONNECTED = step<BusyObj>('connected');
/** The wait of a fragment for a connection that others can spare is over. */
export const ACQUIRE = step<BusyObj>('acquire');
/** The client's body was sent, or broke off. */
export const SENT = step<BusyObj>('sent');
/** The answer's head is there, or there will be none. */
export const ANSWERED = step<BusyObj>('answered');
/** There will be no answer of the origin. */
export const UNANSWERED = step<BusyObj>('unanswered');
/** vcl_backend_response, and where the body goes. */
export const RESPOND = step<BusyObj>('respond');
/** The body is there, or broke off. */
export const STORED = step<BusyObj>('stored');
/** The stale object whose body the new one takes over is whole, or has failed. */
export const TAKE_OVER = step<BusyObj>('take-over');
/** Some more of that body is to be copied. */
export const COPY = step<BusyObj>('copy');
/** There is nothing to deliver: vcl_backend_error. */
export const UNSTORED = step<BusyObj>('unstored');
