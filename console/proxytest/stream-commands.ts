// Commands of a stream: frames to send and to receive.

import { readFile, writeFile } from 'node:fs/promises';
import type { Commands } from './actor.ts';
import { bodyOfLength, unpacked } from './bodies.ts';
import { expect } from './comparison.ts';
import { Frame } from './http2-frame.ts';
import { ERROR_CODES, FLAG, FRAME, SETTING_NAMES } from './http2-names.ts';
import { readHex, readInteger, type Words } from './script.ts';
import type { Http2Stream } from './scripted-http2.ts';
import { sendHeaders } from './stream-headers.ts';
import { resolveInStream } from './stream-variables.ts';

type Command = Commands<Http2Stream>[string];

function unknown(stream: Http2Stream, words: Words): never {
  return stream.fail(`Unknown ${words.name} spec: ${words.peek()}`);
}

function errorCode(stream: Http2Stream, text: string): number {
  return ERROR_CODES[text] ?? stream.number(text, '-err');
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out;
}

const send = (stream: Http2Stream, type: number, data: Uint8Array, flags = 0): Promise<void> =>
  stream.connection.send(stream, new Frame(type, stream.id, flags, data));

/** Receives one frame of a type. */
const receive =
  (type: number, isNeeded = false): Command =>
  async (stream, words) => {
    stream.frame = await stream.want(type, words.name);
    if (stream.frame === null && isNeeded) stream.fail('No frame received');
  };

const sendData: Command = async (stream, words) => {
  let body: Buffer = Buffer.alloc(0);
  let padding: Buffer | null = null;
  let flags: number = FLAG.END_STREAM;
  while (!words.isDone) {
    if (words.takeIf('-data')) body = Buffer.from(words.take('data'), 'latin1');
    else if (words.takeIf('-datalen')) body = bodyOfLength(readInteger(words.take('length')));
    else if (words.takeIf('-pad')) padding = Buffer.from(words.take('padding'), 'latin1');
    else if (words.takeIf('-padlen')) padding = bodyOfLength(readInteger(words.take('length')));
    else if (words.takeIf('-nostrend')) flags &= ~FLAG.END_STREAM;
    else unknown(stream, words);
  }
  if (padding !== null) {
    if (padding.length > 255) stream.fail('Padding is limited to 255 bytes');
    flags |= FLAG.PADDED;
    body = Buffer.concat([Buffer.from([padding.length]), body, padding]);
  }
  await send(stream, FRAME.DATA, body, flags);
};

const sendSettings: Command = async (stream, words) => {
  const { connection } = stream;
  const parts: Buffer[] = [];
  let flags = 0;
  while (!words.isDone) {
    if (words.takeIf('-ack')) {
      flags |= FLAG.ACK;
      continue;
    }
    const option = words.peek() as string;
    const name = option.slice(1);
    const id = /^-0x/i.test(option) ? stream.number(name, 'settings tag', 16) : SETTING_NAMES[name];
    if (id === undefined) unknown(stream, words);
    words.take('option');
    const text = words.take(`value of ${option}`);
    if (name === 'push' && !/^(?:true|false)$/.test(text))
      stream.fail(`Push parameter is either "true" or "false", not ${text}`);
    const value = name === 'push' ? Number(text === 'true') : stream.number(text, option);
    if (name === 'hdrtbl') connection.received.resize(value);
    if (name === 'winsize') {
      for (const other of connection.streams) other.ownWindow += value - connection.ownFirst;
      connection.ownFirst = value;
    }
    const setting = Buffer.alloc(6);
    setting.writeUInt16BE(id);
    setting.writeUInt32BE(value, 2);
    parts.push(setting);
  }
  await send(stream, FRAME.SETTINGS, Buffer.concat(parts), flags);
};

const receiveSettings: Command = async (stream, words) => {
  const { connection } = stream;
  const frame = await stream.want(FRAME.SETTINGS, words.name);
  stream.frame = frame;
  if (frame === null) return stream.fail('No frame received');
  const window = frame.settings.get(SETTING_NAMES.winsize as number);
  if (window === undefined) return;
  for (const other of connection.streams) other.peerWindow += window - connection.peerFirst;
  connection.peerFirst = window;
};

const receiveWindow: Command = async (stream, words) => {
  const frame = await stream.want(FRAME.WINDOW_UPDATE, words.name);
  stream.frame = frame;
  if (frame === null) return stream.fail('No frame received');
  if (stream.id === 0) stream.connection.peerWindow += frame.number(0);
  stream.peerWindow += frame.number(0);
};

const sendWindow: Command = async (stream, words) => {
  let size = 0;
  while (!words.isDone) {
    if (!words.takeIf('-size')) unknown(stream, words);
    size = stream.number(words.take('size'), '-size');
  }
  if (stream.id === 0) stream.connection.ownWindow += size;
  stream.ownWindow += size;
  await send(stream, FRAME.WINDOW_UPDATE, uint32(size));
};

const sendPriority: Command = async (stream, words) => {
  let [parent, weight, exclusive] = [0, 0, 0];
  while (!words.isDone) {
    if (words.takeIf('-stream')) parent = stream.number(words.take('stream'), '-stream');
    else if (words.takeIf('-weight')) weight = stream.number(words.take('weight'), '-weight', 8);
    else if (words.takeIf('-ex')) exclusive = 0x80000000;
    else unknown(stream, words);
  }
  const value = (parent | exclusive) >>> 0;
  stream.depend(value, weight);
  await send(stream, FRAME.PRIORITY, Buffer.concat([uint32(value), Buffer.from([weight])]));
};

const sendPing: Command = async (stream, words) => {
  let data: Buffer = Buffer.alloc(8);
  let flags = 0;
  while (!words.isDone) {
    if (words.takeIf('-ack')) flags |= FLAG.ACK;
    else if (words.takeIf('-data')) {
      data = Buffer.from(words.take('data'), 'latin1');
      if (data.length !== 8) stream.fail(`data must be a 8-char string, found (${data.toString('latin1')})`);
    } else unknown(stream, words);
  }
  await send(stream, FRAME.PING, data, flags);
};

const sendGoaway: Command = async (stream, words) => {
  let [code, last, debug] = [0, 0, ''];
  while (!words.isDone) {
    if (words.takeIf('-err')) code = errorCode(stream, words.take('code'));
    else if (words.takeIf('-laststream')) last = stream.number(words.take('stream'), '-laststream', 31);
    else if (words.takeIf('-debug')) debug = words.take('text');
    else unknown(stream, words);
  }
  await send(stream, FRAME.GOAWAY, Buffer.concat([uint32(last), uint32(code), Buffer.from(debug, 'latin1')]));
};

const sendReset: Command = async (stream, words) => {
  let code = 0;
  while (!words.isDone) {
    if (!words.takeIf('-err')) unknown(stream, words);
    code = errorCode(stream, words.take('code'));
  }
  await send(stream, FRAME.RST_STREAM, uint32(code));
};

const unpack: Command = (stream) => {
  const out = unpacked(stream.body ?? Buffer.alloc(0));
  if (typeof out === 'string') stream.connection.peer.soft(`Gunzip error: ${out}`);
  else stream.body = out;
};

const wholeMessage: Command = async (stream, words) => {
  stream.connection.peer.only(words.name === 'rxreq', words.name);
  await stream.message(words.name);
};

const headers: Command = (stream, words) =>
  sendHeaders(stream, words, (file) => readFile(stream.stage.path(file)));

export const STREAM_COMMANDS: Commands<Http2Stream> = {
  txreq: headers,
  txresp: headers,
  txpush: headers,
  txcont: headers,
  txdata: sendData,
  txsettings: sendSettings,
  txwinup: sendWindow,
  txprio: sendPriority,
  txping: sendPing,
  txgoaway: sendGoaway,
  txrst: sendReset,
  async sendhex(stream, words) {
    const bytes = readHex(words.take('bytes'));
    stream.dump('sendhex', bytes.toString('hex'));
    await stream.connection.peer.sendQuietly(bytes);
  },
  rxreq: wholeMessage,
  rxresp: wholeMessage,
  rxhdrs: (stream, words) => stream.several(words, FRAME.HEADERS, FRAME.CONTINUATION, FLAG.END_HEADERS),
  rxcont: (stream, words) => stream.several(words, FRAME.CONTINUATION, FRAME.CONTINUATION, FLAG.END_HEADERS),
  rxpush: (stream, words) => stream.several(words, FRAME.PUSH_PROMISE, FRAME.CONTINUATION, FLAG.END_HEADERS),
  rxdata: (stream, words) => stream.several(words, FRAME.DATA, FRAME.DATA, FLAG.END_STREAM),
  rxsettings: receiveSettings,
  rxwinup: receiveWindow,
  rxprio: receive(FRAME.PRIORITY),
  rxrst: receive(FRAME.RST_STREAM),
  rxping: receive(FRAME.PING),
  rxgoaway: receive(FRAME.GOAWAY),
  async rxframe(stream) {
    stream.frame = await stream.next();
    if (stream.frame === null) stream.fail('No frame received');
  },
  gunzip: unpack,
  write_body: (stream, words) => writeFile(stream.stage.path(words.take('file')), stream.body ?? ''),
  expect: (stream, words) => expect(stream, words, (word) => resolveInStream(stream, word)),
};
