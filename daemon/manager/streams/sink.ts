// What a stream needs of the connection it feeds, and how it refuses a subscription. The streams know no
// WebSocket; the control server hands them a sink per subscription.

import type { ErrorCode, ServerMessage } from '../../../protocol/messages.ts';

export interface StreamSink {
  /** Sends one binary frame. */
  send(frame: Uint8Array): void;
  /** Sends one control message. */
  json(message: ServerMessage): void;
  /** Bytes handed over that the peer has not taken yet. */
  buffered(): number;
  /** Runs a step of the stream outside of any message: what it throws ends the connection, not the daemon. */
  run(step: () => void): void;
}

/** A running subscription. close() is final: nothing is sent after it, an `end` message neither. */
export interface Stream {
  /** Where it begins, for `ok`; only for logs, and absent where nothing is older. */
  readonly mark?: string | undefined;
  close(): void;
  /** Sends what is incomplete as it is and goes on; only for logs. */
  flush?(): void;
}

/** A refused subscription. */
export interface StreamError {
  error: { code: ErrorCode; message: string; detail?: string };
}
