// What a stream needs of the connection it feeds, and how it refuses a subscription. The streams know no
// WebSocket; the control server hands them a sink per subscription.

import type { ErrorCode, ServerMessage } from '../../../../protocol/messages.ts';

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

/** One for messages of many megabytes too. */
export interface ListSink extends StreamSink {
  /** Sends a control message as bytes of JSON; resolves when the peer has taken it, or is gone. */
  text(message: Buffer): Promise<void>;
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

/** Items of a list that are written in one step (chosen). */
const A_STEP = 128;

/** A message with a list of a hundred thousand items, which is its last field, as bytes of JSON, in steps.
 * @param item the JSON of one */
export function* listMessage<M extends ServerMessage>(
  empty: M,
  list: keyof M & string,
  length: number,
  item: (index: number) => string,
): Generator<void, Buffer> {
  const parts: Buffer[] = [];
  let text = JSON.stringify(empty).replace(new RegExp(`"${list}":\\[\\]\\}$`), `"${list}":[`);
  for (let i = 0; i < length; i++) {
    text += i === 0 ? item(i) : `,${item(i)}`;
    if (i % A_STEP < A_STEP - 1) continue;
    parts.push(Buffer.from(text));
    text = '';
    yield;
  }
  parts.push(Buffer.from(`${text}]}`));
  return Buffer.concat(parts);
}
