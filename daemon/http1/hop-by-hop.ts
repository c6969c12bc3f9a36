// Headers that end at this hop (RFC 9110 section 7.6.1): rows with the directions in which a header is dropped, and the
// lines that the sender's Connection named. The latter are marked once, when the message arrives: a header that a
// program sets later is forwarded, whatever the sender named; otherwise a client could remove headers that a program
// relies on.
//
// Connection must not name a well-known header: such a request is refused, as in Varnish, and a response keeps the
// header. The sender always writes the framing headers itself.

import type { HttpMessage } from './message.ts';

/** Toward the origin in a pass, in a cacheable fetch, in pipe mode; from the origin into an object or response. */
export const HOP_PASS = 1;
export const HOP_FETCH = 2;
export const HOP_PIPE = 4;
export const HOP_RESPONSE = 8;
export type HopMask = number;

const ALWAYS = HOP_PASS | HOP_FETCH | HOP_RESPONSE;

const ROWS: readonly (readonly [string, HopMask])[] = [
  // Replaced in a pipe.
  ['connection', ALWAYS],
  ['keep-alive', ALWAYS],
  ['proxy-connection', ALWAYS | HOP_PIPE],
  ['proxy-authenticate', ALWAYS],
  ['proxy-authorization', HOP_PASS | HOP_FETCH],
  ['te', ALWAYS],
  ['trailer', ALWAYS],
  ['upgrade', ALWAYS],
  ['http2-settings', ALWAYS | HOP_PIPE],
  // A response header, meaningless in a request.
  ['accept-ranges', HOP_PASS | HOP_FETCH],
  // Not hop-by-hop, but a cacheable fetch is for the complete response, unconditionally (SAFETY rule 7).
  ['range', HOP_FETCH],
  ['content-range', HOP_FETCH],
  ['if-match', HOP_FETCH],
  ['if-none-match', HOP_FETCH],
  ['if-modified-since', HOP_FETCH],
  ['if-unmodified-since', HOP_FETCH],
  ['if-range', HOP_FETCH],
  ['cache-control', HOP_FETCH],
];

const MASKS: ReadonlyMap<string, HopMask> = new Map(ROWS);

/** Headers that Connection must not name: those with a meaning beyond this hop, including Host and the framing of the
 * body (SAFETY rule 10). */
const NOT_TO_BE_NAMED: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'age',
  'allow',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expect',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'pragma',
  'proxy-authenticate',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'server',
  'set-cookie',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-forwarded-for',
]);

/** The usual values of Connection, split. */
const USUAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['keep-alive', ['keep-alive']],
  ['Keep-Alive', ['keep-alive']],
  ['close', ['close']],
]);

/** Lower-case options of Connection, from all its lines; null without Connection. */
function options(msg: HttpMessage): readonly string[] | null {
  let names: readonly string[] | null = null;
  let own: string[] | null = null;
  for (let i = msg.find('connection'); i >= 0; i = msg.find('connection', i + 1)) {
    const value = msg.valueAt(i);
    const usual = USUAL.get(value);
    if (usual !== undefined && names === null) {
      names = usual;
      continue;
    }
    own ??= names === null ? [] : [...names];
    names = own;
    for (const part of value.split(',')) {
      const name = part.trim().toLowerCase();
      if (name !== '') own.push(name);
    }
  }
  return names;
}

/** Whether Connection has the option `name` (lower case) on any line. */
export function connectionHas(msg: HttpMessage, name: string): boolean {
  return options(msg)?.includes(name) ?? false;
}

/**
 * Marks the lines that the Connection of a message that was just received names.
 * @returns the first header that it must not name (lower case), or null
 */
export function markNamed(msg: HttpMessage): string | null {
  const names = options(msg);
  if (names === null) return null;
  let wrong: string | null = null;
  let named: Set<string> | null = null;
  for (const name of names) {
    if (name === 'close' || name === 'keep-alive') continue;
    if (NOT_TO_BE_NAMED.has(name)) wrong ??= name;
    else {
      named ??= new Set();
      named.add(name);
    }
  }
  if (named !== null) msg.endHere(named);
  return wrong;
}

/** Whether header `key` is dropped in direction `mask`. */
function endsHere(key: string, mask: HopMask): boolean {
  const row = MASKS.get(key);
  return row !== undefined && (row & mask) !== 0;
}

/** Appends the headers of `from` that are forwarded in direction `mask` to `to`, without log records. If `to` was
 * empty, it also shares the raw bytes of `from`, up to the first header that is dropped. */
export function copyOnward(from: HttpMessage, to: HttpMessage, mask: HopMask): void {
  let alike = to.n === 0 && from.raw !== null ? from.rawLines : 0;
  for (let i = 0; i < from.n; i++) {
    const key = from.keys[i] as string;
    if (!endsHere(key, mask) && !from.endsAt(i)) to.push(key, from.lines[i] as string);
    else if (i < alike) alike = i;
  }
  if (alike > 0) to.borrow(from, alike);
}
