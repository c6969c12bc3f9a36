// Requests and responses that a script sends, out of the options of txreq and txresp.

import { bodyOfLength, countdown, packed } from './bodies.ts';
import type { HttpPeer } from './http-peer.ts';
import { macro } from './macros.ts';
import { readInteger, type Words } from './script.ts';

const NL = '\r\n';

export interface Transmission {
  readonly bytes: Buffer;
  /** The value of HTTP2-Settings if the request asks for HTTP/2. */
  readonly upgradeTo: string | null;
}

interface Message {
  head: string;
  body: Buffer | null;
  noLength: boolean;
  noHost: boolean;
  upgradeTo: string | null;
  /** Lower-case names of headers that are added unless the script has them. */
  readonly automatic: Set<string>;
}

/** Options of the first line. They come before all others. */
function firstLine(peer: HttpPeer, words: Words, message: Message): void {
  const values = new Map(
    Object.entries(
      peer.isServer
        ? { proto: 'HTTP/1.1', status: '200', reason: 'OK' }
        : { method: 'GET', url: '/', proto: 'HTTP/1.1' },
    ),
  );
  for (;;) {
    const option = words.peek() ?? '';
    const name = option === '-req' && !peer.isServer ? 'method' : option.slice(1);
    if (option.startsWith('-') && values.has(name)) {
      words.take('option');
      values.set(name, words.take(`value of ${option}`));
    } else if (option === '-up' && !peer.isServer) {
      words.take('option');
      message.upgradeTo = words.take('settings');
    } else if (peer.stage.dialect >= 9 && option === (peer.isServer ? '-noserver' : '-nouseragent')) {
      words.take('option');
      message.automatic.delete(peer.isServer ? 'server' : 'user-agent');
    } else break;
  }
  const value = (name: string): string => values.get(name) as string;
  if (peer.isServer) message.head = `${value('proto')} ${value('status')} ${value('reason')}${NL}`;
  else {
    message.head = `${value('method')} ${value('url')} ${value('proto')}${NL}`;
    message.noHost = value('proto') !== 'HTTP/1.1';
    peer.wasHead = value('method') === 'HEAD';
    if (message.upgradeTo !== null)
      message.head += `Connection: Upgrade, HTTP2-Settings${NL}Upgrade: h2c${NL}HTTP2-Settings: ${message.upgradeTo}${NL}`;
  }
}

/** Options about headers; they come before those about the body. */
function fields(peer: HttpPeer, words: Words, message: Message): void {
  const isNew = peer.stage.dialect >= 9;
  for (;;) {
    if (words.takeIf('-nolen')) message.noLength = true;
    else if (words.takeIf('-nohost')) message.noHost = true;
    else if (isNew && words.takeIf('-nodate')) message.automatic.delete('date');
    else if (words.takeIf('-hdr')) {
      const field = words.take('header');
      const name = (field.split(':', 1)[0] as string).toLowerCase();
      if (name === 'host') message.noHost = true;
      if (isNew && (name === 'content-length' || name === 'transfer-encoding')) message.noLength = true;
      message.automatic.delete(name);
      message.head += field + NL;
    } else if (words.takeIf('-hdrlen')) {
      const name = words.take('name');
      message.head += `${name}: ${countdown(readInteger(words.take('length'), 10))}${NL}`;
    } else return;
  }
}

async function body(
  peer: HttpPeer,
  words: Words,
  message: Message,
  read: (file: string) => Promise<Buffer>,
): Promise<void> {
  const pack = (bytes: Buffer): void => {
    message.body = packed(bytes, peer.gzipLevel);
    message.head += `Content-Encoding: gzip${NL}`;
    peer.bodyLength = String(message.body.length);
  };
  while (!words.isDone) {
    if (words.takeIf('-body'))
      message.body = Buffer.from(words.take('body').replaceAll('\\0', '\0'), 'latin1');
    else if (words.takeIf('-bodyfrom')) {
      const file = words.take('file');
      message.body = await read(peer.stage.path(file)).catch((cause: Error) => peer.fail(cause.message));
    } else if (words.takeIf('-bodylen')) message.body = bodyOfLength(readInteger(words.take('length')));
    // Bits after the end that cannot be made here; no receiver may look at them.
    else if (words.takeIf('-gzipresidual')) words.take('bits');
    else if (words.takeIf('-gziplevel')) peer.gzipLevel = Math.min(9, readInteger(words.take('level')));
    else if (words.takeIf('-gziplen')) pack(bodyOfLength(readInteger(words.take('length')), true));
    else if (words.takeIf('-gzipbody')) pack(Buffer.from(words.take('body'), 'latin1'));
    else peer.fail(`unknown ${words.name} option: ${words.peek()}`);
  }
}

/** @param read reads a file for -bodyfrom */
export async function transmission(
  peer: HttpPeer,
  words: Words,
  read: (file: string) => Promise<Buffer>,
): Promise<Transmission> {
  const message: Message = {
    head: '',
    body: peer.isServer ? Buffer.alloc(0) : null,
    noLength: false,
    noHost: peer.isServer,
    upgradeTo: null,
    automatic: new Set(peer.stage.dialect < 9 ? [] : peer.isServer ? ['date', 'server'] : ['user-agent']),
  };
  firstLine(peer, words, message);
  fields(peer, words, message);
  await body(peer, words, message, read);
  if (!message.noHost) message.head += `Host: ${peer.stage.expand(macro('localhost'))}${NL}`;
  if (message.automatic.has('date')) message.head += `Date: ${peer.stage.expand(macro('date'))}${NL}`;
  if (message.automatic.has('server')) message.head += `Server: ${peer.who}${NL}`;
  if (message.automatic.has('user-agent')) message.head += `User-Agent: ${peer.who}${NL}`;
  if (message.body !== null && !message.noLength)
    message.head += `Content-Length: ${message.body.length}${NL}`;
  const head = Buffer.from(message.head + NL, 'latin1');
  return { bytes: Buffer.concat([head, message.body ?? Buffer.alloc(0)]), upgradeTo: message.upgradeTo };
}
