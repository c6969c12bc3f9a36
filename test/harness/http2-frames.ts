// Frames of HTTP/2 as bytes (RFC 9113 section 4.1), right or wrong as the caller wants them.

import { type Field, hpackLiterals } from './hpack-text.ts';

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
  PRIORITY_UPDATE: 16,
} as const;
/** ACK is END_STREAM of other frames. */
export const FLAG = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const;
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const HEADER_LENGTH = 9;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export interface Http2Request {
  readonly method?: string;
  readonly scheme?: string;
  readonly authority?: string;
  readonly fields?: readonly Field[];
  /** Sent in one DATA frame, which must fit. */
  readonly body?: Buffer | string;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array | string = '',
): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(HEADER_LENGTH);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[] = []): Buffer {
  const pairs = settings.map(([id, value]) =>
    Buffer.concat([Buffer.from([id >> 8, id & 255]), uint32(value)]),
  );
  return frame(FRAME.SETTINGS, 0, 0, Buffer.concat(pairs));
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  return frame(FRAME.WINDOW_UPDATE, 0, stream, uint32(bytes));
}

/** HEADERS of a request, in one frame; with END_STREAM unless the request has a body. */
export function requestFrame(stream: number, path: string, request: Http2Request = {}): Buffer {
  const { method = 'GET', scheme = 'http', authority = 'a.example', fields = [], body } = request;
  const flags = FLAG.END_HEADERS | (body === undefined ? FLAG.END_STREAM : 0);
  const pseudo: Field[] = [
    [':method', method],
    [':scheme', scheme],
    [':path', path],
    [':authority', authority],
  ];
  return frame(FRAME.HEADERS, flags, stream, hpackLiterals([...pseudo, ...fields]));
}
