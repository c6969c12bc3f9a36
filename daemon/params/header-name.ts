// Which header the proxy may use for its ids (id_header): any name but those that it writes or obeys, or that mean
// something to every client, because a header of that name is removed and replaced in each message.

/** Longer names cannot be written in a program. */
const MAX_LENGTH = 126;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const TAKEN: ReadonlySet<string> = new Set([
  // Framing and this hop.
  ...['connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
  // The object and its coding.
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
  // The client.
  ...['authorization', 'cookie', 'forwarded', 'from', 'max-forwards', 'origin', 'proxy-authenticate'],
  ...['proxy-authorization', 'set-cookie', 'www-authenticate', 'x-forwarded-for', 'x-forwarded-host'],
  'x-forwarded-proto',
]);

/** Why a name is not allowed, or null. */
export function headerNameProblem(name: string): string | null {
  if (!TOKEN.test(name) || name.length > MAX_LENGTH) {
    return `Not the name of a header (${name}): letters, digits, "-" and "_" make one, ${MAX_LENGTH} at most`;
  }
  if (!TAKEN.has(name.toLowerCase())) return null;
  return `${name} has a meaning of its own in HTTP: choose another name, such as X-Proxy-Id or X-Varnish`;
}
