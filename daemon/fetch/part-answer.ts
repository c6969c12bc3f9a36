// The answer to a fetch of a slice (wanted-part.ts): whether it is stored as one. Where an object cannot be kept in slices its
// whole is fetched instead, in another attempt of the same fetch; a slice that is not of its object any more ends the
// deliveries that wait for it, and takes the object and its other slices out of the cache.

import { Tag } from '../../protocol/tables/tags.ts';
import { ownPlace } from '../cache/part-facts.ts';
import { DONE, type Step } from '../transaction/drive.ts';
import type { BusyObj } from './busyobj.ts';
import { leaveUncached } from './prepare.ts';
import { tryAgain } from './try-origin.ts';
import { askFor, WantedPart } from './wanted-part.ts';

/** Looks at the answer's head as it came. */
export function judgePart({ part, beresp, log }: BusyObj, forget: () => void): void {
  if (part === null) return;
  part.judge(beresp);
  if (part.verdict !== 'whole') return;
  // Small enough for one slice, it is an object like any other.
  log.put(Tag.Notice, 'Whole object in one slice');
  beresp.setStatus(200);
  beresp.setReason('OK');
  beresp.unset('content-range');
  part.coming?.settle(false);
  forget();
}

/** Whether the life of the answer is that of the object it is a slice of. */
export function isSlice({ part }: BusyObj): boolean {
  return part?.facts != null;
}

/** Goes on with the answer that the program has let pass: null where it is stored, the next step where it is not. */
export function settlePart(bo: BusyObj): Step<BusyObj> | null {
  const { part, attempt } = bo;
  if (part === null) return null;
  if (attempt.was304) {
    part.coming?.settle(false);
    return null;
  }
  if (part.of !== null) return settleLater(bo, part);
  if (part.verdict === 'other') {
    part.coming?.settle(false, bo.beresp.status === 200);
    bo.part = null;
    return null;
  }
  const fault = part.verdict === 'slice' ? unfit(bo, part) : part.fault;
  if (fault === null) {
    attempt.part = part.facts;
    part.coming?.settle(true);
    return null;
  }
  part.coming?.settle(false, part.verdict === 'unusable');
  if (part.verdict === 'beyond' && part.size > 0 && part.index > 0)
    return again(bo, new WantedPart(part.size, 0, null));
  bo.log.put(Tag.Notice, `Not in slices: ${fault === '' ? 'ends before its first byte' : fault}`);
  return again(bo, null);
}

/** Why an object is not kept in slices that could be; null if it is. */
function unfit(bo: BusyObj, { length }: WantedPart): string | null {
  if (bo.uncacheable) return 'uncacheable';
  if (
    bo.attempt.doEsi ||
    bo.attempt.doGzip ||
    bo.attempt.doGunzip ||
    (bo.attempt.filters ?? '').trim() !== ''
  )
    return 'filters';
  return bo.core.cache.storages.couldHold(bo.storage, length) ? null : 'larger than storage';
}

function again(bo: BusyObj, part: WantedPart | null): Step<BusyObj> {
  const { bereq } = bo;
  bo.attempt.giveUp();
  // Decided again, about another answer.
  bo.uncacheable = false;
  bo.hitForPass = false;
  bo.part = part;
  askFor(bo);
  if (bo.programRef.keepsFetch) bo.bereq0.copyFrom(bereq);
  return tryAgain(bo);
}

/** A slice of an object that is known. */
function settleLater(bo: BusyObj, part: WantedPart): Step<BusyObj> | null {
  if (part.verdict === 'slice') {
    bo.attempt.part = part.facts;
    // Before its first byte is sent: a client that has it and asks again must find it.
    if (part.of?.urgency === 'uncached') leaveUncached(bo);
    else if (part.facts !== null) part.of?.comes(ownPlace(part.facts));
    return null;
  }
  const { log, beresp, core } = bo;
  const fault = part.fault === '' ? `was answered with status ${beresp.status % 1000}` : part.fault;
  log.put(Tag.FetchError, `Slice ${part.index} ${fault}`);
  // Of an origin whose parts are of no use any more all later deliveries would be cut as well: the next one begins anew.
  if (part.verdict === 'changed' || part.verdict === 'unusable') part.of?.changed(beresp.status);
  bo.attempt.end('RX_BODY');
  core.stats.fetch_failed++;
  return DONE;
}
