// Where a connection to an origin is in its exchange.

export const AT = {
  /** Kept; bytes from the origin now belong to no request. */
  IDLE: 0,
  /** The request is being sent; early bytes are kept until somebody asks. */
  SENDING: 1,
  /** Somebody waits for the head. */
  HEAD: 2,
  /** The head is there, and nobody has asked for the body yet. */
  HELD: 3,
  /** The body goes to its sink. */
  BODY: 4,
  /** All of the response was received. */
  DONE: 5,
  CLOSED: 6,
  /** Used for a pipe: no further exchange. */
  PIPE: 7,
} as const;

export type ExchangeState = (typeof AT)[keyof typeof AT];
