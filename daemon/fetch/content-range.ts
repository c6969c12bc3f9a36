// Whether the part of a body that an origin sends is the part that was asked for (RFC 9110 section 14.4): a part that
// is taken for another, or for the whole, is a wrong body (SAFETY rule 3). Pure; the texts are those of Varnish's log.

import { parseLength } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import { type ContentRange, parseContentRange, rangeFault, requestedRange } from '../http1/range.ts';

const OTHER_UNIT = /^(?!bytes )[\w!#$%&'*+.^`|~-]+ /i;

/**
 * What is wrong with the Content-Range of a response as the program leaves it, or null.
 * @param asked the Range of the request when it was made: none where the whole was asked for, whatever a program adds
 * @param byStatus a Content-Range means something with status 206 alone (RFC 9110 section 14.4); in Varnish with any
 */
export function contentRangeFault(
  asked: string | null,
  beresp: HttpMessage,
  byStatus = false,
): string | null {
  const value = beresp.get('content-range');
  // Parts in units that nobody here knows are between the origin and the client (RFC 9110 section 14.4).
  if (value === null || OTHER_UNIT.test(value)) return null;
  if (byStatus && beresp.status !== 206) return null;
  if (asked === null) return 'Unexpected content-range header';
  const wanted = requestedRange(asked);
  if (wanted === null) return `Invalid range header (${rangeFault(asked)})`;
  const got = parseContentRange(value);
  if (got === null) return 'Invalid content-range header';
  // A range that cannot be satisfied comes with the length of what there is, and a page that says so.
  if (beresp.status === 416 && got.low < 0) return null;
  return misfit(got, beresp) ?? misplaced(wanted, got);
}

function misplaced(wanted: { low: number; high: number }, got: ContentRange): string | null {
  if (got.low < 0 || wanted.low < 0) return null;
  if (got.low !== wanted.low) return `Expected low range ${got.low}, got ${wanted.low}`;
  if (wanted.high >= 0 && got.high > wanted.high)
    return `Expected minimum high range ${got.high}, got ${wanted.high}`;
  return null;
}

function misfit(got: ContentRange, beresp: HttpMessage): string | null {
  const declared = beresp.get('content-length');
  if (declared === null || beresp.status === 304 || beresp.status === 204) return null;
  const length = parseLength(declared);
  const expected = got.low < 0 ? got.total : got.high - got.low + 1;
  return expected < 0 || length === expected ? null : `Expected content length ${expected}, got ${length}`;
}
