// Well-known field names, interned: a name seen on the wire in any case maps to one lower-case string without
// allocation. Unknown names are never interned (a peer could fill the table); the caller makes their strings.

/** Byte to its lower-case token character, 0 for bytes that no token may hold (RFC 9110 section 5.6.2). */
export const TOKEN_FOLD: Uint8Array = tokenTable();

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
  'x-xss-protection',
  'xkey',
  'surrogate-key',
] as const;

const SLOTS = 1024;
/** Open addressing on the low bits of the parser's rolling hash; at most one name a slot after probing. */
const table: string[] = new Array<string>(SLOTS).fill('');

for (const name of NAMES) {
  let slot = hashName(name) & (SLOTS - 1);
  while (table[slot] !== '') slot = (slot + 1) & (SLOTS - 1);
  table[slot] = name;
}

function tokenTable(): Uint8Array {
  const fold = new Uint8Array(256);
  const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";
  for (let i = 0; i < token.length; i++) fold[token.charCodeAt(i)] = token.charCodeAt(i);
  for (let c = 65; c <= 90; c++) fold[c] = c + 32;
  return fold;
}

function hashName(name: string): number {
  let h = 0;
  for (let i = 0; i < name.length; i++) h = nameHash(h, name.charCodeAt(i));
  return h;
}

/** One step of the rolling hash over folded bytes; the parser inlines it. */
export function nameHash(h: number, folded: number): number {
  return (Math.imul(h, 31) + folded) | 0;
}

/**
 * The interned lower-case name of the bytes [start, end), or '' when the name is not well known.
 * @param hash nameHash over the folded bytes
 */
export function internName(buf: Uint8Array, start: number, end: number, hash: number): string {
  let slot = hash & (SLOTS - 1);
  for (;;) {
    const name = table[slot] as string;
    if (name === '') return '';
    if (name.length === end - start && sameName(name, buf, start)) return name;
    slot = (slot + 1) & (SLOTS - 1);
  }
}

// The bytes are compared and not only the hash: a peer must not be able to forge a second "host".
function sameName(name: string, buf: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) {
    if (TOKEN_FOLD[buf[start + i] as number] !== name.charCodeAt(i)) return false;
  }
  return true;
}
