// The states of a connection to an origin.

export const AT = {
  /** In the pool; bytes from the origin belong to no request. */
  IDLE: 0,
  /** The request is being sent; early bytes are kept until readHead(). */
  SENDING: 1,
  /** Reading the head. */
  HEAD: 2,
  /** The head is complete; the body is kept until readBody(). */
  HELD: 3,
  /** The body is written to its sink. */
  BODY: 4,
  /** The whole response was received. */
  DONE: 5,
  CLOSED: 6,
  /** Used for a pipe: no further exchange. */
  PIPE: 7,
} as const;

export type ExchangeState = (typeof AT)[keyof typeof AT];
