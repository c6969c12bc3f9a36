// Parses one HTTP/1 head from bytes, strictly: every rule of RFC 9112 that decides where a header or a message ends is
// enforced, so that no two readers of the same bytes can differ (SAFETY rules 1, 6, 9). It never throws on input and
// never interprets headers (framing.ts and request-host.ts do).
//
// Special case: a head that arrives slowly. The result object remembers the complete lines, and a call without a new
// line end costs one indexOf. The buffer may move between calls (offsets are shifted).

import { TEXT, TOKEN_FOLD } from './byte-classes.ts';
import { beginsWith, findName, nameAt } from './field-names.ts';
import {
  E_BARE_CR,
  E_BARE_LF,
  E_COLON,
  E_FIELDS,
  E_FOLD,
  E_FOLD_FIRST,
  E_LINE_LONG,
  E_NAME_BLANK,
  E_NAME_EMPTY,
  E_NAME_TOKEN,
  E_NONE,
  E_OVERFLOW,
  E_START_LINE,
  E_VALUE,
} from './head-errors.ts';
import {
  HEAD_COMPLETE,
  HEAD_ERROR,
  HEAD_INCOMPLETE,
  type HeadResult,
  type ParseStatus,
} from './head-result.ts';
import { flat, latin1Text } from './latin1.ts';
import type { LentBytes } from './lent-bytes.ts';
import { type HttpMessage, nameBit } from './message.ts';
import { requestLine, statusLine } from './start-line.ts';

/** Limits of one head, in bytes and headers. */
export interface HeadLimits {
  /** Longest header line without its CRLF (http_req_hdr_len, http_resp_hdr_len); the start line may be longer. */
  readonly maxLine: number;
  /** Most headers of a head, without the start line (see fieldLimit). */
  readonly maxFields: number;
  /** Longest head with its blank line (http_req_size, http_resp_size). */
  readonly maxSize: number;
}

/** Slots that the start line takes of Varnish's http_max_hdr. */
const START_LINE_SLOTS = 5;

/** Headers that a head may have under http_max_hdr. */
export function fieldLimit(httpMaxHdr: number): number {
  return Math.max(1, httpMaxHdr - START_LINE_SLOTS);
}

/** Instead of a slot: the line has the name in otherNames. */
const OTHER = -2;
/** Longer names are not kept for the next head. */
const LONGEST_KEPT = 64;

const CR = 13;
const LF = 10;
const SP = 32;
const HTAB = 9;
const COLON = 58;

/**
 * Parses a request head in buf[start, end).
 * On HEAD_COMPLETE `msg` holds method, url, proto and headers; before that its content is undefined.
 */
export function parseRequestHead(
  buf: LentBytes,
  start: number,
  end: number,
  limits: HeadLimits,
  msg: HttpMessage,
  out: HeadResult,
): ParseStatus {
  let p = begin(buf, start, end, limits, out);
  if (p < 0) return incomplete(start, end, limits, out);
  if (out.lines === 0) {
    while (p < end && buf[p] === CR) {
      if (p + 1 >= end) return incomplete(start, end, limits, out);
      if (buf[p + 1] !== LF) return out.fail(E_START_LINE, p, p);
      p += 2;
      out.headStart = p;
    }
    const past = requestLine(buf, p, end, msg, out);
    if (past < 0) return out.error !== E_NONE ? HEAD_ERROR : incomplete(start, end, limits, out);
    p = past;
  }
  return fields(buf, start, p, end, limits, msg, out, true);
}

/** Parses a response head in buf[start, end); `msg` gets proto, status, reason ('' when absent) and headers. */
export function parseResponseHead(
  buf: LentBytes,
  start: number,
  end: number,
  limits: HeadLimits,
  msg: HttpMessage,
  out: HeadResult,
): ParseStatus {
  let p = begin(buf, start, end, limits, out);
  if (p < 0) return incomplete(start, end, limits, out);
  if (out.lines === 0) {
    const past = statusLine(buf, p, end, msg, out);
    if (past < 0) return out.error !== E_NONE ? HEAD_ERROR : incomplete(start, end, limits, out);
    p = past;
  }
  return fields(buf, start, p, end, limits, msg, out, false);
}

/** Returns where to continue: the first incomplete line, or -1 when no line end has arrived since the last call. */
function begin(buf: LentBytes, start: number, end: number, limits: HeadLimits, out: HeadResult): number {
  if (out.lineStart.length < limits.maxFields + 2) {
    out.lineStart = new Int32Array(limits.maxFields + 2);
    out.lineEnd = new Int32Array(limits.maxFields + 2);
    out.nameEnd = new Int32Array(limits.maxFields + 2);
    out.guess = new Int32Array(limits.maxFields + 2).fill(-1);
  }
  if (!out.resume) {
    out.lines = 0;
    out.error = E_NONE;
    out.preface = false;
    out.headStart = start;
    out.scanFrom = start;
    out.base = start;
    return start;
  }
  const shift = start - out.base;
  if (shift !== 0) {
    out.headStart += shift;
    out.scanFrom += shift;
    out.base = start;
    for (let i = 0; i < out.lines; i++) {
      out.lineStart[i] = (out.lineStart[i] as number) + shift;
      out.lineEnd[i] = (out.lineEnd[i] as number) + shift;
      out.nameEnd[i] = (out.nameEnd[i] as number) + shift;
    }
  }
  const lf = buf.indexOf(LF, out.scanFrom);
  if (lf < 0 || lf >= end) return -1;
  return out.lines === 0 ? out.headStart : (out.lineEnd[out.lines - 1] as number) + 2;
}

function incomplete(start: number, end: number, limits: HeadLimits, out: HeadResult): ParseStatus {
  const line = out.lines === 0 ? out.headStart : (out.lineEnd[out.lines - 1] as number) + 2;
  if (end - start >= limits.maxSize) return out.fail(E_OVERFLOW, line, end);
  // A CR that may end the line does not belong to it.
  if (out.lines > 0 && end - line > limits.maxLine + 1)
    return out.fail(E_LINE_LONG, line, line + limits.maxLine);
  out.scanFrom = end;
  out.resume = true;
  return HEAD_INCOMPLETE;
}

function fields(
  buf: LentBytes,
  start: number,
  from: number,
  end: number,
  limits: HeadLimits,
  msg: HttpMessage,
  out: HeadResult,
  isRequest: boolean,
): ParseStatus {
  const { lineStart, lineEnd, nameEnd, guess } = out;
  const keys = msg.keys;
  const maxLine = limits.maxLine;
  // The words are read only while `buf` is lent.
  const { buffer } = buf as Buffer;
  if (buffer !== out.wordsOf) out.setWords(buffer);
  const words = out.words;
  const offset = buf.byteOffset;
  const lastWord = (end + offset) >> 2;
  let lines = out.lines;
  let p = from;
  for (;;) {
    const line = p;
    // Heads of one client are alike: the name in this line of the last one is tried first, which checks its bytes and
    // finds its end in one pass. A miss costs a comparison of a byte or two.
    let slot = guess[lines] as number;
    let key = slot < 0 ? '' : nameAt(slot);
    if (
      key !== '' &&
      p + key.length < end &&
      beginsWith(slot, key.length, buf, p) &&
      buf[p + key.length] === COLON
    ) {
      p += key.length;
    } else {
      key = otherName(out, lines, buf, p, end);
      slot = key === '' ? -1 : OTHER;
      p += key.length;
      while (p < end && TOKEN_FOLD[buf[p] as number] !== 0) p++;
      if (p >= end) break;
    }
    const c = buf[p] as number;
    if (c !== COLON) {
      if (c !== CR || p !== line) return out.fail(nameError(c, p === line, lines), line, p);
      if (p + 1 >= end) break;
      if (buf[p + 1] !== LF) return out.fail(E_BARE_CR, line, p);
      out.headEnd = p + 2;
      out.lines = lines;
      if (p + 2 - start > limits.maxSize) return out.fail(E_OVERFLOW, line, p);
      finish(buf, msg, out, isRequest);
      return HEAD_COMPLETE;
    }
    if (p === line) return out.fail(E_NAME_EMPTY, line, p);
    const colon = p;
    p++;
    while (((p + offset) & 3) !== 0 && TEXT[buf[p] as number] === 1) p++;
    if (((p + offset) & 3) === 0) {
      // Four bytes a step while none of them is below 0x20 or is 0x7f; the byte loop finds the exact one.
      let w = (p + offset) >> 2;
      while (w < lastWord) {
        const four = words[w] as number;
        const del = four ^ 0x7f7f7f7f;
        if ((((four - 0x20202020) & ~four) | ((del - 0x01010101) & ~del)) & 0x80808080) break;
        w++;
      }
      p = (w << 2) - offset;
    }
    while (p < end && TEXT[buf[p] as number] === 1) p++;
    if (p >= end) break;
    if (buf[p] !== CR) return out.fail(buf[p] === LF ? E_BARE_LF : E_VALUE, line, p);
    if (p + 1 >= end) break;
    if (buf[p + 1] !== LF) return out.fail(E_BARE_CR, line, p);
    if (p - line > maxLine) return out.fail(E_LINE_LONG, line, line + maxLine);
    if (lines > limits.maxFields) return out.fail(E_FIELDS, line, line);
    if (slot === -1) {
      slot = findName(buf, line, colon);
      guess[lines] = slot;
      if (slot >= 0) key = nameAt(slot);
    }
    keys[lines - 1] = key;
    lineStart[lines] = line;
    nameEnd[lines] = colon;
    lineEnd[lines] = p;
    lines++;
    out.lines = lines;
    p += 2;
  }
  return incomplete(start, end, limits, out);
}

/** The name that line i had in the last head, if it has it again. */
function otherName(out: HeadResult, line: number, buf: LentBytes, at: number, end: number): string {
  const name = out.otherNames[line];
  if (name === undefined || at + name.length >= end || buf[at + name.length] !== COLON) return '';
  for (let i = 0; i < name.length; i++)
    if (TOKEN_FOLD[buf[at + i] as number] !== name.charCodeAt(i)) return '';
  return name;
}

function nameError(c: number, first: boolean, lines: number): number {
  if (first && (c === SP || c === HTAB)) return lines === 1 ? E_FOLD_FIRST : E_FOLD;
  if (c === LF) return first ? E_BARE_LF : E_COLON;
  if (c === CR) return E_COLON;
  if (c === SP || c === HTAB) return E_NAME_BLANK;
  return E_NAME_TOKEN;
}

/** Makes the strings: one copy of the head, then slices that share its memory. */
function finish(buf: LentBytes, msg: HttpMessage, out: HeadResult, isRequest: boolean): void {
  const { lineStart, lineEnd, nameEnd, lines, headStart } = out;
  const text = latin1Text(buf, headStart, out.headEnd);
  const { keys } = msg;
  let names = 0;
  if (isRequest) {
    const target = (nameEnd[0] as number) - headStart;
    msg.url = text.substring(target, (lineEnd[0] as number) - headStart - 9);
  }
  for (let i = 1; i < lines; i++) {
    const s = (lineStart[i] as number) - headStart;
    let e = (lineEnd[i] as number) - headStart;
    // Blanks after a value are not part of it (RFC 9110 section 5.5).
    for (let c = text.charCodeAt(e - 1); c === SP || c === HTAB; c = text.charCodeAt(e - 1)) {
      out.trimmed = true;
      e--;
    }
    const line = text.substring(s, e);
    msg.lines[i - 1] = line;
    if (keys[i - 1] === '') {
      const name = line.substring(0, (nameEnd[i] as number) - headStart - s).toLowerCase();
      keys[i - 1] = name;
      // A copy, so that the head it is part of can be freed.
      if (name.length <= LONGEST_KEPT) out.otherNames[i] = flat(name);
    }
    names |= nameBit(keys[i - 1] as string);
  }
  msg.filled(lines - 1, names);
  out.resume = false;
}
