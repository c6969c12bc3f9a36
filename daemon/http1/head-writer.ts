// Writes heads as bytes: Latin-1, the inverse of the parser. It checks only that the head fits the buffer, not its
// content: the parser and the VCL runtime keep CR, LF and NUL out of headers. Short strings are written byte by byte:
// below some 24 characters (measured) that is cheaper than the native call.

import { latin1Put } from './latin1.ts';
import type { HttpMessage } from './message.ts';
import { reasonOf } from './status-reasons.ts';

const CR = 13;
const LF = 10;
const SP = 32;
const NATIVE_FROM = 24;
/** Blanks, line ends, version and status digits; the version of a response does not depend on `proto`. */
const START_LINE_REST = 24;

/** Writes `text` at `at`; returns the offset past it. The caller has checked the room. */
function writeText(buf: Buffer, at: number, text: string): number {
  const n = text.length;
  if (n >= NATIVE_FROM) return at + latin1Put(buf, at, text);
  for (let i = 0; i < n; i++) buf[at + i] = text.charCodeAt(i);
  return at + n;
}

/** Upper bound of the bytes of the head of `msg`, start line and blank line included. */
export function headSize(msg: HttpMessage): number {
  let size = msg.method.length + msg.url.length + msg.proto.length + msg.reason.length + START_LINE_REST;
  for (let i = 0; i < msg.n; i++) size += (msg.lines[i] as string).length + 2;
  return size;
}

/** Exact number of bytes that writeRequestHead() writes. */
export function requestHeadLength(msg: HttpMessage): number {
  let size = msg.method.length + msg.url.length + msg.proto.length + 6;
  for (let i = 0; i < msg.n; i++) size += (msg.lines[i] as string).length + 2;
  return size;
}

/** Exact number of bytes that writeResponseHead() writes. */
export function responseHeadLength(msg: HttpMessage): number {
  const known = msg.status < 1000 && msg.reason === reasonOf(msg.status);
  let size = known ? statusLine(msg.status).length : 15 + String(msg.status).length - 3 + msg.reason.length;
  for (let i = 0; i < msg.n; i++) size += (msg.lines[i] as string).length + 2;
  return size + 2;
}

/** Encoded "HTTP/1.1 200 OK\r\n" lines by status, for the registered reasons. */
const statusLines: (Buffer | undefined)[] = new Array<Buffer | undefined>(1000).fill(undefined);

function statusLine(status: number): Buffer {
  let line = statusLines[status];
  if (line === undefined) {
    line = Buffer.from(`HTTP/1.1 ${status} ${reasonOf(status)}\r\n`, 'latin1');
    statusLines[status] = line;
  }
  return line;
}

/** Writes "HTTP/1.1 status reason CRLF"; returns the offset past it. */
function writeStatusLine(buf: Buffer, at: number, status: number, reason: string): number {
  if (status < 1000 && reason === reasonOf(status)) {
    const line = statusLine(status);
    buf.set(line, at);
    return at + line.length;
  }
  let p = writeText(buf, at, 'HTTP/1.1 ');
  p = writeText(buf, p, String(status));
  buf[p++] = SP;
  p = writeText(buf, p, reason);
  buf[p++] = CR;
  buf[p++] = LF;
  return p;
}

/** Writes all headers, each with its CRLF, without the blank line; returns the offset past them. */
function writeFields(buf: Buffer, at: number, msg: HttpMessage): number {
  let p = at;
  let i = 0;
  if (msg.raw !== null) {
    i = msg.rawLines;
    if (i === msg.rawWhole) {
      buf.set(msg.raw, at);
      p += msg.raw.length;
    } else {
      for (let k = 0; k < i; k++) p += (msg.lines[k] as string).length + 2;
      buf.set(msg.raw.subarray(msg.rawFrom, msg.rawFrom + p - at), at);
    }
  }
  for (; i < msg.n; i++) {
    p = writeText(buf, p, msg.lines[i] as string);
    buf[p++] = CR;
    buf[p++] = LF;
  }
  return p;
}

function blankLine(buf: Buffer, at: number): number {
  buf[at] = CR;
  buf[at + 1] = LF;
  return at + 2;
}

/**
 * Writes a response head: always HTTP/1.1, as RFC 9110 section 6.2 has an intermediary send its own version.
 * @returns the head's length, or -1 when `buf` has no room from `at` on
 */
export function writeResponseHead(buf: Buffer, at: number, msg: HttpMessage): number {
  if (at + headSize(msg) > buf.length) return -1;
  const p = writeFields(buf, writeStatusLine(buf, at, msg.status, msg.reason), msg);
  return blankLine(buf, p) - at;
}

/** Writes a request head with the message's own version; returns its length, or -1 when there is no room. */
export function writeRequestHead(buf: Buffer, at: number, msg: HttpMessage): number {
  if (at + requestHeadLength(msg) > buf.length) return -1;
  let p = writeText(buf, at, msg.method);
  buf[p++] = SP;
  p = writeText(buf, p, msg.url);
  buf[p++] = SP;
  p = writeText(buf, p, msg.proto);
  buf[p++] = CR;
  buf[p++] = LF;
  return blankLine(buf, writeFields(buf, p, msg)) - at;
}
