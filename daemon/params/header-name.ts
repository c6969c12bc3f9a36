// Validates the header for request ids (id_header). Headers that the proxy writes or evaluates, or that have a standard
// meaning, are not allowed, because a header of that name is removed and replaced in each message.

/** Longer names cannot be used in a program. */
const MAX_LENGTH = 126;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const TAKEN: ReadonlySet<string> = new Set([
  // Framing and hop-by-hop.
  ...['connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
  // Content and negotiation.
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'accept-ranges', 'allow'],
  ...['content-encoding', 'content-language', 'content-location', 'content-range', 'content-type'],
  ...['link', 'location', 'range', 'retry-after', 'server', 'user-agent', 'referer'],
  // Caching.
  ...[
    'age',
    'cache-control',
    'cdn-cache-control',
    'surrogate-capability',
    'surrogate-control',
    'surrogate-key',
  ],
  ...['date', 'etag', 'expires', 'last-modified', 'pragma', 'vary', 'via', 'warning', 'xkey'],
  ...['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since'],
  // Client and security.
  ...['authorization', 'cookie', 'forwarded', 'from', 'max-forwards', 'origin', 'proxy-authenticate'],
  ...['proxy-authorization', 'set-cookie', 'www-authenticate', 'x-forwarded-for', 'x-forwarded-host'],
  'x-forwarded-proto',
]);

/** The error for a name, or null. */
export function headerNameProblem(name: string): string | null {
  if (!TOKEN.test(name) || name.length > MAX_LENGTH) {
    return `Not the name of a header (${name}): letters, digits, "-" and "_" make one, ${MAX_LENGTH} at most`;
  }
  if (!TAKEN.has(name.toLowerCase())) return null;
  return `${name} has a meaning of its own in HTTP: choose another name, such as X-Proxy-Id or X-Varnish`;
}
