// How long a message's body is (RFC 9112 section 6.3), with one reading only: whatever two implementations could
// read differently is an error here, never a guess (SAFETY rules 1 and 9). Looks at fields, never at body bytes.

import type { HttpMessage } from './message.ts';

export type FramingError =
  | 'length-conflict'
  | 'length-invalid'
  | 'length-and-coding'
  | 'coding-unknown'
  | 'coding-http10';

export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'eof' }
  | { readonly kind: 'error'; readonly reason: FramingError; readonly text: string };

/** Shared values: a request without a body allocates nothing. */
export const NO_BODY: BodyFraming = { kind: 'none' };
export const CHUNKED: BodyFraming = { kind: 'chunked' };
export const UNTIL_EOF: BodyFraming = { kind: 'eof' };

/**
 * Content-Length as a number: digits only, at most 2^53 - 1; -1 otherwise.
 * A list ("5, 5") is refused although RFC 9110 allows a recipient to merge equal members.
 */
export function parseLength(value: string): number {
  const n = value.length;
  if (n === 0 || n > 16) return -1;
  let length = 0;
  for (let i = 0; i < n; i++) {
    const d = value.charCodeAt(i) - 48;
    if (d < 0 || d > 9) return -1;
    length = length * 10 + d;
  }
  return length <= Number.MAX_SAFE_INTEGER ? length : -1;
}

const fail = (reason: FramingError, text: string): BodyFraming => ({ kind: 'error', reason, text });

/** What the length and coding fields say; null when there are none. */
function declared(msg: HttpMessage): BodyFraming | null {
  let length = -1;
  let codings = 0;
  let coding = '';
  for (let i = 0; i < msg.n; i++) {
    const key = msg.keys[i];
    if (key === 'content-length') {
      if (length >= 0) return fail('length-conflict', 'Multiple Content-Length: headers');
      length = parseLength(msg.valueAt(i));
      if (length < 0) return fail('length-invalid', 'Invalid Content-Length: header');
    } else if (key === 'transfer-encoding') {
      codings++;
      coding = msg.valueAt(i);
    }
  }
  if (codings > 0) {
    if (length >= 0) return fail('length-and-coding', 'Content-Length: with Transfer-Encoding:');
    if (msg.proto === 'HTTP/1.0') return fail('coding-http10', 'Transfer-Encoding: in HTTP/1.0');
    // Exactly one field, exactly `chunked`: any other coding would have to be undone before storage.
    if (codings > 1 || coding.toLowerCase() !== 'chunked') {
      return fail('coding-unknown', 'Unsupported Transfer-Encoding:');
    }
    return CHUNKED;
  }
  if (length < 0) return null;
  return length === 0 ? NO_BODY : { kind: 'length', length };
}

/** The framing of a request's body. */
export function requestBody(msg: HttpMessage): BodyFraming {
  return declared(msg) ?? NO_BODY;
}

/**
 * Whether a request's body would end with its connection, as an upload of HTTP/1.0 without a length does: no such
 * body can be told from one that was cut. A client that keeps its connection says that there is none.
 */
export function endsWithConnection(msg: HttpMessage): boolean {
  if (msg.proto !== 'HTTP/1.0' || (msg.method !== 'POST' && msg.method !== 'PUT')) return false;
  if (msg.has('content-length') || msg.has('transfer-encoding')) return false;
  const connection = msg.getAll('connection')?.toLowerCase() ?? '';
  const options = connection.split(',').map((option) => option.trim());
  return options.includes('close') || !options.includes('keep-alive');
}

/**
 * The framing of a response's body.
 * @param requestMethod method of the request it answers: HEAD has no body whatever the fields say
 */
export function responseBody(msg: HttpMessage, requestMethod: string): BodyFraming {
  const status = msg.status;
  const framing = declared(msg);
  // Broken fields are an error even where no body follows: they would be stored and sent on.
  if (framing !== null && framing.kind === 'error') return framing;
  if (requestMethod === 'HEAD' || status === 204 || status === 304 || status < 200) return NO_BODY;
  return framing ?? UNTIL_EOF;
}
