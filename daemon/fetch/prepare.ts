// From beresp to an object: chooses the body's filter, mends the fields that the filter makes untrue, chooses
// the storage and writes the head.

import { Tag } from '../../protocol/tables/tags.ts';
import { FLAG } from '../cache/cache.ts';
import { resolveVary } from '../cache/vary.ts';
import { weakenEtag } from '../http1/conditional.ts';
import { copyOnward, HOP_RESPONSE } from '../http1/hop-by-hop.ts';
import type { HttpMessage } from '../http1/message.ts';
import { logStoredHead } from '../log/filter-records.ts';
import type { BodyFilter, BusyObj } from './busyobj.ts';

const TRANSIENT = 'Transient';
/** Fields that a delivery sets or that change how the body is sent; gzip by another name, too. */
const OURS = ['age', 'via', 'accept-ranges', 'connection', 'transfer-encoding', 'content-encoding'];
const KNOWN_FILTERS: ReadonlySet<string> = new Set(['gzip', 'gunzip', 'testgunzip', 'esi', 'esi_gzip']);

/** False when the head found no room. Logs Filters and the fields it changes. */
export function prepareObject(bo: BusyObj): boolean {
  const { beresp, log } = bo;
  const wanted = chooseFilter(bo);
  // A part of packed data is none itself, and packing a part would leave its Content-Range untrue.
  bo.filter = beresp.status === 206 ? 'none' : wanted;
  // Of nothing there is no coding; a HEAD tells the fields of the GET all the same.
  if (!bo.hasBody && !bo.was304 && bo.bereq.method !== 'HEAD') beresp.unset('content-encoding');
  if (!bo.was304) log.put(Tag.Filters, bo.filters ?? (wanted === 'none' ? '' : ` ${wanted}`));
  judgeVary(bo);
  if (bo.filter === 'gunzip') {
    beresp.unset('content-encoding');
    beresp.unset('content-length');
    weakenEtag(beresp);
  } else if (bo.filter === 'gzip' || isPackedAnew(bo)) {
    beresp.unset('content-encoding');
    beresp.unset('content-length');
    weakenEtag(beresp);
    beresp.set('Content-Encoding', 'gzip');
  }
  if (bo.filter === 'testgunzip' || bo.filter === 'gzip') varyOnEncoding(beresp);
  passWhatCannotFit(bo);
  return storeObject(bo);
}

function chooseFilter(bo: BusyObj): BodyFilter {
  const { beresp } = bo;
  if (!bo.hasBody || bo.was304) return 'none';
  // Without gzip support a packed body is still tested, and told apart by Vary.
  const converts = bo.core.params.http_gzip_support !== 0;
  const coding = beresp.get('content-encoding');
  const gzipped = coding !== null && coding.toLowerCase() === 'gzip';
  if (bo.filters !== null) return chosen(bo.filters, gzipped, coding);
  if (gzipped) return converts && bo.doGunzip ? 'gunzip' : 'testgunzip';
  return converts && bo.doGzip && coding === null ? 'gzip' : 'none';
}

/** Whether the program unpacks what is packed and packs it again. */
export function isPackedAnew({ filter, filters }: BusyObj): boolean {
  return filter === 'testgunzip' && filters?.split(' ').includes('gunzip') === true;
}

/** What beresp.filters comes to; a filter that finds nothing to do does nothing. */
function chosen(filters: string, gzipped: boolean, coding: string | null): BodyFilter {
  const names = filters.split(' ');
  // Packing anew what was unpacked: the same bytes but for the packer's taste.
  if (gzipped && names.includes('gunzip')) return names.includes('gzip') ? 'testgunzip' : 'gunzip';
  if (gzipped) return names.includes('testgunzip') ? 'testgunzip' : 'none';
  return coding === null && names.includes('gzip') ? 'gzip' : 'none';
}

/** The first filter of beresp.filters that is none, with all behind it; null when all are known. */
export function unknownFilter(bo: BusyObj): string | null {
  if (bo.filters === null) return null;
  const names = bo.filters.split(' ').filter((name) => name !== '');
  const at = names.findIndex((name) => !KNOWN_FILTERS.has(name));
  return at < 0 ? null : names.slice(at).join(' ');
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

/** What nobody can follow marks the whole key, not a variant of it. */
function canFollow(vary: string, bo: BusyObj): boolean {
  const key = resolveVary(vary, bo.bereq);
  return typeof key !== 'string' && key?.names.includes('*') !== true;
}

function varyOnEncoding(beresp: HttpMessage): void {
  const vary = beresp.getAll('vary');
  if (vary === null) beresp.add('Vary', 'Accept-Encoding', 'vary');
  else if (!/(^|,)\s*(accept-encoding|\*)\s*(,|$)/i.test(vary))
    beresp.set('Vary', `${vary}, Accept-Encoding`);
}

/** A body that its storage could never hold is not worth the objects it would push out, and a storage's size must
 * not be the end of what clients can get: it goes by, as what is uncacheable does. Only what is streamed: for the
 * rest there is no place to wait in. */
function passWhatCannotFit(bo: BusyObj): void {
  if (bo.uncacheable || bo.was304 || !bo.hasBody || !bo.doStream) return;
  const length = bo.beresp.get('content-length');
  if (length === null || bo.core.cache.couldHold(chooseStorage(bo), Number(length))) return;
  bo.log.put(Tag.Error, `Larger than storage ${chooseStorage(bo)}, not cached`);
  bo.uncacheable = true;
}

/** Short-lived and uncacheable objects go to Transient, so that they do not push out what will be asked for. */
function chooseStorage(bo: BusyObj): string {
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
  if (storeHead(bo, storage)) return true;
  if (storage === TRANSIENT) return false;
  bo.ttl = Math.min(bo.ttl, params.shortlived);
  bo.grace = 0;
  bo.keep = 0;
  return storeHead(bo, TRANSIENT);
}

/** Writes head and attributes into the cache; false when there is no room. */
/** Whether a hit can send what is stored as it is: a 200 whose length is told, and no field that a delivery sets. */
function isPlain(bo: BusyObj, stored: HttpMessage): boolean {
  return (
    stored.status === 200 &&
    stored.reason === 'OK' &&
    stored.proto === 'HTTP/1.1' &&
    bo.filter === 'none' &&
    bo.hasBody &&
    !bo.was304 &&
    !bo.doEsi &&
    !bo.uncacheable &&
    stored.has('content-length') &&
    !stored.has(bo.core.idHeader.key) &&
    !OURS.some((key) => stored.has(key))
  );
}

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
  // Told anew at every delivery, from the time the response was made.
  stored.unset('age');
  const pass = bo.mode === 'pass';
  let flags = 0;
  if (!pass && bo.uncacheable) flags |= bo.hitForPass ? FLAG.HIT_PASS : FLAG.HIT_MISS;
  const { filter } = bo;
  // A body that is taken over is what it was.
  if (bo.was304) {
    if (cache.isGzipped(bo.staleOc)) flags |= FLAG.GZIPPED;
    if (cache.isRecoded(bo.staleOc)) flags |= FLAG.RECODED;
  } else {
    if (filter === 'testgunzip' || filter === 'gzip') flags |= FLAG.GZIPPED;
    if (filter === 'gzip' || filter === 'gunzip' || isPackedAnew(bo)) flags |= FLAG.RECODED;
  }
  if (!bo.doStream && bo.synthBody === null) flags |= FLAG.UNSTREAMED;
  if (bo.forWaiters) flags |= FLAG.FOR_WAITERS;
  if (isPlain(bo, stored)) flags |= FLAG.PLAIN;
  cache.setAttributes(oc, {
    tOrigin: bo.tOrigin,
    ttl: bo.ttl,
    grace: bo.grace,
    keep: bo.keep,
    vxid: bo.vxid,
    flags,
  });
  const vary = beresp.getAll('vary');
  if (
    !cache.storeHead(
      oc,
      storage,
      stored,
      vary === null || pass || !canFollow(vary, bo) ? null : cache.varyKey(vary, bo.bereq),
    )
  )
    return false;
  bo.storedIn = cache.storageNameOf(oc);
  bo.log.put(Tag.Storage, `malloc ${bo.storedIn}`);
  logStoredHead(bo.log, stored);
  return true;
}
