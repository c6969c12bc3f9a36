// Conditional requests answered from a stored response (RFC 9110 section 13): If-None-Match as a list with weak
// comparison, else If-Modified-Since. Pure functions over messages.

import { parseDate } from './date.ts';
import type { HttpMessage } from './message.ts';

/**
 * Whether the client's copy is current, so that a 304 answers instead of this 200.
 * @param made when the response was made, used without Last-Modified (RFC 9110 section 13.1.3): seconds since the epoch
 * @param now seconds since the epoch: a later If-Modified-Since is ignored, as in Varnish
 * @param lenient of dates (http_date_postel)
 */
export function notModified(
  request: HttpMessage,
  response: HttpMessage,
  made: number,
  now: number,
  lenient = false,
): boolean {
  const match = request.getAll('if-none-match');
  if (match !== null) {
    const etag = response.get('etag');
    return etag === null ? false : listHasTag(match, etag);
  }
  const since = request.get('if-modified-since');
  if (since === null) return false;
  const asked = parseDate(since, undefined, lenient);
  if (asked === null || asked > now) return false;
  const modified = response.get('last-modified');
  const stored = modified === null ? made : parseDate(modified, undefined, lenient);
  return stored !== null && stored <= asked;
}

/** Makes a strong ETag weak: the bytes are not those that the origin tagged. */
export function weakenEtag(response: HttpMessage): void {
  const etag = response.get('etag');
  if (etag === null || etag.startsWith('W/')) return;
  response.set('ETag', `W/${etag}`);
}

function listHasTag(list: string, etag: string): boolean {
  if (list === etag) return true;
  if (list.trim() === '*') return true;
  const wanted = opaque(etag);
  // Tags are quoted strings without escapes, and may contain commas.
  for (const [tag] of list.matchAll(/(?:W\/)?"[^"]*"/g)) if (opaque(tag) === wanted) return true;
  return false;
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
