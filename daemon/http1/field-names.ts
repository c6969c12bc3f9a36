// Well-known header names, interned: a name in any case maps to one lower-case string without allocation. Unknown names
// are never interned (a peer could fill the table); the caller makes their strings.

import { TOKEN_FOLD } from './byte-classes.ts';
import type { LentBytes } from './lent-bytes.ts';

const NAMES = [
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'access-control-request-headers',
  'access-control-request-method',
  'age',
  'allow',
  'alt-svc',
  'authorization',
  'cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-security-policy',
  'content-type',
  'cookie',
  'date',
  'dnt',
  'etag',
  'expect',
  'expires',
  'forwarded',
  'from',
  'host',
  'http2-settings',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'max-forwards',
  'origin',
  'pragma',
  'priority',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'referer',
  'retry-after',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'server',
  'server-timing',
  'set-cookie',
  'strict-transport-security',
  'surrogate-capability',
  'surrogate-control',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-content-type-options',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-frame-options',
  'x-powered-by',
  'x-proxy-id',
  'x-real-ip',
  'x-requested-with',
  'x-request-id',
  'x-varnish',
  'x-xss-protection',
  'xkey',
  'surrogate-key',
] as const;

const SLOTS = 1024;
/** Longest name of the list, and so the stride of `bytes`. */
const WIDTH = 40;
/** Open addressing on nameSlot(); '' is a free slot. */
const table: string[] = new Array<string>(SLOTS).fill('');
/** The bytes of the name in each slot: comparing them is cheaper than reading a string's characters. */
const bytes = new Uint8Array(SLOTS * WIDTH);

for (const name of NAMES) {
  const raw = Buffer.from(name, 'latin1');
  let slot = nameSlot(raw, 0, raw.length);
  while (table[slot] !== '') slot = (slot + 1) & (SLOTS - 1);
  table[slot] = name;
  bytes.set(raw, slot * WIDTH);
}

/** First slot to probe: from the length and three characters, folded by their low five bits. Names are short. */
function nameSlot(buf: LentBytes, start: number, end: number): number {
  const n = end - start;
  const a = (buf[start] as number) & 31;
  const b = (buf[end - 1] as number) & 31;
  const c = (buf[start + (n >> 1)] as number) & 31;
  return (a * 37 + b * 211 + c * 7 + n * 59) & (SLOTS - 1);
}

/** The slot of the name [start, end), or -1 when it is not well known. */
export function findName(buf: LentBytes, start: number, end: number): number {
  const n = end - start;
  let slot = nameSlot(buf, start, end);
  for (;;) {
    const name = table[slot] as string;
    if (name === '') return -1;
    if (name.length === n && sameName(slot * WIDTH, buf, start, n)) return slot;
    slot = (slot + 1) & (SLOTS - 1);
  }
}

/** The lower-case name in a slot that findName() returned. */
export function nameAt(slot: number): string {
  return table[slot] as string;
}

/** Whether the bytes from `start` are the name at `slot`, whatever follows; the caller has checked their number. */
export function beginsWith(slot: number, length: number, buf: LentBytes, start: number): boolean {
  return sameName(slot * WIDTH, buf, start, length);
}

// Every byte is compared, not a hash: a peer must not be able to forge a second "host".
function sameName(at: number, buf: LentBytes, start: number, n: number): boolean {
  for (let i = 0; i < n; i++) {
    if (TOKEN_FOLD[buf[start + i] as number] !== bytes[at + i]) return false;
  }
  return true;
}
