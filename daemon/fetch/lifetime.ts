// The lifetime of a response. lifetime(): RFC 9111 section 4.2 with Varnish's arithmetic and the default parameters:
// s-maxage before max-age, Expires relative to Date, Age subtracted, stale-while-revalidate as grace. sharedLifetime():
// a shared cache that follows RFC 9111 to the letter (http_profile=rfc9111). The program may change the result. Varnish
// has single-precision durations, which shows in the log for very long ones.

import { EXPLICIT_STATUSES, HEURISTIC_STATUSES } from '../../protocol/tables/kept-statuses.ts';
import {
  classicDelta,
  classicSeconds,
  deltaSeconds,
  directive,
  hasDirective,
  parseDelta,
} from '../http1/cache-control.ts';
import { parseDate } from '../http1/date.ts';
import type { HttpMessage } from '../http1/message.ts';
import { type Directives, targetedDirectives } from '../http1/targeted.ts';
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
  const tOrigin = originTime(beresp, now);
  const text = [ttl, grace, keep, now, tOrigin, date, expires, Math.max(maxAge, 0)]
    .map(roundedNumber)
    .join(' ');
  return { ttl, grace, keep, tOrigin, text };
}

/** When the response was made at its origin: now less its Age. */
export function originTime(beresp: HttpMessage, now: number): number {
  const age = beresp.get('age');
  return age === null ? now : now - classicSeconds(age);
}

function seconds(text: string | null, lenient = false): number {
  return text === null ? 0 : (parseDate(text, undefined, lenient) ?? 0);
}

/** Whether http_profile asks for the rules of this module: it is the second of its choices. */
export function isStrict(params: HotParams): boolean {
  return params.http_profile === 1;
}

export interface SharedLifetime extends Lifetime {
  /** False: it may not be shared. */
  store: boolean;
  /** Seconds after its freshness for which it may answer where the origin fails; 0 when it must not. */
  staleIfError: number;
}

/** Cacheable without explicit freshness (RFC 9110 section 15.1), as far as whole responses go. */
const HEURISTIC = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);
/** Statuses whose caching rules are known here: must-understand asks for no less. */
const UNDERSTOOD = new Set([...HEURISTIC, 302, 303, 307, 400, 401, 403, 416, 500, 502, 503, 504]);

/** Directives of a list such as Cache-Control's, or -1 and false. */
interface Control {
  has(name: string): boolean;
  /** Seconds; -1 if it is absent, 0 if its value is not a whole number. */
  seconds(name: string): number;
  /** A field for caches of our kind takes the place of Expires too. */
  readonly isTargeted: boolean;
}

/** The directives that count: those of the most specific field that can be read. */
function controlOf(beresp: HttpMessage): Control {
  const targeted = targetedDirectives(beresp, 'cdn-cache-control');
  if (targeted !== null) return cdnControl(targeted);
  if (surrogateValue(beresp, 'max-age') !== null || surrogateValue(beresp, 'no-store') !== null)
    return surrogateControl(beresp);
  return {
    isTargeted: false,
    has: (name) => hasDirective(beresp, 'cache-control', name),
    seconds: (name) => deltaSeconds(beresp, 'cache-control', name),
  };
}

function cdnControl(directives: Directives): Control {
  return {
    isTargeted: true,
    has: (name) => (directives.get(name) ?? false) !== false,
    seconds: (name) => {
      const value = directives.get(name);
      if (value === undefined) return -1;
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
    },
  };
}

/** Surrogate-Control of the Edge Architecture note: `max-age=60+30` is 60 seconds and 30 more while stale. */
function surrogateControl(beresp: HttpMessage): Control {
  return {
    isTargeted: true,
    has: (name) => surrogateValue(beresp, name) !== null,
    seconds: (name) => {
      const [life, stale] = (surrogateValue(beresp, 'max-age') ?? '').split('+');
      if (name === 'max-age') return life === '' || life === undefined ? -1 : parseDelta(life);
      return name === 'stale-while-revalidate' && stale !== undefined ? parseDelta(stale) : -1;
    },
  };
}

/** This proxy in Surrogate-Capability, and as the target of a directive of Surrogate-Control. */
const SURROGATE = 'proxyd';

/** Tells an origin what it may address to this proxy (Edge Architecture, section 2), after those in front of it. */
export function announceSurrogate(bereq: HttpMessage): void {
  bereq.join('surrogate-capability');
  const others = bereq.get('surrogate-capability');
  const own = `${SURROGATE}="Surrogate/1.0"`;
  bereq.set('Surrogate-Capability', others === null || others === '' ? own : `${others}, ${own}`);
}

/** The value of a directive of Surrogate-Control that is meant for this proxy or for every surrogate; null for none. */
function surrogateValue(beresp: HttpMessage, name: string): string | null {
  const value = directive(beresp, 'surrogate-control', name);
  if (value === null) return null;
  const [text = '', target = SURROGATE] = value.split(';', 2);
  return target.trim() === SURROGATE ? text.trimEnd() : null;
}

/** @param authorized whether the request carried credentials (RFC 9111 section 3.5) */
export function sharedLifetime(
  beresp: HttpMessage,
  authorized: boolean,
  now: number,
  params: HotParams,
): SharedLifetime {
  const { status } = beresp;
  const control = controlOf(beresp);
  const date = seconds(beresp.get('date'));
  const expiresText = control.isTargeted ? null : beresp.get('expires');
  const expires = seconds(expiresText);
  const shared = control.seconds('s-maxage');
  const maxAge = shared >= 0 ? shared : control.seconds('max-age');
  const explicit = maxAge >= 0 || expiresText !== null;

  let ttl = 0;
  if (maxAge >= 0) ttl = maxAge;
  else if (expiresText !== null) ttl = expires === 0 ? 0 : Math.max(0, expires - (date === 0 ? now : date));
  else if (HEURISTIC.has(status) || control.has('public')) {
    const modified = seconds(beresp.get('last-modified'));
    const made = date === 0 ? now : date;
    if (modified !== 0 && modified < made)
      ttl = Math.min(Math.floor((made - modified) / 10), params.heuristic_ttl_max);
  }

  const stated = statedAge(beresp);
  // A response of unknown age may be older than it may become.
  const revalidate = control.has('no-cache') || Number.isNaN(stated);
  if (revalidate) ttl = 0;
  const neverStale =
    revalidate || shared >= 0 || control.has('must-revalidate') || control.has('proxy-revalidate');
  const whileRevalidating = control.seconds('stale-while-revalidate');
  const ifError = control.seconds('stale-if-error');
  const grace = neverStale ? 0 : Math.max(0, whileRevalidating);
  const staleIfError = neverStale ? 0 : ifError >= 0 ? ifError : params.default_grace;
  const hasValidator = beresp.has('etag') || beresp.has('last-modified');
  const keep = Math.max(params.default_keep, staleIfError - grace, hasValidator ? params.validator_keep : 0);

  const apparent = date === 0 ? 0 : Math.max(0, Math.floor(now) - date);
  // RFC 9111 section 4.2.3; the time the response was under way is not known apart from its Date.
  const age = Math.max(apparent, stated || 0);
  const text = [ttl, grace, keep, now, now - age, date, expires, Math.max(maxAge, 0)]
    .map(roundedNumber)
    .join(' ');
  const store =
    mayStore(status, control) &&
    (explicit || HEURISTIC.has(status) || control.has('public')) &&
    (!authorized || shared >= 0 || control.has('public') || control.has('must-revalidate')) &&
    // Without a life or a validator there is nothing to keep it for.
    (ttl > 0 || grace > 0 || hasValidator);
  return { ttl, grace, keep, tOrigin: now - age, text, store, staleIfError };
}

function mayStore(status: number, control: Control): boolean {
  // Parts and answers to conditions are not whole; interim responses never come here.
  if (status === 206 || status === 304 || control.has('private')) return false;
  if (control.has('must-understand')) return UNDERSTOOD.has(status);
  return !control.has('no-store');
}

/** Age in seconds, 0 without one; the first of several on one line, unless it is repeated. NaN of anything else (decision 23). */
function statedAge(beresp: HttpMessage): number {
  const line = beresp.get('age');
  if (line === null) return 0;
  if (!/^[ \t]*\d+[ \t]*(,[ \t]*\d+[ \t]*)*$/.test(line)) return Number.NaN;
  const [first, ...others] = line.split(',').map(Number) as [number, ...number[]];
  if (beresp.getAll('age') !== line || others.includes(first)) return Number.NaN;
  return Math.min(first, 2 ** 31);
}
