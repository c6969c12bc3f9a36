// Resolves the src= of an include to the host and path of the fragment's request.

/** Host and path of a request; host is null for the host of the page. */
export interface IncludeSource {
  readonly host: string | null;
  readonly url: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>' },
  ...{ '&quot;': '"', '&apos;': "'" },
};

const HTTP = 'http://';
const HTTPS = 'https://';

/** An absolute URL with a host, or one with an unsupported scheme. */
export function isHttps(src: string): boolean {
  return src.startsWith(HTTPS) && src.length > HTTPS.length;
}

/** Bytes that a client's request could not contain (SAFETY rule 15). */
const CONTROL = /[\0-\x20\x7f]/;

/**
 * @param pageUrl base of a relative URL: up to its last slash before the query
 * @param takesHttps whether https:// is treated as http://
 */
export function includeOf(
  src: string,
  pageUrl: string,
  takesHttps: boolean,
): IncludeSource | 'invalid' | 'https' {
  if (CONTROL.test(src)) return 'invalid';
  if (isHttps(src) && !takesHttps) return 'https';
  const scheme = [HTTP, HTTPS].find((name) => src.startsWith(name) && src.length > name.length);
  if (scheme !== undefined) {
    const slash = src.indexOf('/', scheme.length);
    return slash < 0 ? 'invalid' : { host: src.slice(scheme.length, slash), url: decoded(src.slice(slash)) };
  }
  if (src.startsWith('/')) return { host: null, url: decoded(src) };
  const path = pageUrl.split('?', 1)[0] as string;
  return { host: null, url: path.slice(0, path.lastIndexOf('/') + 1) + decoded(src) };
}

/** Entities are decoded once. */
function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] as string);
}
