// From beresp to an object: chooses the body's filters, which mend the headers that they make untrue, chooses the storage
// and writes the head. What it replaces usually goes, since no request will be given it again; an origin that fails takes
// nothing away, as long as its failure is not for keeping. Also whether the part of a body that an origin sends is the part
// that was asked for (RFC 9110 section 14.4): a part that is taken for another, or for the whole, is a wrong body (SAFETY
// rule 3).

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import {
  OF_ESI,
  OF_FAILURE,
  OF_FOR_WAITERS,
  OF_GZIPPED,
  OF_HEAD_ALONE,
  OF_HIT_MISS,
  OF_HIT_PASS,
  OF_PART,
  OF_PLAIN,
  OF_RECODED,
  OF_UNSTREAMED,
} from '../cache/objcore.ts';
import type { StoredSlice } from '../cache/object-filling.ts';
import { decodePart, encodePart, ownPlace, type PartFacts, partTag } from '../cache/part-facts.ts';
import { TRANSIENT } from '../cache/storage/stevedores.ts';
import { resolveVary, varyKey } from '../cache/vary.ts';
import { FetchChain } from '../filters/chain.ts';
import { NO_FETCH_FILTERS, namedFetchFilters, usualFetchFilters } from '../filters/filter-table.ts';
import { parseLength } from '../http1/framing.ts';
import { copyOnward, HOP_RESPONSE } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { type ContentRange, parseContentRange, rangeFault, requestedRange } from '../http1/range.ts';
import { logStoredHead } from '../log/body-records.ts';
import type { BusyObj } from './busyobj.ts';

const OTHER_UNIT = /^(?!bytes )[\w!#$%&'*+.^`|~-]+ /i;

/**
 * The fault in the Content-Range of a response as the program leaves it, or null.
 * @param asked the Range of the request when it was made: none where the whole was asked for, whatever a program adds
 * @param byStatus a Content-Range means something with status 206 alone (RFC 9110 section 14.4); in Varnish with any
 */
export function contentRangeFault(
  asked: string | null,
  beresp: HttpMessage,
  byStatus = false,
): string | null {
  const value = beresp.get('content-range');
  // Parts in unknown units are passed through (RFC 9110 section 14.4).
  if (value === null || OTHER_UNIT.test(value)) return null;
  if (byStatus && beresp.status !== 206) return null;
  if (asked === null) return 'Unexpected content-range header';
  const wanted = requestedRange(asked);
  if (wanted === null) return `Invalid range header (${rangeFault(asked)})`;
  const got = parseContentRange(value);
  if (got === null) return 'Invalid content-range header';
  // 416: Content-Range has the length of the object, and the body is an error page.
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

/** Whether the answer is a failure that will not be given to later requests. */
function isPassingFailure(bo: BusyObj): boolean {
  const status = bo.beresp.status % 1000;
  const isFailure = bo.attempt.madeHere || (status >= 500 && status <= 599);
  return isFailure && (bo.uncacheable || bo.attempt.forWaiters || bo.ttl <= 0);
}

/** The new object is whole. */
export function replaceStale(bo: BusyObj): void {
  const { cache } = bo.core;
  if (bo.staleOc === 0) return;
  // Without this, markers would pile up as fast as requests come.
  const succeeds = bo.uncacheable && bo.ttl > 0 && cache.facts.has(bo.staleOc, OF_FAILURE);
  if (isPassingFailure(bo) && !succeeds) return;
  cache.invalidation.supersede(bo.staleOc, bo.oc);
}

/** Fields that a delivery sets or that change how the body is sent; gzip by another name, too. */
const OURS = ['age', 'via', 'accept-ranges', 'connection', 'transfer-encoding', 'content-encoding'];

/** Chooses the filters of the body. Returns a reason to close the connection, after logging it, if the program names an
 * unknown filter or one that cannot be used on this body. */
export function chooseFilters(bo: BusyObj): CloseReason | null {
  const { attempt, beresp, core, log } = bo;
  if (!bo.attempt.hasBody || attempt.was304) return null;
  const list =
    bo.attempt.filters === null
      ? usualFetchFilters(beresp, bo.attempt, core.params)
      : namedFetchFilters(bo.attempt.filters, bo.ctx.vcl.extensions);
  if ('unknown' in list) {
    log.putConstant(list.record);
    log.put(Tag.FetchError, list.unknown);
    return 'OVERLOAD';
  }
  const refusing =
    beresp.status === 206 ? list.filters.find(({ refusesParts }) => refusesParts !== undefined) : undefined;
  if (refusing !== undefined) {
    log.putConstant(list.record);
    log.put(Tag.VCL_Error, refusing.refusesParts as string);
    log.put(Tag.FetchError, `Fetch filter ${refusing.name} failed to open`);
    return 'RX_BODY';
  }
  attempt.filterList = list;
  // As in Varnish: a page is not sent before it was parsed to its end.
  if (bo.attempt.doEsi || list.filters.some(({ streams }) => streams === false)) attempt.doStream = false;
  return null;
}

/** False when the head found no room. Logs Filters and the fields it changes. */
export function prepareObject(bo: BusyObj): boolean {
  const { beresp, log, core, attempt } = bo;
  // An empty body has no coding; a HEAD has the headers of the GET all the same.
  if (!bo.attempt.hasBody && !attempt.was304 && bo.bereq.method !== 'HEAD') beresp.unset('content-encoding');
  if (!attempt.was304) log.putConstant(attempt.filterList.record);
  judgeVary(bo);
  // A part of gzip data is not gzip, and compressing a part would make its Content-Range wrong.
  attempt.chain =
    attempt.filterList === NO_FETCH_FILTERS || beresp.status === 206
      ? null
      : new FetchChain(
          {
            ...{ head: beresp, log, stats: core.stats, params: core.params },
            ...{ request: bo.bereq, esiFeatures: core.esi, esiColon: bo.ctx.vcl.changes.esiColon },
          },
          attempt.filterList,
        );
  passWhatCannotFit(bo);
  attempt.headAlone = bo.bereq.method === 'HEAD';
  // For a GET the filters would change the length of the body, which is unknown here (RFC 9110 section 8.6).
  if (attempt.headAlone && bo.mode !== 'pass' && changesBody(bo)) beresp.unset('content-length');
  return storeObject(bo);
}

/** Whether filters would change a body, if there were one. */
function changesBody(bo: BusyObj): boolean {
  const names = (bo.attempt.filters ?? usualFetchFilters(bo.beresp, bo.attempt, bo.core.params).text).trim();
  return names !== '' && names !== 'testgunzip';
}

/** A Vary that cannot be followed makes a pass: no request could ever be given such an object. */
function judgeVary(bo: BusyObj): void {
  const vary = bo.beresp.getAll('vary');
  if (vary === null || bo.mode === 'pass' || canFollow(vary, bo)) return;
  if (typeof resolveVary(vary, bo.bereq) === 'string') {
    bo.log.put(Tag.Error, 'Malformed Vary header');
    bo.log.put(Tag.Error, "Illegal 'Vary' header from backend, making this a pass.");
  }
  bo.uncacheable = true;
}

/** A Vary that cannot be followed marks the whole key, not a variant of it. */
function canFollow(vary: string, bo: BusyObj): boolean {
  const key = resolveVary(vary, bo.bereq);
  return typeof key !== 'string' && key?.names.includes('*') !== true;
}

/** A body that its storage could never hold is not worth the objects it would push out, and a storage's size must
 * not be the end of what clients can get: it goes by, as what is uncacheable does. Only what is streamed: for the
 * rest there is no place to wait in. */
function passWhatCannotFit(bo: BusyObj): void {
  if (bo.uncacheable || bo.attempt.was304 || !bo.attempt.hasBody || !bo.attempt.doStream) return;
  const length = bo.beresp.get('content-length');
  const fits =
    length === null
      ? !bo.core.outgrown.has(bo.hashKey)
      : bo.core.cache.storages.couldHold(chooseStorage(bo), Number(length));
  if (fits) return;
  bo.log.put(Tag.Error, `Larger than storage ${chooseStorage(bo)}, not cached`);
  bo.uncacheable = true;
}

/** After a body of unknown length: the next of its key is kept or passes by as this one would have to. */
export function noteLength(bo: BusyObj, isWhole: boolean): void {
  const { core, hashKey, oc } = bo;
  if (bo.uncacheable ? !core.outgrown.has(hashKey) : isWhole) return;
  const { reading, storages } = core.cache;
  const bytes = reading.bodyLength(oc);
  const isTooLarge = !storages.couldHold(bo.storage, isWhole ? bytes : bytes * 2);
  // One that found no room beside others may be kept the next time.
  if (isTooLarge || isWhole) core.outgrown.note(hashKey, isTooLarge);
}

/** Short-lived and uncacheable objects go to Transient, so that they do not push out what will be asked for. */
function chooseStorage(bo: BusyObj): string | null {
  return bo.uncacheable || isShortlived(bo) ? TRANSIENT : bo.storage;
}

function isShortlived(bo: BusyObj): boolean {
  return bo.ttl + bo.grace + bo.keep < bo.core.params.shortlived;
}

/** Writes head and attributes into the storage that is right for them, else for a short life into Transient; false
 * when there is no room there either. */
export function storeObject(bo: BusyObj): boolean {
  const { stats, params } = bo.core;
  const storage = chooseStorage(bo);
  if (bo.uncacheable) stats.beresp_uncacheable++;
  else if (isShortlived(bo)) stats.beresp_shortlived++;
  if (storage === null) return false;
  if (storeHead(bo, storage)) return true;
  if (storage === TRANSIENT) return false;
  if (isLaterSlice(bo)) return passSliceBy(bo);
  bo.ttl = Math.min(bo.ttl, params.shortlived);
  bo.grace = 0;
  bo.keep = 0;
  return storeHead(bo, TRANSIENT);
}

/** Treats a slice that found no room as uncacheable, so that it is stored only until its client has read it: a store too
 * small for all current readers cuts none of them off. */
function passSliceBy(bo: BusyObj): boolean {
  if (bo.part?.of?.urgency !== 'awaited' || !bo.attempt.doStream) return false;
  bo.log.put(Tag.Notice, 'No room for the slice, not cached');
  leaveUncached(bo);
  return storeHead(bo, TRANSIENT);
}

/** Later requests for the slice ask for it again. */
export function leaveUncached(bo: BusyObj): void {
  bo.uncacheable = true;
  bo.ttl = 0;
  bo.grace = 0;
  bo.keep = 0;
}

/** Whether a hit can send what is stored as it is: a 200 whose length is known, and no header that a delivery sets. */
function isPlain(bo: BusyObj, stored: HttpMessage): boolean {
  return (
    bo.attempt.part === null &&
    stored.status === 200 &&
    stored.reason === 'OK' &&
    stored.proto === 'HTTP/1.1' &&
    bo.attempt.chain === null &&
    bo.attempt.hasBody &&
    !bo.attempt.was304 &&
    !bo.attempt.doEsi &&
    !bo.uncacheable &&
    stored.has('content-length') &&
    !stored.has(bo.core.idHeader.key) &&
    !OURS.some((key) => stored.has(key))
  );
}

/** The head of a slice as that of the whole object. */
function describeWhole(stored: HttpMessage, { total }: PartFacts): void {
  stored.status = 200;
  stored.reason = 'OK';
  stored.unset('content-range');
  stored.set('Content-Length', String(total));
}

/** A slice that only its object's own head leads to, whatever it varies by. */
function isLaterSlice({ part }: BusyObj): boolean {
  return part !== null && part.of !== null;
}

function storedSlice(bo: BusyObj): StoredSlice | null {
  const { attempt, core, staleOc } = bo;
  const { facts, reading } = core.cache;
  let { part } = attempt;
  if (attempt.was304 && facts.has(staleOc, OF_PART)) {
    const annex = reading.annexCopy(staleOc);
    if (annex !== null) part = decodePart(annex);
  }
  if (part === null) return null;
  const { from, to } = ownPlace(part);
  return { length: to - from, tag: part.isFirst ? null : partTag(part.set), annex: encodePart(part) };
}

/** Writes head and attributes into the cache; false when there is no room. */
function storeHead(bo: BusyObj, storage: string): boolean {
  const { core, beresp, oc } = bo;
  const { cache } = core;
  const { stored } = bo;
  stored.reset();
  stored.proto = beresp.proto;
  stored.status = beresp.status % 1000;
  stored.reason = beresp.reason;
  copyOnward(beresp, stored, HOP_RESPONSE);
  stored.unset('transfer-encoding');
  // Computed again at every delivery, from the time the response was made.
  stored.unset('age');
  const { part } = bo.attempt;
  if (part?.isFirst === true) describeWhole(stored, part);
  const pass = bo.mode === 'pass';
  // As in Varnish: it was not compared with the ranges of later requests. A response for one client only (a pass, a
  // hit-for-miss) keeps it: a 206 is useless without it.
  if (!bo.uncacheable && core.params.http_range_support === 0) stored.unset('content-range');
  let flags = 0;
  if (!pass && bo.uncacheable) flags |= bo.hitForPass ? OF_HIT_PASS : OF_HIT_MISS;
  const { chain } = bo.attempt;
  // A body that is taken over is what it was.
  if (bo.attempt.was304) {
    if (cache.facts.has(bo.staleOc, OF_GZIPPED)) flags |= OF_GZIPPED;
    if (cache.facts.has(bo.staleOc, OF_RECODED)) flags |= OF_RECODED;
    if (cache.facts.has(bo.staleOc, OF_ESI)) flags |= OF_ESI;
    if (cache.facts.has(bo.staleOc, OF_PART)) flags |= OF_PART;
  } else {
    if (chain?.gzipped === true) flags |= OF_GZIPPED;
    if (chain?.recoded === true) flags |= OF_RECODED;
  }
  if (part !== null) flags |= OF_PART;
  if (!bo.attempt.doStream && bo.attempt.synthBody === null) flags |= OF_UNSTREAMED;
  if (bo.attempt.headAlone) flags |= OF_HEAD_ALONE;
  if (bo.attempt.forWaiters) flags |= OF_FOR_WAITERS;
  if (isPassingFailure(bo)) flags |= OF_FAILURE;
  if (isPlain(bo, stored)) flags |= OF_PLAIN;
  cache.filling.setAttributes(oc, {
    tOrigin: bo.tOrigin,
    ttl: bo.ttl,
    grace: bo.grace,
    keep: bo.keep,
    vxid: bo.attempt.vxid,
    flags,
    servesWaiters: bo.programRef.program.changes.sharedArrivals && !bo.uncacheable,
  });
  const vary = beresp.getAll('vary');
  if (
    !cache.filling.storeHead(
      oc,
      storage,
      stored,
      vary === null || pass || isLaterSlice(bo) || !canFollow(vary, bo) ? null : varyKey(vary, bo.bereq),
      storedSlice(bo),
    )
  )
    return false;
  bo.storedIn = cache.facts.storageOf(oc);
  bo.log.put(Tag.Storage, `malloc ${bo.storedIn}`);
  logStoredHead(bo.log, stored);
  return true;
}
