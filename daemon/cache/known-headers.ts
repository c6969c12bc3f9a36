// Header names that stored heads refer to by a number, so that decoding a head makes no key strings.
// Positions are part of the stored form only while a worker lives; 0 means "not in this list".

const NAMES = [
  '',
  'accept-ranges',
  'access-control-allow-origin',
  'age',
  'alt-svc',
  'cache-control',
  'cdn-cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'permissions-policy',
  'pragma',
  'referrer-policy',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'surrogate-control',
  'surrogate-key',
  'transfer-encoding',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-cache',
  'x-content-type-options',
  'x-frame-options',
  'x-powered-by',
  'x-request-id',
  'x-version',
  'x-xss-protection',
  'xkey',
] as const;

const NUMBERS: ReadonlyMap<string, number> = new Map(NAMES.map((name, i) => [name, i]));

/** Number of a lower-case header name; 0 when it is not in the list. */
export function headerNumber(key: string): number {
  return NUMBERS.get(key) ?? 0;
}

/** Lower-case name of a number from 1. */
export function headerName(number: number): string {
  return NAMES[number] as string;
}
