// The way a stale object's body goes on in a new one, after a 304 or in the place of an error: waits until the stale
// object is whole, then copies it in steps that leave turns to others.
//
// Caution: an object that was found stale may still be on its way from its origin, and may yet break off. What there
// is of it by now must never be taken for all of it (SAFETY rule 3), so nobody sees the new object before the old one
// has come to its end.

import { Tag } from '../../protocol/tables/tags.ts';
import { OF_GZIPPED } from '../cache/objcore.ts';
import type { ProgressReader, ProgressSource } from '../cache/roles.ts';
import { DONE, PARKED, type Step } from '../transaction/drive.ts';
import type { BusyObj } from './busyobj.ts';
import { COPY, STORED, TAKE_OVER, UNSTORED } from './fetch-steps.ts';
import { prepareObject } from './prepare.ts';

const SLICE = 64 * 1024;
/** Bytes copied in one turn: about a millisecond of memory traffic. */
const A_TURN = 2 * 1024 * 1024;

/** Whether the stale object has a body that a new one may take over: markers never had one to speak of. */
export function hasTemplate(bo: BusyObj): boolean {
  return bo.staleOc !== 0 && !bo.core.cache.facts.isUncacheable(bo.staleOc);
}

/** Goes on with TAKE_OVER as soon as the stale object is whole or has failed. */
export function awaitTemplate(bo: BusyObj): Step<BusyObj> {
  const { facts } = bo.core.cache;
  bo.attempt.copied = 0;
  if (facts.isFinished(bo.staleOc) || facts.isFailed(bo.staleOc)) return TAKE_OVER;
  bo.log.put(Tag.Notice, 'vsl: Conditional fetch wait for streaming object');
  new TemplateWait(bo).begin();
  return PARKED;
}

class TemplateWait implements ProgressReader {
  private readonly bo: BusyObj;
  private source: ProgressSource | null = null;

  constructor(bo: BusyObj) {
    this.bo = bo;
  }

  begin(): void {
    this.source = this.bo.core.cache.reading.onProgress(this.bo.staleOc, this);
  }

  progress(): void {
    const { bo } = this;
    const { facts } = bo.core.cache;
    if (!facts.isFinished(bo.staleOc) && !facts.isFailed(bo.staleOc)) return;
    this.source?.detach(this);
    this.source = null;
    // Not from within the fetch that tells: it has more to do with its object.
    bo.core.later(() => bo.resume(TAKE_OVER));
  }
}

/** The stale object has come to its end. */
export function takeOver(bo: BusyObj): Step<BusyObj> {
  const { core, log, exchange } = bo;
  if (core.cache.facts.isFailed(bo.staleOc)) {
    if (bo.attempt.standsIn) return UNSTORED;
    log.put(Tag.FetchError, 'Template object failed');
    exchange.end(null);
    core.stats.fetch_failed++;
    return DONE;
  }
  if (prepareObject(bo)) return COPY;
  log.put(Tag.FetchError, 'Could not get storage');
  exchange.end('RESP_CLOSE');
  return UNSTORED;
}

/** Copies what a turn may take. */
export function copyBody(bo: BusyObj): Step<BusyObj> {
  const { core, oc, staleOc } = bo;
  const { facts, filling, reading } = core.cache;
  const length = reading.bodyLength(staleOc);
  const until = Math.min(length, bo.attempt.copied + A_TURN);
  while (bo.attempt.copied < until) {
    const slice = reading.slice(staleOc, bo.attempt.copied, Math.min(SLICE, until - bo.attempt.copied));
    if (!filling.append(oc, slice, 0, slice.length)) {
      bo.attempt.copyFailure = 'storage';
      return STORED;
    }
    bo.attempt.copied += slice.length;
  }
  if (bo.attempt.copied < length) {
    core.later(() => bo.resume(COPY));
    return PARKED;
  }
  const annex = reading.annex(staleOc);
  // Kept as what it was: a page is a page.
  if (annex !== null && !filling.setAnnex(oc, annex)) bo.attempt.copyFailure = 'storage';
  if (facts.has(oc, OF_GZIPPED)) filling.setGunzippedLength(oc, reading.gunzippedLength(staleOc));
  return STORED;
}
