// The steps of a client request, as numbers: a step returns the next one and never calls it, so restarts and
// waits do not grow the stack. loop.ts holds the table from number to function.

export type Step = number;

/** The transaction is over. */
export const DONE: Step = 0;
/** The step waits for something (a fetch, the waiting list, the client); it resumes the loop itself. */
export const PARKED: Step = 1;

export const TRANSPORT: Step = 2;
export const RECV: Step = 3;
export const LOOKUP: Step = 4;
export const HIT: Step = 5;
export const MISS: Step = 6;
export const PASS: Step = 7;
export const PIPE: Step = 8;
export const PURGE: Step = 9;
export const SYNTH: Step = 10;
export const FETCH: Step = 11;
export const DELIVER: Step = 12;
export const TRANSMIT: Step = 13;
export const RESTART: Step = 14;
export const FAIL: Step = 15;
export const FINISH: Step = 16;
/** vcl_recv is over, after it had to wait. */
export const RECEIVED: Step = 17;
