// What a shared cache may do with a response by RFC 9111 and RFC 9213: whether to store it, how long it is fresh,
// and how long it may be used when it no longer is. Pure: a response, facts of its request, the time, parameters.
//
// Freshness that cannot be read is none, and a directive that forbids wins over one that allows.

import { deltaSeconds, directive, hasDirective, parseDelta } from '../http1/cache-control.ts';
import { parseDate } from '../http1/date.ts';
import type { HttpMessage } from '../http1/message.ts';
import { type Directives, targetedDirectives } from '../http1/targeted.ts';
import { roundedNumber } from '../log/rounded-number.ts';
import type { HotParams } from '../transaction/core.ts';
import type { Lifetime } from './ttl.ts';

/** Whether http_profile asks for the rules of this module: it is the second of its choices. */
export function isStrict(params: HotParams): boolean {
  return params.http_profile === 1;
}

export interface SharedLife extends Lifetime {
  /** False: nobody else may be given it. */
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
  /** Seconds, -1 when it is not there; what is no whole number of seconds is no time at all. */
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

/** A directive of Surrogate-Control that is meant for every surrogate; one with a target is meant for another. */
function surrogateValue(beresp: HttpMessage, name: string): string | null {
  const value = directive(beresp, 'surrogate-control', name);
  return value === null || value.includes(';') ? null : value;
}

/** @param authorized whether the request carried credentials (RFC 9111 section 3.5) */
export function sharedLife(
  beresp: HttpMessage,
  authorized: boolean,
  now: number,
  params: HotParams,
): SharedLife {
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

  const revalidate = control.has('no-cache');
  if (revalidate) ttl = 0;
  const neverStale =
    revalidate || shared >= 0 || control.has('must-revalidate') || control.has('proxy-revalidate');
  const whileRevalidating = control.seconds('stale-while-revalidate');
  const ifError = control.seconds('stale-if-error');
  const grace = neverStale ? 0 : Math.max(0, whileRevalidating);
  const staleIfError = neverStale ? 0 : ifError >= 0 ? ifError : params.default_grace;
  const hasValidator = beresp.has('etag') || beresp.has('last-modified');
  const keep = Math.max(params.default_keep, staleIfError - grace, hasValidator ? params.validator_keep : 0);

  const age = currentAge(beresp, date, now);
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

/** RFC 9111 section 4.2.3; the time the response was under way is not known apart from its Date. */
function currentAge(beresp: HttpMessage, date: number, now: number): number {
  const apparent = date === 0 ? 0 : Math.max(0, Math.floor(now) - date);
  return Math.max(apparent, ageValue(beresp.get('age')));
}

/** The first member of Age; what is no number is ignored (RFC 9111 section 5.1). */
function ageValue(text: string | null): number {
  const first = text === null ? undefined : /^\s*(\d+)\s*(?:,|$)/.exec(text)?.[1];
  return first === undefined ? 0 : Math.min(Number(first), 2 ** 31);
}

function seconds(text: string | null): number {
  return text === null ? 0 : (parseDate(text) ?? 0);
}
