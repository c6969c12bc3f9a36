// Which fields end at this hop (RFC 9110 section 7.6.1): rows that say in which direction a field is dropped, and
// the fields that Connection nominates. Host, Content-Length and Transfer-Encoding are never dropped because a peer
// nominated them (SAFETY rule 10), nor is Content-Encoding, without which the body is read as what it is not; framing
// is written anew by whoever sends.

import type { HttpMessage } from './message.ts';

/** Toward the origin in a pass, in a cacheable fetch, in pipe mode; from the origin into an object or response. */
export const HOP_PASS = 1;
export const HOP_FETCH = 2;
export const HOP_PIPE = 4;
export const HOP_RESPONSE = 8;
export type HopMask = number;

const ALWAYS = HOP_PASS | HOP_FETCH | HOP_RESPONSE;

const ROWS: readonly (readonly [string, HopMask])[] = [
  // Whoever makes a pipe replaces it.
  ['connection', ALWAYS],
  ['keep-alive', ALWAYS],
  ['proxy-connection', ALWAYS | HOP_PIPE],
  ['proxy-authenticate', ALWAYS],
  ['proxy-authorization', HOP_PASS | HOP_FETCH],
  ['te', ALWAYS],
  ['trailer', ALWAYS],
  ['upgrade', ALWAYS],
  ['http2-settings', ALWAYS | HOP_PIPE],
  // A response field, of no meaning in a request.
  ['accept-ranges', HOP_PASS | HOP_FETCH],
  // Not hop-by-hop, but a cacheable fetch asks for the whole, unconditionally (SAFETY rule 7).
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
const PROTECTED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

/** What nearly every Connection field is, taken apart. */
const USUAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['keep-alive', ['keep-alive']],
  ['Keep-Alive', ['keep-alive']],
  ['close', ['close']],
]);

/** Lower-case names that Connection nominates, in any of its lines; null when there is no Connection field. */
export function nominated(msg: HttpMessage): readonly string[] | null {
  let names: readonly string[] | null = null;
  for (let i = 0; i < msg.n; i++) {
    if (msg.keys[i] !== 'connection') continue;
    const value = msg.valueAt(i);
    const usual = USUAL.get(value);
    if (usual !== undefined && names === null) {
      names = usual;
      continue;
    }
    const own = value.split(',').map((part) => part.trim().toLowerCase());
    names = [...(names ?? []), ...own.filter((name) => name !== '' && !PROTECTED.has(name))];
  }
  return names;
}

/** Whether Connection has the option `name` (lower case) on any line. */
export function connectionHas(msg: HttpMessage, name: string): boolean {
  if (!msg.has('connection')) return false;
  return (nominated(msg) as readonly string[]).includes(name);
}

/** Whether field `key` ends here in direction `mask`. */
export function endsHere(key: string, mask: HopMask, named: readonly string[] | null): boolean {
  const row = MASKS.get(key);
  if (row !== undefined && (row & mask) !== 0) return true;
  return named?.includes(key) ?? false;
}

/** Copies the fields of `from` that go on in direction `mask` to the end of `to`, without log records. Their bytes, where
 * `from` has them, go with the first ones of an empty message: up to the first field that does not. */
export function copyOnward(from: HttpMessage, to: HttpMessage, mask: HopMask): void {
  const named = nominated(from);
  let alike = to.n === 0 && from.raw !== null ? from.rawLines : 0;
  for (let i = 0; i < from.n; i++) {
    const key = from.keys[i] as string;
    if (!endsHere(key, mask, named)) to.push(key, from.lines[i] as string);
    else if (i < alike) alike = i;
  }
  if (alike > 0) to.borrow(from, alike);
}
