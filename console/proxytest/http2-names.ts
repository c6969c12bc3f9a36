// Numbers of HTTP/2 (RFC 9113 sections 6 and 7) and the names that scripts have for them.

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
} as const;

/** END_STREAM and ACK are the same bit, of different frames. */
export const FLAG = { END_STREAM: 1, ACK: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const;

export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const ERROR_CODES: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR',
    'REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED',
  ]
    .flatMap((names) => names.split(' '))
    .map((name, code) => [name, code]),
);

/** Options of txsettings, and NAME of `expect settings.NAME`. */
export const SETTING_NAMES: Readonly<Record<string, number>> = {
  hdrtbl: 1,
  push: 2,
  maxstreams: 3,
  winsize: 4,
  framesize: 5,
  hdrsize: 6,
};

export function frameName(type: number): string {
  return Object.keys(FRAME)[type] ?? '?';
}
