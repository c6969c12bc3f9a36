// The two kinds of start line (RFC 9112 sections 3 and 4), read from bytes into a message: one blank between the parts,
// a token method, a target of visible bytes, HTTP/1.0 or HTTP/1.1 in capitals, three digits of status. Nothing is
// trimmed or repaired. Special case: the HTTP/2 preface is accepted so that it can be answered.

import { TARGET, TEXT, TOKEN_FOLD } from './byte-classes.ts';
import { E_METHOD, E_START_END, E_START_LINE, E_STATUS, E_TARGET, E_VERSION } from './head-errors.ts';
import type { HeadResult } from './head-result.ts';
import { latin1Text } from './latin1.ts';
import type { LentBytes } from './lent-bytes.ts';
import type { HttpMessage } from './message.ts';

const CR = 13;
const LF = 10;
const SP = 32;
const HTAB = 9;
const HTTP1 = 'HTTP/1.';

/** Methods as shared strings, so that comparisons are pointer comparisons. */
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
  'PURGE',
  'BAN',
  'PRI',
];

/** Whether a request line of these parts has one reading; parts set by a program may not. */
export function isRequestLine(method: string, url: string): boolean {
  return isAll(TOKEN_FOLD, method) && isAll(TARGET, url);
}

function isAll(table: Uint8Array, text: string): boolean {
  for (let i = 0; i < text.length; i++) if ((table[text.charCodeAt(i)] ?? 0) === 0) return false;
  return text !== '';
}

/** Reads a request line into `msg`. Returns the offset past it, or -1: broken when out.error is set, else incomplete. */
export function requestLine(
  buf: LentBytes,
  line: number,
  end: number,
  msg: HttpMessage,
  out: HeadResult,
): number {
  let p = line;
  while (p < end && TOKEN_FOLD[buf[p] as number] !== 0) p++;
  if (p === end) return -1;
  const methodEnd = p;
  if (p === line || buf[p] !== SP) return broken(out, p === line ? E_START_LINE : E_METHOD, line, p);
  p++;
  const target = p;
  while (p < end && TARGET[buf[p] as number] === 1) p++;
  if (p === end) return -1;
  const targetEnd = p;
  if (p === target || buf[p] !== SP) return broken(out, E_TARGET, line, p);
  p++;
  // "HTTP/1.1" CR LF: ten bytes.
  const proto = p;
  if (p + 10 > end) {
    const lf = buf.indexOf(LF, p);
    if (lf < 0 || lf >= end) return -1;
    const known = lf === p + 8 && readVersion(buf, p) !== 0;
    return broken(out, known ? E_START_END : E_VERSION, line, lf);
  }
  const version = readVersion(buf, p);
  if (version === 0) return broken(out, E_VERSION, line, p);
  p += 8;
  if (buf[p] !== CR || buf[p + 1] !== LF) return broken(out, E_START_END, line, p);
  const method = internMethod(buf, line, methodEnd);
  if (version === 20) {
    // Only the preface of RFC 9113 section 3.4 may have version 2.0: it is answered, not served.
    if (method !== 'PRI' || targetEnd - target !== 1 || buf[target] !== 42) {
      return broken(out, E_VERSION, line, proto);
    }
    out.preface = true;
    msg.proto = 'HTTP/2.0';
  } else {
    msg.proto = version === 11 ? 'HTTP/1.1' : 'HTTP/1.0';
  }
  msg.method = method;
  out.nameEnd[0] = target;
  out.lineStart[0] = line;
  out.lineEnd[0] = p;
  out.lines = 1;
  return p + 2;
}

/** 10, 11, 20, or 0 for anything else. The caller has checked that eight bytes are there. */
function readVersion(buf: LentBytes, p: number): number {
  if (buf[p] !== 72 || buf[p + 1] !== 84 || buf[p + 2] !== 84 || buf[p + 3] !== 80 || buf[p + 4] !== 47)
    return 0;
  if (buf[p + 6] !== 46) return 0;
  const major = buf[p + 5];
  const minor = buf[p + 7];
  if (major === 49) return minor === 49 ? 11 : minor === 48 ? 10 : 0;
  return major === 50 && minor === 48 ? 20 : 0;
}

/** Whether buf[line, end) may be the beginning of a status line. */
function mayBegin(buf: LentBytes, line: number, end: number): boolean {
  for (let i = 0; i < HTTP1.length && line + i < end; i++) {
    if (buf[line + i] !== HTTP1.charCodeAt(i)) return false;
  }
  return true;
}

function isHttp1(version: number): boolean {
  return version === 11 || version === 10;
}

function internMethod(buf: LentBytes, start: number, end: number): string {
  const n = end - start;
  if (n === 3 && buf[start] === 71 && buf[start + 1] === 69 && buf[start + 2] === 84) return 'GET';
  const text = latin1Text(buf, start, end);
  for (const method of METHODS) if (method === text) return method;
  return text;
}

/** Reads a status line into `msg`; returns like requestLine(). */
export function statusLine(
  buf: LentBytes,
  line: number,
  end: number,
  msg: HttpMessage,
  out: HeadResult,
): number {
  // "HTTP/1.1 200" and at least one byte after it.
  if (end - line < 13) {
    const lf = buf.indexOf(LF, line);
    // Bytes that cannot become a status line fail at once.
    if (lf < 0 || lf >= end) return mayBegin(buf, line, end) ? -1 : broken(out, E_VERSION, line, line);
    const known = lf - line >= 8 && isHttp1(readVersion(buf, line));
    return broken(out, known ? E_STATUS : E_VERSION, line, lf);
  }
  const version = readVersion(buf, line);
  if (!isHttp1(version)) return broken(out, E_VERSION, line, line);
  if (buf[line + 8] !== SP) return broken(out, E_STATUS, line, line + 8);
  let status = 0;
  for (let i = 9; i < 12; i++) {
    const d = (buf[line + i] as number) - 48;
    if (d < 0 || d > 9) return broken(out, E_STATUS, line, line + i);
    status = status * 10 + d;
  }
  if (status < 100) return broken(out, E_STATUS, line, line + 9);
  let p = line + 12;
  if (buf[p] !== SP && buf[p] !== CR) return broken(out, E_STATUS, line, p);
  while (p < end && TEXT[buf[p] as number] === 1) p++;
  if (p >= end) return -1;
  if (buf[p] !== CR) return broken(out, buf[p] === LF ? E_START_END : E_START_LINE, line, p);
  if (p + 1 >= end) return -1;
  if (buf[p + 1] !== LF) return broken(out, E_START_END, line, p);
  msg.proto = version === 11 ? 'HTTP/1.1' : 'HTTP/1.0';
  msg.status = status;
  // Further blanks before the reason are not part of it.
  let reason = line + 13;
  while (reason < p && (buf[reason] === SP || buf[reason] === HTAB)) reason++;
  msg.reason = p > reason ? latin1Text(buf, reason, p) : '';
  out.nameEnd[0] = line + 12;
  out.lineStart[0] = line;
  out.lineEnd[0] = p;
  out.lines = 1;
  return p + 2;
}

function broken(out: HeadResult, error: number, line: number, at: number): number {
  out.fail(error, line, at);
  return -1;
}
