// The error codes of the console protocol, with the close code of those that end the connection.
//
// `close` is the WebSocket close code that follows the error message; null means that only the message or
// subscription it names has failed and the connection continues.

import type { ErrorCode } from './messages.ts';

export interface ErrorRow {
  readonly close: number | null;
  readonly help: string;
}

export const PROTOCOL_ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = {
  'bad-message': { close: 1002, help: 'Not JSON, not a message of this protocol, or out of its limits.' },
  'bad-version': { close: 1002, help: 'The client speaks another version of this protocol.' },
  'bad-query': { close: null, help: 'The query of a log subscription has an error; detail marks the place.' },
  'bad-filter': { close: null, help: 'A record or counter filter has an error.' },
  'auth-required': {
    close: 1008,
    help: 'A message other than hello or auth before the challenge was answered.',
  },
  'auth-failed': {
    close: 1008,
    help: 'The answer to the challenge is wrong, or there were too many wrong ones.',
  },
  'too-many': { close: null, help: 'Too many connections, commands or subscriptions at a time.' },
  'not-running': { close: null, help: 'This needs a worker and none is running.' },
  internal: { close: null, help: 'A fault of the daemon; its log says more.' },
};

/** A rejected message, as a value. */
export class ProtocolError {
  readonly code: ErrorCode;
  readonly message: string;
  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** Status codes of admin commands, as varnish-cli(7) numbers them. */
export const CLI = {
  SYNTAX: 100,
  UNKNOWN: 101,
  UNIMPLEMENTED: 102,
  TOO_FEW: 104,
  TOO_MANY: 105,
  PARAM: 106,
  AUTH: 107,
  OK: 200,
  TRUNCATED: 201,
  CANT: 300,
  COMMS: 400,
  CLOSE: 500,
} as const;
