// A Range request against the response at hand (RFC 9110 section 14): what of the body goes out, and what the head
// says about it. HEAD has no ranges (section 14.2), nor has any status but 200.

import { Tag } from '../../protocol/tables/tags.ts';
import { answerRange, rangeFault } from '../http1/range.ts';
import { constantRecord } from '../log/tx-log.ts';
import { asksForRange } from '../transaction/delivery-filters.ts';
import type { Request } from '../transaction/request.ts';
import { logStatus } from './deliver.ts';

const NO_FILTERS = constantRecord(Tag.Filters, '');
const RANGE = constantRecord(Tag.Filters, ' range');

/** The part of the body to send, `to` exclusive. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** Makes the head of a page of ours what its Range field asks for; null sends all of it. Logs Filters. */
export function applyRange(req: Request, length: number): Part | null {
  if (!asksForRange(req)) {
    req.log.putConstant(NO_FILTERS);
    return null;
  }
  req.log.putConstant(RANGE);
  return makePartial(req, length);
}

/** The same without Filters; null sends the whole. */
export function makePartial(req: Request, length: number): Part | null {
  const range = wantedRange(req);
  if (range === null) return null;
  const { resp } = req;
  const answer = answerRange(range, length);
  if (answer.kind === 'whole') return null;
  let part: Part = { from: 0, to: 0 };
  if (answer.kind === 'part') {
    resp.set('Content-Range', `bytes ${answer.from}-${answer.to - 1}/${length}`);
    resp.status = 206;
    resp.reason = 'Partial Content';
    part = answer;
  } else {
    if (req.log.wants(Tag.Debug))
      req.log.put(Tag.Debug, `RANGE_FAIL ${rangeFault(range) ?? 'low range beyond object'}`);
    resp.set('Content-Range', `bytes */${length}`);
    resp.status = 416;
    resp.reason = 'Requested Range Not Satisfiable';
  }
  logStatus(req);
  setLength(req, part.to - part.from);
  return part;
}

/** Content-Length as it is now; a field that says so already stays where it is. */
function setLength(req: Request, length: number): void {
  const { resp } = req;
  const text = String(length);
  if (resp.get('content-length') === text) return;
  resp.unset('content-length');
  resp.add('Content-Length', text, 'content-length');
}

/** The Range field's value when it applies: If-Range must name this very representation. */
function wantedRange(req: Request): string | null {
  const { http, resp } = req;
  const range = http.get('range');
  const condition = http.get('if-range');
  if (condition === null) return range;
  if (condition.startsWith('W/')) return null;
  const validator = condition.startsWith('"') ? resp.get('etag') : resp.get('last-modified');
  return validator === condition ? range : null;
}
