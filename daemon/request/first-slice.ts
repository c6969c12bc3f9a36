// The slice with which a response begins, where the object was found but not that slice: it is waited for before the head is
// sent. If the origin refuses it, its client gets the origin's own answer to the range it asked for (401, 403, 429, 5xx), as
// from a pass, and not a 206 that is cut before its first byte. If the object is another one by now, the request looks up again.

import { Tag } from '../../protocol/tables/tags.ts';
import { OF_PART } from '../cache/objcore.ts';
import { type PartFacts, type Segment, segmentAt } from '../cache/part-facts.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import { partOf, rangeWithin } from './first-part.ts';
import { DELIVER, LOOKUP, PASS, RESET } from './request-steps.ts';
import { SliceTake } from './slice-take.ts';

/** Goes on with a hit. */
export function takeFirst(req: Request): Step<Request> {
  const { core, attempt } = req;
  if (!core.cache.facts.has(attempt.oc, OF_PART)) return DELIVER;
  const part = partOf(core, attempt.oc);
  const segment = part === null ? null : beginning(req, part);
  if (part === null || segment === null || segment.index === part.index) return DELIVER;
  const take = new SliceTake(req, part, segment, attempt.slices, 'awaited');
  attempt.firstSlice = take;
  if (take.state !== 'waiting') return settled(req, take);
  take.onSettled = () => {
    req.onAbort = null;
    req.resume(settled(req, take));
  };
  req.onAbort = () => {
    attempt.releaseSlice();
    req.resume(RESET);
  };
  return PARKED;
}

/** Where the response begins; null where it has no body, or that is not known yet. */
function beginning({ core, http, isHead, body }: Request, part: PartFacts): Segment | null {
  const { total, validator } = part;
  if (core.params.http_range_support === 0 || http.method !== 'GET' || isHead || body !== null) return null;
  if (http.has('if-none-match') || http.has('if-modified-since')) return null;
  const condition = http.get('if-range');
  if (!http.has('range') || (condition !== null && condition !== validator)) return segmentAt(part, 0, total);
  const range = rangeWithin(http);
  if (range === null) return null;
  const { low, high } = range;
  const from = low < 0 ? Math.max(0, total - high) : low;
  if (from >= total) return null;
  return segmentAt(part, from, low < 0 || high < 0 ? total : Math.min(total, high + 1));
}

function settled(req: Request, take: SliceTake): Step<Request> {
  const { attempt, log } = req;
  // One that finds no room passes by.
  if (take.state === 'there' || take.mayBeFetched) return DELIVER;
  const { isGone } = take;
  log.put(
    Tag.Notice,
    `Slice ${take.segment.index} was not to be had, ${isGone ? 'looked up again' : 'passed'}`,
  );
  req.dropObject();
  attempt.isHit = false;
  if (!isGone || attempt.hasLookedAgain) return PASS;
  attempt.hasLookedAgain = true;
  attempt.isGrace = false;
  attempt.counted = false;
  attempt.hitVxid = 0;
  attempt.slices.fetched = 0;
  return LOOKUP;
}
