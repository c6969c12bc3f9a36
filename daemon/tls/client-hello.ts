// The first message of a TLS client (RFC 8446 section 4.1.2), read before OpenSSL sees it: the name that the client asks for
// chooses the certificate, what is no TLS gets an answer in words, and whatever is too large or malformed ends here.
// Bytes in, facts out. The message may come in any number of records, and they in pieces of any size.

import { createHash } from 'node:crypto';

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD = 5;
const MESSAGE_HEAD = 4;
const LONGEST_RECORD = 16384;
/** Bytes of the longest message that is read (chosen: ten times those of browsers with post-quantum keys). */
const LONGEST_HELLO = 16384;
/** Bytes of all records of a message: more is one of many tiny records. */
const LONGEST_INPUT = 32768;

const EXTENSION = {
  serverName: 0,
  statusRequest: 5,
  supportedGroups: 10,
  pointFormats: 11,
  alpn: 16,
  supportedVersions: 43,
} as const;

export interface ClientHello {
  /** In lower case; null without one, '' for what cannot be a host name. */
  readonly serverName: string | null;
  /** Protocols offered by ALPN, in the client's order. */
  readonly alpn: readonly string[];
  /** Whether the client asks for a stapled OCSP response. */
  readonly wantsStatus: boolean;
  /** The highest version that the client offers, 0x0303 for TLS 1.2. */
  readonly version: number;
  /** The input of JA3: the version of the message, suites, extensions, groups and formats of points. */
  readonly fingerprint: readonly [number, ...(readonly (readonly number[])[])];
}

/** `more`: it is not whole yet. `plain`: no TLS at all. */
export type HelloResult = ClientHello | 'more' | 'plain' | 'malformed' | 'too long';

/** How far a message has been read that is not whole yet: of many tiny records, none is looked at twice. */
export class HelloProgress {
  /** Where the first record begins that is not whole. */
  at = 0;
  /** Bytes of the message in the records before; its length, -1 before that is known. */
  have = 0;
  wanted = -1;
}

/** Reads what a connection begins with.
 * @param buf all that has come so far
 * @param progress of the calls before, of the same connection */
export function readClientHello(buf: Buffer, progress = new HelloProgress()): HelloResult {
  if (buf.length === 0) return 'more';
  const message = messageOf(buf, progress);
  if (typeof message === 'string') return message;
  try {
    return factsOf(new Reader(message, MESSAGE_HEAD, message.length));
  } catch (error) {
    if (error === CUT) return 'malformed';
    throw error;
  }
}

/** Joins the records of the first message. */
function messageOf(
  buf: Buffer,
  progress: HelloProgress,
): Buffer | 'more' | 'plain' | 'malformed' | 'too long' {
  for (;;) {
    const { at } = progress;
    if (buf.length > at && buf[at] !== HANDSHAKE_RECORD) return at === 0 ? 'plain' : 'malformed';
    if (buf.length > at + 1 && buf[at + 1] !== 3) return at === 0 ? 'plain' : 'malformed';
    if (buf.length < at + RECORD_HEAD) return 'more';
    const length = buf.readUInt16BE(at + 3);
    // A record of a handshake is never empty (RFC 8446 section 5.1).
    if (length === 0) return 'malformed';
    const end = at + RECORD_HEAD + length;
    if (length > LONGEST_RECORD || end > LONGEST_INPUT) return 'too long';
    const have = progress.have + Math.min(length, buf.length - at - RECORD_HEAD);
    if (progress.wanted < 0 && have >= MESSAGE_HEAD) {
      const head = joined(buf, MESSAGE_HEAD);
      if (head[0] !== CLIENT_HELLO) return 'malformed';
      progress.wanted = MESSAGE_HEAD + head.readUIntBE(1, 3);
      if (progress.wanted > LONGEST_HELLO) return 'too long';
    }
    if (progress.wanted >= 0 && have >= progress.wanted) return joined(buf, progress.wanted);
    if (buf.length < end) return 'more';
    progress.have = have;
    progress.at = end;
  }
}

/** The first bytes of what the records hold, which are there. */
function joined(buf: Buffer, wanted: number): Buffer {
  const parts: Buffer[] = [];
  let have = 0;
  let at = 0;
  while (have < wanted) {
    const from = at + RECORD_HEAD;
    at = from + buf.readUInt16BE(at + 3);
    const part = buf.subarray(from, at);
    parts.push(part);
    have += part.length;
  }
  return parts.length === 1 ? (parts[0] as Buffer).subarray(0, wanted) : Buffer.concat(parts, wanted);
}

/** Thrown inside this file where a length points beyond its end. */
const CUT = new Error('cut');

class Reader {
  private readonly buf: Buffer;
  private at: number;
  private readonly end: number;

  constructor(buf: Buffer, at: number, end: number) {
    if (end > buf.length || at > end) throw CUT;
    this.buf = buf;
    this.at = at;
    this.end = end;
  }

  get isEmpty(): boolean {
    return this.at === this.end;
  }

  /** An unsigned number of `size` bytes. */
  number(size: number): number {
    if (this.at + size > this.end) throw CUT;
    const value = this.buf.readUIntBE(this.at, size);
    this.at += size;
    return value;
  }

  skip(size: number): void {
    if (this.at + size > this.end) throw CUT;
    this.at += size;
  }

  /** A vector with its length in `size` bytes in front. */
  vector(size: number): Reader {
    const length = this.number(size);
    const from = this.at;
    this.skip(length);
    return new Reader(this.buf, from, this.at);
  }

  text(): string {
    return this.buf.toString('latin1', this.at, this.end);
  }

  numbers(size: number): number[] {
    const all: number[] = [];
    while (!this.isEmpty) all.push(this.number(size));
    return all;
  }
}

function factsOf(hello: Reader): ClientHello {
  const legacy = hello.number(2);
  hello.skip(32);
  hello.vector(1);
  const ciphers = hello.vector(2).numbers(2);
  hello.vector(1);
  let serverName: string | null = null;
  let alpn: string[] = [];
  let wantsStatus = false;
  let version = legacy;
  const types: number[] = [];
  let groups: number[] = [];
  let formats: number[] = [];
  if (!hello.isEmpty) {
    const extensions = hello.vector(2);
    while (!extensions.isEmpty) {
      const type = extensions.number(2);
      const body = extensions.vector(2);
      types.push(type);
      switch (type) {
        case EXTENSION.serverName:
          serverName = nameOf(body);
          break;
        case EXTENSION.statusRequest:
          wantsStatus = true;
          break;
        case EXTENSION.supportedGroups:
          groups = body.vector(2).numbers(2);
          break;
        case EXTENSION.pointFormats:
          formats = body.vector(1).numbers(1);
          break;
        case EXTENSION.alpn:
          alpn = protocolsOf(body.vector(2));
          break;
        case EXTENSION.supportedVersions:
          version = Math.max(
            0,
            ...body
              .vector(1)
              .numbers(2)
              .filter((each) => !isGrease(each)),
          );
          break;
        default:
          break;
      }
    }
    if (!hello.isEmpty) throw CUT;
  }
  return { serverName, alpn, wantsStatus, version, fingerprint: [legacy, ciphers, types, groups, formats] };
}

/** The host name of the extension (RFC 6066 section 3). */
function nameOf(body: Reader): string | null {
  // A resumed client may send it empty.
  if (body.isEmpty) return null;
  const names = body.vector(2);
  while (!names.isEmpty) {
    const type = names.number(1);
    const name = names.vector(2).text();
    if (type === 0) return isHostName(name) ? name.toLowerCase() : '';
  }
  return null;
}

function protocolsOf(list: Reader): string[] {
  const all: string[] = [];
  while (!list.isEmpty) all.push(list.vector(1).text());
  return all;
}

/** Whether the syntax is that of a host name; without a final dot (RFC 6066). */
function isHostName(name: string): boolean {
  return name.length <= 253 && /^[\w-]+(\.[\w-]+)*$/.test(name);
}

/** Values that clients strew in so that servers keep ignoring what they do not know (RFC 8701). */
function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 255);
}

/** The text whose MD5 is the JA3 fingerprint. */
export function ja3Text({ fingerprint: [version, ...lists] }: ClientHello): string {
  return [version, ...lists.map((list) => list.filter((each) => !isGrease(each)).join('-'))].join(',');
}

/** The JA3 fingerprint of a hello: 32 hexadecimal digits. */
export function ja3Hash(hello: ClientHello): string {
  return createHash('md5').update(ja3Text(hello), 'latin1').digest('hex');
}

/** Descriptions of alerts (RFC 8446 section 6). */
export const ALERT = {
  unexpectedMessage: 10,
  recordOverflow: 22,
  handshakeFailure: 40,
  decodeError: 50,
  internalError: 80,
  unrecognizedName: 112,
} as const;

/** A fatal alert as a record in clear, for a connection whose handshake has not begun. */
export function alertRecord(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description]);
}
