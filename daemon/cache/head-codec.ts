// Encoding of a response head in storage: a table of line lengths, the wire bytes, and the variant's key.
//
// The wire bytes ("HTTP/1.1 200 OK" CRLF, each header line CRLF, no empty line) can be copied into a response
// as they are; the table lets a head become an HttpMessage again with one string and its slices. Never checks
// what it stores: heads come from the fetch, validated. Lines of 64 KiB and more do not fit the table.

import { type HttpMessage, nameBit } from '../http1/message.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { type VaryKey, varyBytes, writeVary } from './vary.ts';

// Fixed part, 16-bit each: headers, status, protocol length, reason length; then the wire bytes' length and
// the unpacked length of a gzipped body plus one (32 each).
const FIXED = 16;
const ENTRY = 4;

/** Bytes of the encoded head; -1 when it cannot be encoded. */
export function headBytes(msg: HttpMessage, vary: VaryKey | null): number {
  let bytes = FIXED + msg.n * ENTRY + startLineLength(msg) + 2;
  for (let i = 0; i < msg.n; i++) {
    const length = (msg.lines[i] as string).length;
    if (length > 0xffff) return -1;
    bytes += length + 2;
  }
  if (msg.n > 0xffff || msg.reason.length > 0xffff || msg.proto.length > 0xffff) return -1;
  return vary === null ? bytes : bytes + varyBytes(vary);
}

/** Writes the head at `start`; returns the position after it. */
export function writeHead(msg: HttpMessage, vary: VaryKey | null, to: ChunkBytes, start: number): number {
  const table = start + FIXED;
  const wire = table + msg.n * ENTRY;
  let at = wire;
  const startLine = `${msg.proto} ${msg.status} ${msg.reason}\r\n`;
  at += to.latin1Write(startLine, at, startLine.length);
  for (let i = 0; i < msg.n; i++) {
    const line = msg.lines[i] as string;
    const key = msg.keys[i] as string;
    to.writeUInt16LE(line.length, table + i * ENTRY);
    to[table + i * ENTRY + 2] = Math.min(key.length, 255);
    to[table + i * ENTRY + 3] = headerNumber(key);
    at += to.latin1Write(line, at, line.length);
    to[at++] = 13;
    to[at++] = 10;
  }
  to.writeUInt16LE(msg.n, start);
  to.writeUInt16LE(msg.status, start + 2);
  to.writeUInt16LE(msg.proto.length, start + 4);
  to.writeUInt16LE(msg.reason.length, start + 6);
  to.writeUInt32LE(at - wire, start + 8);
  to.writeUInt32LE(0, start + 12);
  if (vary !== null) {
    writeVary(vary, to, at);
    at += varyBytes(vary);
  }
  return at;
}

/** Decodes the head at `start` into a message, which keeps its kind and log. */
export function readHead(from: ChunkBytes, start: number, into: HttpMessage): void {
  const n = word16(from, start);
  const status = word16(from, start + 2);
  const protoLength = word16(from, start + 4);
  const reasonLength = word16(from, start + 6);
  const table = start + FIXED;
  const wire = table + n * ENTRY;
  const text = from.latin1Slice(wire, wire + word32(from, start + 8));
  let at = protoLength + 1 + digits(status) + 1;
  into.method = '';
  into.url = '';
  into.proto = protoLength === 8 && text.startsWith('HTTP/1.1') ? 'HTTP/1.1' : text.slice(0, protoLength);
  into.status = status;
  into.reason = reasonLength === 2 && text.startsWith('OK', at) ? 'OK' : text.slice(at, at + reasonLength);
  at += reasonLength + 2;
  const keys = into.keys;
  const lines = into.lines;
  let names = 0;
  for (let i = 0; i < n; i++) {
    const entry = table + i * ENTRY;
    const length = word16(from, entry);
    const number = from[entry + 3] as number;
    const line = text.slice(at, at + length);
    lines[i] = line;
    const key = number !== 0 ? headerName(number) : unknownKey(line, from[entry + 2] as number);
    keys[i] = key;
    names |= nameBit(key);
    at += length + 2;
  }
  into.filled(n, names);
  into.lend(from, wire + protoLength + digits(status) + reasonLength + 4);
}

/** Value of the first header named `key` (lower case) of the head at `start`, as in the decoded message, or null. */
export function fieldIn(from: ChunkBytes, start: number, key: string): string | null {
  const n = word16(from, start);
  const table = start + FIXED;
  const number = headerNumber(key);
  const length = Math.min(key.length, 255);
  let at =
    table +
    n * ENTRY +
    word16(from, start + 4) +
    digits(word16(from, start + 2)) +
    word16(from, start + 6) +
    4;
  for (let entry = table; entry < table + n * ENTRY; entry += ENTRY) {
    const bytes = word16(from, entry);
    if (from[entry + 3] === number && from[entry + 2] === length) {
      const line = from.latin1Slice(at, at + bytes);
      if (number !== 0 || unknownKey(line, length) === key) return valueIn(line, key.length + 1);
    }
    at += bytes + 2;
  }
  return null;
}

/**
 * Reads single headers of a stored head without decoding the rest: the ban lurker and dry runs look at one header of a
 * million heads, and a million messages would be garbage. Valid within one step, until the object's memory may change.
 */
export class StoredHead {
  status = 0;
  private from: ChunkBytes | null = null;
  private start = 0;
  /** The last header asked for: many bans ask for the same one. */
  private key = '';
  private value: string | null = null;

  /** Points at the head at `start`. */
  pointTo(from: ChunkBytes, start: number): void {
    this.from = from;
    this.start = start;
    this.status = statusOf(from, start);
    this.key = '';
  }

  /** Value of the first header named `key` (lower case), or null. */
  get(key: string): string | null {
    if (key !== this.key) {
      this.value = fieldIn(this.from as ChunkBytes, this.start, key);
      this.key = key;
    }
    return this.value;
  }
}

/** Number of header lines of the head at `start`. */
export function lineCount(from: ChunkBytes, start: number): number {
  return word16(from, start);
}

/** Bytes of one header line, without its CRLF. */
export function lineLength(from: ChunkBytes, start: number, line: number): number {
  return word16(from, start + FIXED + line * ENTRY);
}

/** Position of the wire bytes of the head at `start`. */
export function wireStart(from: ChunkBytes, start: number): number {
  return start + FIXED + word16(from, start) * ENTRY;
}

export function wireLength(from: ChunkBytes, start: number): number {
  return word32(from, start + 8);
}

/** Position of the variant's key of the head at `start`; there is one only with OF_HAS_VARY. */
export function varyStart(from: ChunkBytes, start: number): number {
  return wireStart(from, start) + wireLength(from, start);
}

/** Unpacked length of a gzipped body; -1 when it is not known (or is beyond 32 bits). */
export function gunzippedLength(from: ChunkBytes, start: number): number {
  return word32(from, start + 12) - 1;
}

export function setGunzippedLength(to: ChunkBytes, start: number, length: number): void {
  to.writeUInt32LE(length < 0xffffffff ? length + 1 : 0, start + 12);
}

export function statusOf(from: ChunkBytes, start: number): number {
  return word16(from, start + 2);
}

function startLineLength(msg: HttpMessage): number {
  return msg.proto.length + 1 + digits(msg.status) + 1 + msg.reason.length;
}

function digits(status: number): number {
  return status > 99 && status < 1000 ? 3 : String(status).length;
}

/** The text of a line from `start` on, without blanks before it. */
function valueIn(line: string, start: number): string {
  let at = start;
  while (line.charCodeAt(at) === 32 || line.charCodeAt(at) === 9) at++;
  return line.slice(at);
}

/** Key lengths from 255 on do not fit the table: searches the colon. */
function unknownKey(line: string, length: number): string {
  return line.slice(0, length < 255 ? length : line.indexOf(':')).toLowerCase();
}

function word16(from: ChunkBytes, at: number): number {
  return (from[at] as number) | ((from[at + 1] as number) << 8);
}

function word32(from: ChunkBytes, at: number): number {
  return (word16(from, at) | (word16(from, at + 2) << 16)) >>> 0;
}

/** Header names that stored heads refer to by number, so that decoding makes no key strings. 0 means "not in this list". */
const NAMES = [
  '',
  'accept-ranges',
  'access-control-allow-origin',
  'age',
  'alt-svc',
  'cache-control',
  'cdn-cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'permissions-policy',
  'pragma',
  'referrer-policy',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'surrogate-control',
  'surrogate-key',
  'transfer-encoding',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-cache',
  'x-content-type-options',
  'x-frame-options',
  'x-powered-by',
  'x-request-id',
  'x-version',
  'x-xss-protection',
  'xkey',
] as const;

const NUMBERS: ReadonlyMap<string, number> = new Map(NAMES.map((name, i) => [name, i]));

/** Number of a lower-case header name; 0 when it is not in the list. */
function headerNumber(key: string): number {
  return NUMBERS.get(key) ?? 0;
}

/** Lower-case name of a number from 1. */
function headerName(number: number): string {
  return NAMES[number] as string;
}
