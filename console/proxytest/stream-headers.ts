// txreq, txresp, txpush and txcont of a stream: a block of fields in the representations that the script asks for, and a body.

import { bodyOfLength, packed } from './bodies.ts';
import type { Field, Indexing } from './hpack.ts';
import { Frame } from './http2-frame.ts';
import { FLAG, FRAME } from './http2-names.ts';
import { readInteger, type Words } from './script.ts';
import type { Http2Stream } from './scripted-http2.ts';

const REQUEST: readonly Field[] = [
  [':path', '/'],
  [':method', 'GET'],
  [':scheme', 'http'],
];

interface Kind {
  readonly type: number;
  readonly fields: readonly Field[];
  /** Options that give a pseudo-header. */
  readonly options: Readonly<Record<string, string>>;
  /** A request or response: it may have a body and priorities, and ends its stream. */
  readonly isMessage: boolean;
}

const OF_REQUESTS = { '-url': ':path', '-method': ':method', '-req': ':method', '-scheme': ':scheme' };
const KINDS: Readonly<Record<string, Kind>> = {
  txreq: { type: FRAME.HEADERS, fields: REQUEST, options: OF_REQUESTS, isMessage: true },
  txresp: {
    type: FRAME.HEADERS,
    fields: [[':status', '200']],
    options: { '-status': ':status' },
    isMessage: true,
  },
  txpush: { type: FRAME.PUSH_PROMISE, fields: REQUEST, options: OF_REQUESTS, isMessage: false },
  txcont: { type: FRAME.CONTINUATION, fields: [], options: {}, isMessage: false },
};

interface Block {
  readonly parts: Buffer[];
  fields: readonly Field[];
  flags: number;
  body: Buffer | null;
  padding: Buffer | null;
  /** Of a priority, with the bit of exclusive dependence; null for none. */
  parent: number | null;
  weight: number;
  promised: number;
}

function coding(stream: Http2Stream, words: Words, option: string): boolean {
  const word = words.take('huf or plain');
  if (word !== 'huf' && word !== 'plain') stream.fail(`${option} arg can be huf or plain (got: ${word})`);
  return word === 'huf';
}

function indexing(stream: Http2Stream, words: Words, option: string): Indexing {
  const word = words.take('inc, not or never');
  if (word !== 'inc' && word !== 'not' && word !== 'never')
    stream.fail(`first ${option} arg can be inc, not, never (got: ${word})`);
  return word;
}

/** A field of one of the options for them; null if the next word is none. */
function field(stream: Http2Stream, words: Words): Buffer | null {
  const { sent } = stream.connection;
  if (words.takeIf('-hdr')) {
    if (words.left < 2) stream.fail('-hdr takes two arguments in HTTP/2');
    return sent.literal('not', words.take('name'), words.take('value'));
  }
  if (words.takeIf('-idxHdr')) return sent.indexed(stream.number(words.take('index'), '-idxHdr'));
  if (words.takeIf('-litIdxHdr')) {
    const kind = indexing(stream, words, '-litIdxHdr');
    const index = stream.number(words.take('index'), '-litIdxHdr');
    const isCoded = coding(stream, words, '-litIdxHdr');
    return sent.literal(kind, index, words.take('value'), false, isCoded);
  }
  if (words.takeIf('-litHdr')) {
    const kind = indexing(stream, words, '-litHdr');
    const nameIsCoded = coding(stream, words, '-litHdr');
    const name = words.take('name');
    const valueIsCoded = coding(stream, words, '-litHdr');
    return sent.literal(kind, name, words.take('value'), nameIsCoded, valueIsCoded);
  }
  return null;
}

function paddingOf(stream: Http2Stream, bytes: Buffer): Buffer {
  if (bytes.length > 255) stream.fail('Padding is limited to 255 bytes');
  return bytes;
}

/** Options of bodies and priorities; false if the next word is none. */
async function ofMessage(
  stream: Http2Stream,
  words: Words,
  block: Block,
  read: (file: string) => Promise<Buffer>,
): Promise<boolean> {
  const { peer, sent } = stream.connection;
  const pack = (body: Buffer): void => {
    block.body = packed(body, peer.gzipLevel);
    block.parts.push(sent.literal('not', 'content-encoding', 'gzip'));
  };
  const prioritise = (): number => {
    block.flags |= FLAG.PRIORITY;
    return block.parent ?? 0;
  };
  if (words.takeIf('-body')) block.body = Buffer.from(words.take('body'), 'latin1');
  else if (words.takeIf('-bodyfrom'))
    block.body = await read(words.take('file')).catch((cause: Error) => stream.fail(cause.message));
  else if (words.takeIf('-bodylen')) block.body = bodyOfLength(readInteger(words.take('length')));
  else if (words.takeIf('-gzipbody')) pack(Buffer.from(words.take('body'), 'latin1'));
  else if (words.takeIf('-gziplen')) pack(bodyOfLength(readInteger(words.take('length')), true));
  else if (words.takeIf('-gziplevel')) peer.gzipLevel = Math.min(9, readInteger(words.take('level')));
  else if (words.takeIf('-gzipresidual')) words.take('bits');
  else if (words.takeIf('-dep')) {
    const exclusive = prioritise() & 0x80000000;
    block.parent = (stream.number(words.take('stream'), '-dep') | exclusive) >>> 0;
  } else if (words.takeIf('-ex')) block.parent = (prioritise() | 0x80000000) >>> 0;
  else if (words.takeIf('-weight')) {
    block.parent = prioritise();
    block.weight = stream.number(words.take('weight'), '-weight', 8);
  } else return false;
  return true;
}

async function readOptions(
  stream: Http2Stream,
  words: Words,
  kind: Kind,
  block: Block,
  read: (file: string) => Promise<Buffer>,
): Promise<void> {
  while (!words.isDone) {
    const option = words.peek() as string;
    const pseudo = kind.options[option];
    const given = pseudo === undefined ? field(stream, words) : null;
    if (pseudo !== undefined) {
      words.take('option');
      block.parts.push(stream.connection.sent.literal('not', pseudo, words.take(`value of ${option}`)));
      block.fields = block.fields.filter(([name]) => name !== pseudo);
    } else if (given !== null) block.parts.push(given);
    else if (words.takeIf('-noadd')) block.fields = [];
    else if (words.takeIf('-nostrend')) block.flags &= ~FLAG.END_STREAM;
    else if (words.takeIf('-nohdrend')) block.flags &= ~FLAG.END_HEADERS;
    else if (words.name === 'txpush' && words.takeIf('-promised'))
      block.promised = stream.number(words.take('stream'), '-promised', 31);
    else if (words.name !== 'txcont' && words.takeIf('-pad'))
      block.padding = paddingOf(stream, Buffer.from(words.take('padding'), 'latin1'));
    else if (words.name !== 'txcont' && words.takeIf('-padlen'))
      block.padding = paddingOf(stream, bodyOfLength(readInteger(words.take('length'))));
    else if (!(kind.isMessage && (await ofMessage(stream, words, block, read))))
      stream.fail(`Unknown ${words.name} spec: ${option}`);
  }
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out;
}

/** @param read reads a file for -bodyfrom */
export async function sendHeaders(
  stream: Http2Stream,
  words: Words,
  read: (file: string) => Promise<Buffer>,
): Promise<void> {
  const { connection } = stream;
  const kind = KINDS[words.name] as Kind;
  if (words.name !== 'txcont') connection.peer.only(words.name !== 'txreq', words.name);
  const block: Block = {
    parts: [],
    fields: kind.fields,
    flags: FLAG.END_HEADERS | (kind.isMessage ? FLAG.END_STREAM : 0),
    body: null,
    padding: null,
    parent: null,
    weight: 16,
    promised: 0,
  };
  await readOptions(stream, words, kind, block, read);
  for (const [name, value] of block.fields) block.parts.push(connection.sent.literal('not', name, value));
  if (block.body !== null) block.flags &= ~FLAG.END_STREAM;
  let data: Buffer = Buffer.concat(block.parts);
  if (block.parent !== null) {
    data = Buffer.concat([uint32(block.parent), Buffer.from([block.weight]), data]);
    stream.depend(block.parent, block.weight);
  }
  if (words.name === 'txpush') data = Buffer.concat([uint32(block.promised), data]);
  if (block.padding !== null) {
    block.flags |= FLAG.PADDED;
    data = Buffer.concat([Buffer.from([block.padding.length]), data, block.padding]);
  }
  await connection.send(stream, new Frame(kind.type, stream.id, block.flags, data));
  if (block.body !== null)
    await connection.send(stream, new Frame(FRAME.DATA, stream.id, FLAG.END_STREAM, block.body));
}
