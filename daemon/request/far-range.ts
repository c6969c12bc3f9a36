// A range of an object whose body is still coming, far ahead of what is there: it is fetched on its own instead of waiting
// until the body has come that far. Where the origin answers ranges, and parts of the object can be distinguished from those of another
// version, it is fetched as a part of the object, once for all who ask for it; elsewhere as a pass.

import { createHash } from 'node:crypto';
import { Tag } from '../../protocol/tables/tags.ts';
import { OF_ESI, OF_GZIPPED, OF_PART, OF_RECODED } from '../cache/objcore.ts';
import type { PartFacts } from '../cache/part-facts.ts';
import { strongValidator } from '../fetch/wanted-part.ts';
import { HttpMessage } from '../http1/message.ts';
import { requestedRange } from '../http1/range.ts';
import type { Request } from '../transaction/request.ts';

/** Bodies changed by filters: a range of the origin's body is not a range of them. */
const CHANGED = OF_ESI | OF_GZIPPED | OF_RECODED;

/** Whether the range begins more than `range_ahead` bytes after what is stored of the object. Logged then. */
export function isFarAhead(req: Request): boolean {
  const { core, http, attempt, log } = req;
  const { facts, reading } = core.cache;
  const { oc } = attempt;
  const { range_ahead: ahead, http_range_support: cuts } = core.params;
  if (ahead === 0 || cuts === 0 || attempt.busyOc !== 0 || facts.isFinished(oc)) return false;
  if (http.method !== 'GET' || req.isHead || req.body !== null || req.fragment !== null) return false;
  const value = http.get('range');
  // If-Range is compared with the object, not with the current version at the origin.
  if (value === null || http.has('if-range')) return false;
  if (facts.isUncacheable(oc) || facts.has(oc, CHANGED | OF_PART)) return false;
  const range = requestedRange(value);
  const length = reading.declaredLength(oc);
  if (range === null || length < 0) return false;
  const first = range.low < 0 ? Math.max(0, length - range.high) : range.low;
  const distance = first - reading.bodyLength(oc);
  if (first >= length || distance <= ahead) return false;
  log.put(Tag.Notice, `Range begins ${distance} bytes after what has come, fetched on its own`);
  return true;
}

/** The object as one of whose parts none is known yet; null where a range of it has to be passed. */
export function asParts({ core, attempt }: Request): PartFacts | null {
  const { facts, reading } = core.cache;
  const { oc } = attempt;
  const head = new HttpMessage(Tag.ObjMethod);
  reading.head(oc, head);
  const validator = strongValidator(head);
  // A part is asked for without a coding.
  if (validator === null || head.status !== 200 || head.has('content-encoding')) return null;
  if (head.get('accept-ranges')?.toLowerCase() !== 'bytes') return null;
  const total = reading.declaredLength(oc);
  // The same for all requests meanwhile, on any thread, and never that of another object.
  const what = JSON.stringify([validator, total, facts.vxidOf(oc), facts.tOriginOf(oc)]);
  const set = createHash('sha1').update(what).digest('base64url');
  return { size: 0, index: -1, total, validator, set, isFirst: true, end: -1, others: [] };
}
