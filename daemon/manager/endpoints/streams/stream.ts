// The connection as a stream sees it, and how a stream refuses a subscription. Streams know nothing of WebSocket; the
// control server passes a sink per subscription.

import type { ErrorCode, ServerMessage } from '../../../../protocol/messages.ts';

export interface StreamSink {
  /** Sends one binary frame. */
  send(frame: Uint8Array): void;
  /** Sends one control message. */
  json(message: ServerMessage): void;
  /** Bytes passed on that the client has not read. */
  buffered(): number;
  /** Runs a step of the stream outside of any message: an exception closes the connection, not the daemon. */
  run(step: () => void): void;
}

/** A sink that also takes messages of many megabytes. */
export interface ListSink extends StreamSink {
  /** Sends a control message as bytes of JSON; resolves when the client has read it or is gone. */
  text(message: Buffer): Promise<void>;
}

/** An active subscription. close() is final: nothing is sent after it, not even `end`. */
export interface Stream {
  /** The position where it begins, for `ok`; only for logs, and absent if there are no older records. */
  readonly mark?: string | undefined;
  close(): void;
  /** Sends incomplete groups as they are; only for logs. */
  flush?(): void;
}

/** A refused subscription. */
export interface StreamError {
  error: { code: ErrorCode; message: string; detail?: string };
}

/** List items encoded in one step (chosen). */
const A_STEP = 128;

/** Encodes a message whose last field is a list of up to hundreds of thousands of items, as bytes of JSON, in steps.
 * @param item returns the JSON of an item */
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
