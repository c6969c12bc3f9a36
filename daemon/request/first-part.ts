// Which part of an object a fetch asks for that is to bring its head: the slice or the range that the client wants first.

import { type Oc, OF_PART } from '../cache/objcore.ts';
import { decodePart, LARGEST_PART, newSetNumber, type PartFacts, setOfNumber } from '../cache/part-facts.ts';
import { type ComingHead, WantedPart } from '../fetch/wanted-part.ts';
import type { HttpMessage } from '../http1/message.ts';
import { requestedRange } from '../http1/range.ts';
import type { Core } from '../transaction/core.ts';
import type { Request } from '../transaction/request.ts';

/** The least size of a slice in bytes: each has a head of its own. */
const LEAST = 1024;

/** No object is longer: numbers are exact up to here with a slice added. */
const LONGEST = 2 ** 52;

/** Of an object in slices what they are; null of others. */
export function partOf({ cache }: Core, oc: Oc): PartFacts | null {
  if (!cache.facts.has(oc, OF_PART)) return null;
  const annex = cache.reading.annexCopy(oc);
  return annex === null ? null : decodePart(annex);
}

/** Whether a request can have an object in slices. */
export function maySlice({ core, attempt, http, body, fragment }: Request): boolean {
  if (attempt.isHitMiss || core.params.http_range_support === 0) return false;
  return (http.method === 'GET' || http.method === 'HEAD') && body === null && fragment === null;
}

/** @param bytes a positive req.slice */
export function sliceSize(bytes: number): number {
  return Math.max(LEAST, Math.floor(bytes));
}

/** The slice that a fetch of the request's object begins with, which is the first that its client is to have; null where
 * the whole is fetched. */
export function firstPart(req: Request, busyOc: Oc, staleOc: Oc): WantedPart | null {
  const { core, settings, http } = req;
  if (!maySlice(req)) return null;
  const former = staleOc === 0 ? null : partOf(core, staleOc);
  if (settings.slice <= 0 && !settings.parts) return null;
  // A 304 confirms the slice that is there.
  if (former !== null) return new WantedPart(former.size, former.index, null, former, former.end);
  const range = rangeWithin(http);
  if (settings.slice <= 0) return partAsked(req, range);
  const size = sliceSize(settings.slice);
  const from = range === null || req.isHead ? 0 : Math.max(0, range.low);
  const part = new WantedPart(size, Math.floor(from / size), null);
  part.coming = announce(req, busyOc, size, part.index);
  return part;
}

/** The range that is asked for; null where no object is so long. */
export function rangeWithin(http: HttpMessage): { low: number; high: number } | null {
  const range = requestedRange(http.get('range') ?? '');
  return range === null || range.low > LONGEST ? null : range;
}

/** Lets others know where slices of the object may be put before its head is there. */
function announce({ core, http }: Request, busyOc: Oc, size: number, index: number): ComingHead {
  const { cache, earlySlices } = core;
  const number = newSetNumber();
  const set = setOfNumber(number, size);
  const host = http.get('host') ?? '';
  cache.filling.announceSlices(busyOc, number, index);
  let isSettled = false;
  return {
    set,
    settle: (isKept, refuses = false) => {
      if (isSettled) return;
      isSettled = true;
      if (refuses) earlySlices.refuse(host);
      if (isKept) return;
      if (cache.filling.withdrawSlices(busyOc, number)) cache.invalidation.forgetSlices(set);
    },
  };
}

/** The part that its client asks for, both of whose ends are given; the length of others is unknown. */
function partAsked(req: Request, range: { low: number; high: number } | null): WantedPart | null {
  if (range === null || req.isHead || req.http.has('if-range')) return null;
  const { low, high } = range;
  if (low < 0 || high < 0 || high - low >= LARGEST_PART) return null;
  return new WantedPart(0, low, null, null, high + 1);
}
