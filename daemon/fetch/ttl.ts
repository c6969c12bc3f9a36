// The life of a response as the origin and the parameters have it (RFC 9111 section 4.2, with Varnish's
// arithmetic): s-maxage before max-age, Expires against Date, Age counted as time already lived, and
// stale-while-revalidate as grace. The program may change all of it afterwards. Times are single-precision numbers
// in Varnish, which shows in what is written of very long ones.

import { EXPLICIT_STATUSES, HEURISTIC_STATUSES } from '../../protocol/tables/kept-statuses.ts';
import { classicDelta, classicSeconds } from '../http1/cache-control.ts';
import { parseDate } from '../http1/date.ts';
import type { HttpMessage } from '../http1/message.ts';
import { roundedNumber } from '../log/rounded-number.ts';
import type { HotParams } from '../transaction/core.ts';

export interface Lifetime {
  ttl: number;
  grace: number;
  keep: number;
  /** When the response was made at its origin: now less its Age. */
  tOrigin: number;
  /** Text of the TTL record, after "RFC ". */
  text: string;
}

/** @param lenient of dates (http_date_postel) */
export function lifetime(beresp: HttpMessage, now: number, params: HotParams, lenient = false): Lifetime {
  const { status } = beresp;
  let ttl = params.default_ttl;
  let grace = params.default_grace;
  const keep = params.default_keep;
  const date = seconds(beresp.get('date'), lenient);
  const expiresText = beresp.get('expires');
  const expires = seconds(expiresText, lenient);
  const shared = classicDelta(beresp, 'cache-control', 's-maxage');
  const explicitOnly = EXPLICIT_STATUSES.has(status);
  const mayLive = explicitOnly || HEURISTIC_STATUSES.has(status);
  const given = shared >= 0 ? shared : classicDelta(beresp, 'cache-control', 'max-age');
  const maxAge = mayLive ? given : -1;
  if (!mayLive) {
    ttl = -1;
  } else if (maxAge >= 0) {
    ttl = Math.fround(maxAge);
  } else if (expiresText !== null) {
    // An Expires that cannot be read lies in the past (RFC 9111 section 5.3).
    if (expires === 0 || (date !== 0 && expires < date)) ttl = 0;
    else if (date === 0 || Math.abs(date - now) < params.clock_skew) ttl = Math.max(0, expires - now);
    else ttl = expires - date;
  } else if (explicitOnly) ttl = -1;
  if (ttl >= 0) {
    const stale = classicDelta(beresp, 'cache-control', 'stale-while-revalidate');
    if (stale >= 0) grace = Math.fround(stale);
  }
  const tOrigin = born(beresp, now);
  const text = [ttl, grace, keep, now, tOrigin, date, expires, Math.max(maxAge, 0)]
    .map(roundedNumber)
    .join(' ');
  return { ttl, grace, keep, tOrigin, text };
}

/** When the response was made at its origin: now less its Age. */
export function born(beresp: HttpMessage, now: number): number {
  const age = beresp.get('age');
  return age === null ? now : now - classicSeconds(age);
}

function seconds(text: string | null, lenient: boolean): number {
  return text === null ? 0 : (parseDate(text, undefined, lenient) ?? 0);
}
