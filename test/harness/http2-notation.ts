// Frames of HTTP/2 as people write them, for tables of cases: "SETTINGS() ; GET(1 /a) ; DATA(1 END_STREAM) 616263".
//
//   NAME(stream FLAG+FLAG) payload      a frame; FRAME22 is one of type 22, and a stream may be written as 0x80000001
//   GET(1 /path) {name=value …}         HEADERS that end their stream, with the usual four pseudo-headers and these fields
//   POST(1 /path) {name=value …}        the same without END_STREAM
//   PREFACE, RAW hex                    bytes that are no frame
//
// A payload is made of parts: hex digits, 100*00 for a byte a hundred times, "text", [id=value …] for settings, #number for
// 32 bits, and {name=value …} for literal fields of a header block. %XX is a byte, in fields.

import { type Field, hpackLiterals } from './hpack-text.ts';
import { FLAG, FRAME, type Frame, frame, PREFACE, uint32 } from './http2-frames.ts';

const CODES = [
  ...[
    'NO_ERROR',
    'PROTOCOL_ERROR',
    'INTERNAL_ERROR',
    'FLOW_CONTROL_ERROR',
    'SETTINGS_TIMEOUT',
    'STREAM_CLOSED',
  ],
  ...[
    'FRAME_SIZE_ERROR',
    'REFUSED_STREAM',
    'CANCEL',
    'COMPRESSION_ERROR',
    'CONNECT_ERROR',
    'ENHANCE_YOUR_CALM',
  ],
];
const TYPES: ReadonlyMap<string, number> = new Map(Object.entries(FRAME));
const FLAGS: ReadonlyMap<string, number> = new Map(Object.entries(FLAG));
const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(FRAME).map(([name, type]) => [type, name]));
const PART = /"[^"]*"|\{[^}]*\}|\[[^\]]*\]|[^\s]+/g;

/** The bytes of all frames of a text. */
export function bytesOfFrames(text: string): Buffer {
  return Buffer.concat(
    text
      .split(' ; ')
      .filter((each) => each.trim() !== '')
      .map((each) => bytesOfFrame(each.trim())),
  );
}

function bytesOfFrame(text: string): Buffer {
  const [, name = '', args = '', rest = ''] = /^([A-Z_0-9]+)(?:\(([^)]*)\))?\s*(.*)$/s.exec(text) ?? [];
  if (name === 'PREFACE') return PREFACE;
  if (name === 'RAW') return payloadOf(rest);
  const words = args.split(' ').filter((word) => word !== '');
  const stream = Number(words[0] ?? 0);
  if (name === 'GET' || name === 'POST') return request(name, stream, words[1] ?? '/', rest);
  const type = TYPES.get(name) ?? Number(/^FRAME(\d+)$/.exec(name)?.[1] ?? Number.NaN);
  if (Number.isNaN(type) || Number.isNaN(stream)) throw new Error(`no frame: ${text}`);
  const flags = (words[1] ?? '').split('+').filter((flag) => flag !== '');
  return frame(
    type,
    flags.reduce((sum, flag) => sum | flagOf(flag), 0),
    stream,
    payloadOf(rest),
  );
}

function flagOf(name: string): number {
  const flag = FLAGS.get(name) ?? Number(name);
  if (Number.isNaN(flag)) throw new Error(`no flag: ${name}`);
  return flag;
}

function request(method: string, stream: number, path: string, rest: string): Buffer {
  const pseudo: Field[] = [
    [':method', method],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'a.example'],
  ];
  const flags = FLAG.END_HEADERS | (method === 'GET' ? FLAG.END_STREAM : 0);
  return frame(FRAME.HEADERS, flags, stream, Buffer.concat([hpackLiterals(pseudo), payloadOf(rest)]));
}

function payloadOf(text: string): Buffer {
  return Buffer.concat((text.match(PART) ?? []).map(partOf));
}

function partOf(part: string): Buffer {
  const inner = part.slice(1, -1);
  if (part.startsWith('"')) return Buffer.from(inner, 'latin1');
  if (part.startsWith('{'))
    return hpackLiterals(pairs(inner).map(([name, value]): Field => [unescaped(name), unescaped(value)]));
  if (part.startsWith('[')) {
    const setting = ([id, value]: readonly [string, string]): Buffer =>
      Buffer.concat([uint32(Number(id)).subarray(2), uint32(Number(value))]);
    return Buffer.concat(pairs(inner).map(setting));
  }
  if (part.startsWith('#')) return uint32(Number(part.slice(1)));
  const [, count, hex] = /^(?:(\d+)\*)?((?:[0-9a-f]{2})+)$/.exec(part) ?? [];
  if (hex === undefined) throw new Error(`no payload: ${part}`);
  const bytes = Buffer.from(hex, 'hex');
  return Buffer.concat(Array.from({ length: Number(count ?? 1) }, () => bytes));
}

function pairs(text: string): (readonly [string, string])[] {
  return text
    .split(/\s+/)
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=', 1);
      return at < 0 ? ([pair, ''] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const);
    });
}

function unescaped(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The words for what a server has sent, one word for each frame that says something: "200(1)", "RST_STREAM(1) CANCEL", "GOAWAY CALM",
 * "PING ACK". Its settings and acknowledgements of the client's, windows and bodies are left out. @param status of a block */
export function toldFrames(frames: readonly Frame[], status: (block: Buffer) => number): string[] {
  return frames.flatMap(({ type, flags, stream, payload }) => {
    if (type === FRAME.HEADERS) return [`${status(payload)}(${stream})`];
    if (type === FRAME.RST_STREAM) return [`RST_STREAM(${stream}) ${CODES[payload.readUInt32BE(0)]}`];
    if (type === FRAME.GOAWAY) return [`GOAWAY ${CODES[payload.readUInt32BE(4)]}`];
    if (type === FRAME.PING) return [(flags & FLAG.ACK) !== 0 ? 'PING ACK' : 'PING'];
    if (type === FRAME.SETTINGS || type === FRAME.WINDOW_UPDATE || type === FRAME.DATA) return [];
    return [NAMES.get(type) ?? `FRAME${type}`];
  });
}
