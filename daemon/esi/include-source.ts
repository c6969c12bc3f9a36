// What the src= of an include asks for.

/** Host and path of a request; host null is the page's. */
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

/** Whether it names a host, and the scheme that is not spoken here. */
export function isHttps(src: string): boolean {
  return src.startsWith(HTTPS) && src.length > HTTPS.length;
}

/** Bytes that no request of a client could have brought (SAFETY rule 15). */
const CONTROL = /[\0-\x20\x7f]/;

/**
 * @param pageUrl what a relative one begins with, up to its last slash before the query
 * @param takesHttps whether https:// means the same as http://
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
