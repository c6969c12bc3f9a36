// Frames of HTTP/2 as bytes (RFC 9113 section 4.1 and 6, RFC 9218 section 7.1): numbers, names and headers.

import type { LentBytes } from '../http1/lent-bytes.ts';

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

/** END_STREAM and ACK are the same bit, of different frames. */
export const FLAG = { END_STREAM: 1, ACK: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const;

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
  NO_RFC7540_PRIORITIES: 9,
} as const;

/** Codes of RST_STREAM and GOAWAY (RFC 9113 section 7). */
export const CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const;

export type ErrorCode = (typeof CODE)[keyof typeof CODE];

const CODE_NAMES = Object.keys(CODE);
const FRAME_NAMES = new Map<number, string>(Object.entries(FRAME).map(([name, type]) => [type, name]));

/** For the log. */
export function codeName(code: number): string {
  return CODE_NAMES[code] ?? `error ${code}`;
}

export function frameName(type: number): string {
  return FRAME_NAMES.get(type) ?? `frame type ${type}`;
}

export const FRAME_HEADER = 9;
/** Of windows, and of stream identifiers. */
export const MAX_31 = 0x7fffffff;
/** Initial windows (RFC 9113 section 6.9.2). */
export const FIRST_WINDOW = 65535;
/** The smallest SETTINGS_MAX_FRAME_SIZE, and the one before any is sent (RFC 9113 section 6.5.2). */
export const FIRST_FRAME_SIZE = 16384;
/** A client begins with it (RFC 9113 section 3.4). */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Writes the header of a frame with `length` bytes; returns the offset past it. */
export function putFrame(
  out: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  return put32(out, at + 5, stream);
}

export function put32(out: Uint8Array, at: number, value: number): number {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
  return at + 4;
}

/** The 32 bits at `at`. */
export function read32(buf: LentBytes, at: number): number {
  return (
    (((buf[at] as number) << 24) |
      ((buf[at + 1] as number) << 16) |
      ((buf[at + 2] as number) << 8) |
      (buf[at + 3] as number)) >>>
    0
  );
}

/** The 31 bits at `at`: stream identifiers and windows have a reserved bit in front. */
export function read31(buf: LentBytes, at: number): number {
  return read32(buf, at) & MAX_31;
}
