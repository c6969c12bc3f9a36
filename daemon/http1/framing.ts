// The length of a message's body (RFC 9112 section 6.3), with one reading only: anything that two implementations could
// read differently is an error (SAFETY rules 1 and 9). Reads headers, never body bytes. An origin may repeat a length
// and send chunks with HTTP/1.0; a client may not.

import type { Refusal } from '../../protocol/tables/refusals.ts';
import type { Leniencies } from './leniency.ts';
import type { HttpMessage } from './message.ts';

/** Characters of a header line that the log quotes, as in Varnish. */
const QUOTED = 60;
/** Longest Content-Length list that repeats one value (chosen): intermediaries merge a few lines. */
const LONGEST_LIST = 256;

export type FramingError = Extract<
  Refusal,
  | 'length_conflict'
  | 'length_invalid'
  | 'length_and_coding'
  | 'coding_unknown'
  | 'coding_http10'
  | 'body_forbidden'
>;

export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'eof' }
  | BrokenFraming;

export interface BrokenFraming {
  readonly kind: 'error';
  readonly reason: FramingError;
  /** Text of the BogoHeader record of a request. */
  readonly text: string;
  /** The lines that break the rule, quoted. */
  readonly detail: string;
}

/** Shared values, so that a request without a body allocates nothing. */
export const NO_BODY: BodyFraming = Object.freeze({ kind: 'none' });
export const CHUNKED: BodyFraming = { kind: 'chunked' };
export const UNTIL_EOF: BodyFraming = { kind: 'eof' };

/** Content-Length as a number: digits only, at most 2^53 - 1; -1 otherwise, also for a list. */
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

const fail = (reason: FramingError, text: string, detail: string): BodyFraming => ({
  kind: 'error',
  reason,
  text,
  detail,
});

/** Header line `i` as quoted in the log. */
export function quoted(msg: HttpMessage, i: number): string {
  return quote(msg.lines[i] as string);
}

/** The beginning of a peer's text, as quoted in the log. */
export function quote(text: string): string {
  return text.length > QUOTED ? `"${text.slice(0, QUOTED)}..."` : `"${text}"`;
}

function pair(msg: HttpMessage, i: number, j: number): string {
  return `${quoted(msg, Math.min(i, j))} and ${quoted(msg, Math.max(i, j))}`;
}

/**
 * The framing by the length and coding headers; null when there are none.
 * @param leniencies notes old forms of an origin; null for a request, which may not use them
 */
function declared(msg: HttpMessage, leniencies: Leniencies | null): BodyFraming | null {
  let length = -1;
  let lengthAt = -1;
  let codingAt = -1;
  for (let i = 0; i < msg.n; i++) {
    const key = msg.keys[i];
    if (key === 'content-length') {
      const value = msg.valueAt(i);
      let own = parseLength(value);
      if (own < 0 && leniencies !== null) own = repeatedLength(value, leniencies);
      if (own < 0) return fail('length_invalid', 'Invalid Content-Length: header', quoted(msg, i));
      if (lengthAt >= 0) {
        if (leniencies === null || own !== length)
          return fail('length_conflict', 'Multiple Content-Length: headers', pair(msg, lengthAt, i));
        leniencies.note('length-repeated', `${length}`);
      }
      length = own;
      lengthAt = i;
    } else if (key === 'transfer-encoding') {
      // Exactly one line with exactly `chunked`: any other coding would have to be decoded before storage.
      if (codingAt >= 0)
        return fail('coding_unknown', 'Unsupported Transfer-Encoding:', pair(msg, codingAt, i));
      codingAt = i;
    }
  }
  if (codingAt >= 0) {
    if (length >= 0)
      return fail(
        'length_and_coding',
        'Content-Length: with Transfer-Encoding:',
        pair(msg, lengthAt, codingAt),
      );
    const coding = quoted(msg, codingAt);
    if (msg.proto === 'HTTP/1.0' && leniencies === null)
      return fail('coding_http10', 'Transfer-Encoding: in HTTP/1.0', coding);
    if (msg.valueAt(codingAt).toLowerCase() !== 'chunked')
      return fail('coding_unknown', 'Unsupported Transfer-Encoding:', coding);
    if (msg.proto === 'HTTP/1.0') leniencies?.note('coding-http10', 'those of HTTP/1.1');
    return CHUNKED;
  }
  if (length < 0) return null;
  return length === 0 ? NO_BODY : { kind: 'length', length };
}

/** The length that a list repeats ("5, 5"; RFC 9110 section 8.6); -1 when its members are not identical. */
function repeatedLength(value: string, leniencies: Leniencies): number {
  if (value.length > LONGEST_LIST) return -1;
  const members = value.split(/[ \t]*,[ \t]*/);
  const first = members[0] as string;
  if (members.some((member) => member !== first)) return -1;
  const length = parseLength(first);
  if (length >= 0) leniencies.note('length-repeated', `${length}`);
  return length;
}

/**
 * Reduces a repeated Content-Length to one line, with log records, because the lines are stored and forwarded (SAFETY
 * rule 9).
 * @param framing the result of responseBody()
 */
export function settleLength(msg: HttpMessage, framing: BodyFraming): void {
  const at = msg.find('content-length');
  if (framing.kind === 'error' || at < 0) return;
  const first = msg.valueAt(at);
  const digits = (/^\d+/.exec(first) as RegExpExecArray)[0];
  if (digits === first && msg.find('content-length', at + 1) < 0) return;
  msg.set('Content-Length', digits);
}

/** The framing of a request's body. */
export function requestBody(msg: HttpMessage): BodyFraming {
  return declared(msg, null) ?? NO_BODY;
}

/**
 * Whether a request's body would end with its connection, like an HTTP/1.0 upload without a length: such a body cannot
 * be distinguished from a truncated one. A client that keeps its connection has none.
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
 * @param requestMethod method of the request it answers: HEAD has no body, whatever the headers say
 * @param leniencies notes old forms that were read
 */
export function responseBody(msg: HttpMessage, requestMethod: string, leniencies: Leniencies): BodyFraming {
  const status = msg.status;
  const framing = declared(msg, leniencies);
  // Malformed headers are an error even without a body: they would be stored and forwarded.
  if (framing !== null && framing.kind === 'error') return framing;
  if (requestMethod === 'HEAD' || status === 204 || status === 304 || status < 200) return NO_BODY;
  return framing ?? UNTIL_EOF;
}
