// The slice of a client who waits for the head of its object, which another client's fetch brings: it is asked for at once, so
// that what the client wants is there, or on its way, when the head has come. Whether it belongs to that head is seen then
// (slice-take.ts).

import { LookupAnswer, LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { partKey, setOfNumber } from '../cache/part-facts.ts';
import { startFetch } from '../fetch/fetch-machine.ts';
import { type SlicedObject, WantedPart } from '../fetch/wanted-part.ts';
import type { Request } from '../transaction/request.ts';
import { maySlice, rangeWithin, sliceSize } from './first-part.ts';

/** Asks for the slice in which the range of a waiting request begins, unless it comes anyway. */
export function askEarly(req: Request): void {
  const { settings, attempt, http, lookup } = req;
  if (lookup.comingSet === 0 || settings.slice <= 0 || attempt.earlySlice >= 0) return;
  // If-Range is compared with the head, which is not there yet.
  if (!maySlice(req) || req.isHead || http.has('if-range')) return;
  const range = rangeWithin(http);
  if (range === null || range.low < 0) return;
  const size = sliceSize(settings.slice);
  const index = Math.floor(range.low / size);
  const { comingOc, comingSet, comingIndex } = lookup;
  if (index === comingIndex || !req.core.cache.filling.askForSlices(comingOc, comingSet)) return;
  ask(req, setOfNumber(comingSet, size), size, index);
}

function ask(req: Request, set: string, size: number, index: number): void {
  const { cache, earlySlices } = req.core;
  const { references } = cache;
  const query = new LookupQuery(req.http);
  query.key = partKey(req.attempt.hashKey, { set }, index);
  query.now = req.tReq;
  query.hashIgnoreVary = true;
  const out = new LookupResult();
  const found = cache.lookup.find(query, out);
  if (out.oc !== 0) references.deref(out.oc);
  if (out.stale !== 0) references.deref(out.stale);
  const host = req.http.get('host') ?? '';
  if (found !== LookupAnswer.MISS || !earlySlices.take(host)) {
    if (out.busy !== 0) references.deref(out.busy);
    return;
  }
  req.attempt.earlySlice = index;
  const of: SlicedObject = {
    part: null,
    set,
    urgency: 'ahead',
    comes: () => undefined,
    changed: (status) => {
      if (status === 200) earlySlices.refuse(host);
    },
    release: () => earlySlices.done(),
  };
  startFetch(req, out.busy, 0, 'fetch', null, new WantedPart(size, index, of));
}
