// vcl_backend_refresh: the program decides what a 304 makes of the stale object that it confirms. The body is that of
// the stale object whatever it decides; which headers go with it is the choice: those of both, of the stale object, or
// of beresp as the program leaves it. Afterwards the response is one like others, and vcl_backend_response runs.
//
// The life of the response is that of the merged fields, as without this state (RFC 9111 section 4.3.4), and it is set
// before the state runs: what the program sets here stays.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { HttpMessage, MSG_UNSET } from '../http1/message.ts';
import type { BusyObj } from './busyobj.ts';
import { hasTemplate, logMerged, mergeStale } from './revalidation.ts';

/** Whether the program has a say in a 304: it always has where its release has this state. */
export function decidesRefresh(bo: BusyObj): boolean {
  const { vcl } = bo.ctx;
  return hasTemplate(bo) && (vcl.changes.refreshState || vcl.isPlain[State.backend_refresh] === false);
}

function staleHead(bo: BusyObj): HttpMessage {
  const stale = new HttpMessage(Tag.ObjMethod);
  bo.core.cache.reading.head(bo.staleOc, stale);
  return stale;
}

/** The fields of the 304 and those of the stale object that it lacks: what the life is read from. */
export function mergedFields(bo: BusyObj): HttpMessage {
  const merged = new HttpMessage(Tag.BerespMethod);
  const stale = staleHead(bo);
  merged.copyFrom(bo.beresp);
  merged.status = stale.status;
  for (let i = 0; i < stale.n; i++) {
    const key = stale.keys[i] as string;
    if (!bo.beresp.has(key)) merged.push(key, stale.lines[i] as string);
  }
  return merged;
}

/** Makes beresp the response that the state has chosen; false when it has chosen none. */
export function takeRefreshed(bo: BusyObj, ret: ReturnCode): boolean {
  switch (ret) {
    case RETURN.merge:
      logMerged(bo, mergeStale(bo));
      return true;
    case RETURN.obj_stale:
      takeStale(bo);
      break;
    case RETURN.beresp:
      keepResponse(bo);
      break;
    default:
      return false;
  }
  bo.attempt.was304 = true;
  return true;
}

/** The stale object's head in place of the one that has come. */
function takeStale(bo: BusyObj): void {
  const { beresp, log } = bo;
  for (let i = 0; i < beresp.n; i++) log.put(beresp.base + MSG_UNSET, beresp.lines[i] as string);
  beresp.copyFrom(staleHead(bo));
  beresp.logStatusLine(log);
  beresp.logFields(log);
}

/** Fields of the stored body, not of the message that has come. */
const OF_MESSAGE = ['content-length', 'content-encoding', 'content-range', 'transfer-encoding'];
/** Fields by which the object can be revalidated again. */
const VALIDATORS = ['etag', 'last-modified'];

/** beresp as it is, but for what belongs to the stored body. */
function keepResponse(bo: BusyObj): void {
  const { beresp } = bo;
  const stale = staleHead(bo);
  const own = [...OF_MESSAGE, ...VALIDATORS.filter((key) => stale.has(key))];
  for (const key of own) {
    beresp.unset(key);
    const i = stale.find(key);
    if (i >= 0) beresp.put(key, stale.lines[i] as string);
  }
  if (beresp.status !== 304) return;
  beresp.setStatus(stale.status);
  beresp.setReason(stale.reason);
}
