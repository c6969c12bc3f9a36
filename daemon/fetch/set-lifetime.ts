// Sets ttl, grace and keep of a fetch from the headers of its response: before vcl_backend_response, and again when the
// program calls std.rfc_ttl(). lifetime.ts has the arithmetic.

import { Tag } from '../../protocol/tables/tags.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import { isStrict, lifetime, originTime, type SharedLifetime, sharedLifetime } from './lifetime.ts';

/** Seconds for which requests for a response that may not be shared do not wait for each other. */
const HIT_FOR_MISS = 120;
/** ttl of a response that must be revalidated before each use, in seconds: an object without a ttl would not be stored. */
const ALWAYS_STALE = 0.001;

/** The part of a fetch (BusyObj) that is read and set here. Times in seconds. */
interface FetchLifetime {
  readonly core: Pick<Core, 'params' | 'lenientDates'>;
  readonly bereq: HttpMessage;
  readonly beresp: HttpMessage;
  readonly log: Pick<TxLog, 'put' | 'tPrev'>;
  readonly ctx: { readonly now: number };
  readonly mode: string;
  uncacheable: boolean;
  ttl: number;
  grace: number;
  keep: number;
  /** When the response was made at its origin. */
  tOrigin: number;
}

/**
 * Sets ttl, grace and keep from `fields`; a pass has no lifetime.
 * @returns the time from which they count: that of the Beresp timestamp
 */
export function setLifetime(bo: FetchLifetime, fields: HttpMessage = bo.beresp): number {
  const now = bo.log.tPrev;
  const shared = applyLifetime(bo, fields, now, bo.uncacheable);
  if (shared?.store === false) {
    leaveMarker(bo);
    bo.uncacheable = true;
  }
  return now;
}

/** Sets them again from the headers as the program has changed them. `uncacheable` remains as it is. */
export function recalculateLifetime(bo: FetchLifetime): void {
  const shared = applyLifetime(bo, bo.beresp, bo.ctx.now, bo.mode === 'pass');
  if (shared?.store !== false) return;
  leaveMarker(bo);
  // A cacheable object cannot become a marker here: requests that already wait share it, later ones do not.
  if (!bo.uncacheable) bo.ttl = 0;
}

/** Returns the lifetime by RFC 9111; null for a pass, and unless http_profile=rfc9111. */
function applyLifetime(
  bo: FetchLifetime,
  fields: HttpMessage,
  now: number,
  isPass: boolean,
): SharedLifetime | null {
  const { core, log } = bo;
  const { params } = core;
  const strict = isStrict(params);
  if (isPass && !strict) {
    bo.tOrigin = originTime(fields, now);
    clearLifetime(bo);
    return null;
  }
  const shared = strict ? sharedLifetime(fields, bo.bereq.has('authorization'), now, params) : null;
  const life = shared ?? lifetime(fields, now, params, core.lenientDates);
  bo.tOrigin = life.tOrigin;
  if (isPass) {
    clearLifetime(bo);
    return null;
  }
  // Without a ttl there would be no object to revalidate.
  bo.ttl = shared !== null && life.ttl <= 0 ? ALWAYS_STALE : life.ttl;
  bo.grace = life.grace;
  bo.keep = life.keep;
  const isCacheable = !bo.uncacheable && shared?.store !== false;
  log.put(Tag.TTL, `RFC ${life.text} ${isCacheable ? 'cacheable' : 'uncacheable'}`);
  return shared;
}

function leaveMarker(bo: FetchLifetime): void {
  bo.ttl = HIT_FOR_MISS;
  bo.grace = 0;
  bo.keep = 0;
}

function clearLifetime(bo: FetchLifetime): void {
  bo.ttl = -1;
  bo.grace = 0;
  bo.keep = 0;
}
