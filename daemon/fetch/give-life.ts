// The life of a response as its own fields have it, given to the fetch: once before the program sees the response, and
// again where the program asks for it (std.rfc_ttl).

import { Tag } from '../../protocol/tables/tags.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import { born, isStrict, lifetime, type SharedLife, sharedLife } from './lifetime.ts';

/** Seconds for which requests for a response that may not be shared do not wait for each other. */
const HIT_FOR_MISS = 120;
/** Seconds of life of a response that every use has to revalidate. */
const ALWAYS_STALE = 0.001;

/** The parts of a fetch (BusyObj) that it reads and sets. Times in seconds. */
interface Living {
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

/** ttl, grace and keep from the fields of the response; a pass has no life of its own. Tells the time they count from. */
export function giveLife(bo: Living, fields: HttpMessage = bo.beresp): number {
  // The Beresp of this moment.
  const now = bo.log.tPrev;
  const shared = setLife(bo, fields, now, bo.uncacheable);
  if (shared?.store === false) {
    leaveMarker(bo);
    bo.uncacheable = true;
  }
  return now;
}

/** The same for what the program has made of the response. It stays cacheable or not, as the program has it. */
export function giveLifeAgain(bo: Living): void {
  const shared = setLife(bo, bo.beresp, bo.ctx.now, bo.mode === 'pass');
  if (shared?.store !== false) return;
  leaveMarker(bo);
  // There is no marker to leave: current waiters share it, later requests do not.
  if (!bo.uncacheable) bo.ttl = 0;
}

/** Returns what a strict cache makes of the response; null for a pass, and for caches that are not. */
function setLife(bo: Living, fields: HttpMessage, now: number, isPass: boolean): SharedLife | null {
  const { core, log } = bo;
  const { params } = core;
  const strict = isStrict(params);
  if (isPass && !strict) {
    bo.tOrigin = born(fields, now);
    noLife(bo);
    return null;
  }
  const shared = strict ? sharedLife(fields, bo.bereq.has('authorization'), now, params) : null;
  const life = shared ?? lifetime(fields, now, params, core.lenientDates);
  bo.tOrigin = life.tOrigin;
  if (isPass) {
    noLife(bo);
    return null;
  }
  // A life of nothing would leave nothing to revalidate.
  bo.ttl = shared !== null && life.ttl <= 0 ? ALWAYS_STALE : life.ttl;
  bo.grace = life.grace;
  bo.keep = life.keep;
  const isCacheable = !bo.uncacheable && shared?.store !== false;
  log.put(Tag.TTL, `RFC ${life.text} ${isCacheable ? 'cacheable' : 'uncacheable'}`);
  return shared;
}

function leaveMarker(bo: Living): void {
  bo.ttl = HIT_FOR_MISS;
  bo.grace = 0;
  bo.keep = 0;
}

function noLife(bo: Living): void {
  bo.ttl = -1;
  bo.grace = 0;
  bo.keep = 0;
}
