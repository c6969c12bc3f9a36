// The variables of `expect` in an HTTP/2 stream.

import type { Field, FieldTable } from './hpack.ts';
import type { Frame } from './http2-frame.ts';
import { ERROR_CODES, FLAG, FRAME, frameName, SETTING_NAMES } from './http2-names.ts';
import type { Http2Stream } from './scripted-http2.ts';

/** undefined: the group has no such name. */
type Value = string | number | boolean | null | undefined;

function last(stream: Http2Stream, type: number): Frame {
  const { frame } = stream;
  if (frame?.type !== type) stream.fail(`Last frame was not of type ${frameName(type)}`);
  return frame;
}

function field(fields: readonly Field[], name: string): string | null {
  return fields.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null;
}

const PSEUDO: Readonly<Record<string, string>> = {
  status: ':status',
  url: ':path',
  method: ':method',
  authority: ':authority',
  scheme: ':scheme',
};

function message(stream: Http2Stream, fields: readonly Field[], name: string): Value {
  if (name === 'body') return stream.body?.toString('latin1') ?? null;
  if (name === 'bodylen') return stream.body?.length ?? 0;
  if (name.startsWith('http.')) return field(fields, name.slice(5));
  const pseudo = PSEUDO[name];
  return pseudo === undefined ? undefined : field(fields, pseudo);
}

function table(fields: FieldTable, name: string): Value {
  const entry = /^\[(\d+)\]\.(key|value)$/.exec(name);
  if (entry !== null) return fields.dynamic(Number(entry[1]))?.[entry[2] === 'key' ? 0 : 1] ?? null;
  return { '.size': fields.size, '.maxsize': fields.maxSize, '.length': fields.length }[name];
}

function settings(stream: Http2Stream, name: string): Value {
  const frame = last(stream, FRAME.SETTINGS);
  if (name === 'ack') return frame.has(FLAG.ACK);
  const id = SETTING_NAMES[name];
  if (id === undefined) return undefined;
  const value = frame.settings.get(id);
  return value === undefined ? null : name === 'push' ? value === 1 : value;
}

const GROUPS: Readonly<Record<string, (stream: Http2Stream, name: string) => Value>> = {
  ping(stream, name) {
    const frame = last(stream, FRAME.PING);
    return { data: frame.data.toString('latin1'), ack: frame.has(FLAG.ACK) }[name];
  },
  winup: (stream, name) => (name === 'size' ? last(stream, FRAME.WINDOW_UPDATE).number(0) : undefined),
  prio(stream, name) {
    const frame = last(stream, FRAME.PRIORITY);
    const parent = frame.number(0);
    return { stream: parent & 0x7fffffff, exclusive: parent >>> 31 === 1, weight: frame.data[4] }[name];
  },
  rst: (stream, name) => (name === 'err' ? last(stream, FRAME.RST_STREAM).number(0) : undefined),
  settings,
  push(stream, name) {
    const data = last(stream, FRAME.PUSH_PROMISE).unpadded();
    return name === 'id' && typeof data !== 'string' ? data.readUInt32BE(0) & 0x7fffffff : undefined;
  },
  goaway(stream, name) {
    const frame = last(stream, FRAME.GOAWAY);
    const debug = frame.data.length > 8 ? frame.data.toString('latin1', 8) : null;
    return { err: frame.number(4), laststream: frame.number(0), debug }[name];
  },
  frame(stream, name) {
    const { frame } = stream;
    if (frame === null) return stream.fail('No frame received yet');
    if (name === 'padding') {
      if (!PADDED.has(frame.type)) stream.fail('Last frame was not of type DATA, HEADERS or PUSH_PROMISE');
      return frame.padding;
    }
    const data = frame.data.length === 0 ? null : frame.data.toString('latin1');
    return { data, type: frame.type, size: frame.data.length, stream: frame.stream }[name];
  },
  stream(stream, name) {
    const { connection } = stream;
    const isConnection = stream.id === 0;
    return {
      window: isConnection ? connection.ownWindow : stream.ownWindow,
      peer_window: isConnection ? connection.peerWindow : stream.peerWindow,
      weight: isConnection ? null : stream.weight,
      dependency: isConnection ? null : stream.dependency,
    }[name];
  },
  req: (stream, name) => message(stream, stream.req, name),
  resp: (stream, name) => message(stream, stream.resp, name),
};

const PADDED = new Set<number>([FRAME.DATA, FRAME.HEADERS, FRAME.PUSH_PROMISE]);

export function resolveInStream(stream: Http2Stream, word: string): string | null {
  const tables = /^tbl\.(dec|enc)(.+)$/.exec(word);
  const dot = word.indexOf('.');
  const group = dot < 0 ? undefined : GROUPS[word.slice(0, dot)];
  const value =
    tables !== null
      ? table(tables[1] === 'dec' ? stream.connection.received : stream.connection.sent, tables[2] as string)
      : group?.(stream, word.slice(dot + 1));
  if (value !== undefined) return value === null ? null : String(value);
  const code = ERROR_CODES[word];
  return code === undefined ? word : String(code);
}
