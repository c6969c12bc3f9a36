// The steps of a fetch, as numbers: a step returns the next one and never calls it, so retries do not grow the
// stack, and a fetch that finds a kept connection makes no promise on its way. fetch.ts holds the table from number
// to function.

export type FetchStep = number;

/** The fetch is over. */
export const DONE: FetchStep = 0;
/** The step waits for the origin or the client; whoever it waits for resumes the fetch. */
export const PARKED: FetchStep = 1;

/** vcl_backend_fetch, and the way to a connection. */
export const ATTEMPT: FetchStep = 2;
/** There is a connection, or there will be none. */
export const CONNECTED: FetchStep = 3;
/** The client's body was sent, or broke off. */
export const SENT: FetchStep = 4;
/** The answer's head is there, or there will be none. */
export const ANSWERED: FetchStep = 5;
/** There will be no answer of the origin. */
export const UNANSWERED: FetchStep = 6;
/** vcl_backend_response, and where the body goes. */
export const RESPOND: FetchStep = 7;
/** The body is there, or broke off. */
export const STORED: FetchStep = 8;
/** The stale object whose body goes on in the new one is whole, or has failed. */
export const TAKE_OVER: FetchStep = 9;
/** Some more of that body is to be copied. */
export const COPY: FetchStep = 10;
/** There is nothing to deliver: vcl_backend_error. */
export const UNSTORED: FetchStep = 11;
