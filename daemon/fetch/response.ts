// What the origin answered, before the program sees it: logged, dated, and given the life that its own fields
// and the parameters call for.

import { Tag } from '../../protocol/tables/tags.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { TRANSIENT } from '../cache/storage/stevedores.ts';
import { httpDate } from '../http1/date.ts';
import { type BodyFraming, responseBody, settleLength } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import { MSG_PROTOCOL, MSG_REASON, MSG_STATUS } from '../http1/message.ts';
import { PreparedRecords } from '../log/tx-log.ts';
import type { BusyObj } from './busyobj.ts';
import { isStrict, sharedLife } from './rfc9111.ts';
import { born, lifetime } from './ttl.ts';

const STATUS_200 = new PreparedRecords([
  [Tag.BerespProtocol, 'HTTP/1.1'],
  [Tag.BerespStatus, '200'],
  [Tag.BerespReason, 'OK'],
]);

/** For so long requests for what nobody may share do not wait for each other. */
const HIT_FOR_MISS = 120;
/** Seconds of life of a response that every use has to revalidate. */
const ALWAYS_STALE = 0.001;

/** Logs beresp as it stands; from here on the program's changes are logged one by one. */
export function logBeresp(bo: BusyObj): void {
  const { beresp, log } = bo;
  if (beresp.status === 200 && beresp.reason === 'OK' && beresp.proto === 'HTTP/1.1')
    log.putConstant(STATUS_200);
  else {
    log.put(beresp.base + MSG_PROTOCOL, beresp.proto);
    log.put(beresp.base + MSG_STATUS, String(beresp.status % 1000).padStart(3, '0'));
    log.put(beresp.base + MSG_REASON, beresp.reason);
  }
  beresp.logFields(log);
  beresp.log = log;
}

/** Takes the answer's head over; returns the framing of its body. */
export function takeResponse(bo: BusyObj): BodyFraming {
  const { beresp, core } = bo;
  // The Beresp of this moment.
  const now = bo.log.tPrev;
  logBeresp(bo);
  const { leniencies } = bo.exchange.connection as OriginConnection;
  let framing = responseBody(beresp, bo.bereq.method, leniencies);
  if (leniencies.any) settleLength(beresp, framing);
  if (beresp.status === 204 && (beresp.has('transfer-encoding') || lengthIsNotNothing(beresp))) {
    // RFC 9110 section 8.6 forbids it: who knows where the next response begins.
    framing = { kind: 'error', reason: 'body_forbidden', text: '', detail: 'status 204' };
  }
  if (framing.kind !== 'error' && !beresp.has('date')) beresp.add('Date', httpDate(now), 'date');
  bo.tOrigin = now;
  bo.storage = bo.uncacheable ? TRANSIENT : core.cache.storages.next();
  return framing;
}

/** ttl, grace and keep from the response's own fields; a pass has no life of its own. Tells the time they count from. */
export function giveLife(bo: BusyObj): number {
  const { beresp, core, log } = bo;
  // The Beresp of this moment.
  const now = log.tPrev;
  if (bo.uncacheable && !isStrict(core.params)) {
    bo.tOrigin = born(beresp, now);
    noLife(bo);
    return now;
  }
  const shared = isStrict(core.params)
    ? sharedLife(beresp, bo.bereq.has('authorization'), now, core.params)
    : null;
  const life = shared ?? lifetime(beresp, now, core.params, core.lenientDates);
  bo.tOrigin = life.tOrigin;
  if (bo.uncacheable) {
    noLife(bo);
    return now;
  }
  // A life of nothing would leave nothing to revalidate.
  bo.ttl = shared !== null && life.ttl <= 0 ? ALWAYS_STALE : life.ttl;
  bo.grace = life.grace;
  bo.keep = life.keep;
  if (shared?.store === false) {
    bo.ttl = HIT_FOR_MISS;
    bo.grace = 0;
    bo.keep = 0;
    bo.uncacheable = true;
  }
  log.put(Tag.TTL, `RFC ${life.text} ${bo.uncacheable ? 'uncacheable' : 'cacheable'}`);
  return now;
}

function noLife(bo: BusyObj): void {
  bo.ttl = -1;
  bo.grace = 0;
  bo.keep = 0;
}

function lengthIsNotNothing(msg: HttpMessage): boolean {
  const length = msg.get('content-length');
  return length !== null && length !== '0';
}

/** Counts a response by how its body is framed, as soon as its head is there: whatever the program makes of it. */
export function countKind(bo: BusyObj, framing: BodyFraming): void {
  const { stats } = bo.core;
  if (bo.bereq.method === 'HEAD') stats.fetch_head++;
  else if (bo.beresp.status === 204) stats.fetch_204++;
  else if (bo.beresp.status === 304) stats.fetch_304++;
  else
    switch (framing.kind) {
      case 'none':
        stats.fetch_none++;
        break;
      case 'length':
        stats.fetch_length++;
        break;
      case 'chunked':
        stats.fetch_chunked++;
        break;
      case 'eof':
        stats.fetch_eof++;
        break;
      default:
        stats.fetch_bad++;
    }
}
