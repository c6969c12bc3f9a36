// range: the part of a delivered body that a Range request asks for (RFC 9110 section 14), and what the head says about
// it. HEAD has no ranges (section 14.2), nor has any status but 200.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Room, Sink } from '../flow/flow.ts';
import type { Piece } from '../flow/piece.ts';
import type { HttpMessage } from '../http1/message.ts';
import { answerRange, type RangeAnswer, rangeFault, requestedRange } from '../http1/range.ts';
import {
  BY_READING,
  type DeliveredBody,
  type DeliveryFilter,
  FilterFlow,
  type FilterParams,
} from './filter.ts';

export const RANGE: DeliveryFilter = {
  name: 'range',
  side: 'delivery',
  wanted: ({ http, resp }, params) => asksForRange(http, resp, params),
  open(body) {
    const isOpen = body.length < 0;
    if ((isOpen && !body.cutsOpenBodies) || !asksForRange(body.request, body.head, body.params)) return null;
    const part = makePartial(body);
    if (part === null) return null;
    const { from, to } = part;
    if (!isOpen || to === 0) body.length = to - from;
    body.isPart = true;
    if (!body.isSource) return (next) => new RangeFlow(next, from, to);
    body.from = from;
    body.to = to;
    return BY_READING;
  },
};

/** The part of the body to send, `to` exclusive. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** Whether the request asks for a range of this response at all. */
function asksForRange(request: HttpMessage, head: HttpMessage, params: FilterParams): boolean {
  if (head.status !== 200 || request.method !== 'GET' || params.http_range_support === 0) return false;
  return request.has('range');
}

/** Makes the head what the Range header asks for; null leaves all of it. */
function makePartial({ request, head, log, length }: DeliveredBody): Part | null {
  const range = wantedRange(request, head);
  if (range === null) return null;
  const answer = length < 0 ? answerOpen(range) : answerRange(range, length);
  if (answer.kind === 'whole') return null;
  let part: Part = { from: 0, to: 0 };
  if (answer.kind === 'part') {
    head.set('Content-Range', `bytes ${answer.from}-${answer.to - 1}/${length < 0 ? '*' : length}`);
    head.status = 206;
    head.reason = 'Partial Content';
    part = answer;
  } else {
    if (log.wants(Tag.Debug))
      log.put(Tag.Debug, `RANGE_FAIL ${rangeFault(range) ?? 'low range beyond object'}`);
    if (length >= 0) head.set('Content-Range', `bytes */${length}`);
    head.status = 416;
    head.reason = 'Requested Range Not Satisfiable';
  }
  head.logStatusLine(log);
  if (length >= 0 || answer.kind !== 'part') setLength(head, part.to - part.from);
  return part;
}

/** The part of a body whose length nobody knows: only one with two ends, of which less may come. */
function answerOpen(range: string): RangeAnswer {
  const asked = requestedRange(range);
  if (asked === null) return /^bytes=/i.test(range) ? { kind: 'unsatisfiable' } : { kind: 'whole' };
  const { low, high } = asked;
  return low < 0 || high < 0 ? { kind: 'whole' } : { kind: 'part', from: low, to: high + 1 };
}

/** Content-Length as it is now; a header that says so already stays where it is. */
function setLength(head: HttpMessage, length: number): void {
  const text = String(length);
  if (head.get('content-length') === text) return;
  head.unset('content-length');
  head.add('Content-Length', text, 'content-length');
}

/** The Range header's value when it applies: If-Range must name this very representation. */
function wantedRange(request: HttpMessage, head: HttpMessage): string | null {
  const range = request.get('range');
  const condition = request.get('if-range');
  if (condition === null) return range;
  if (condition.startsWith('W/')) return null;
  const validator = condition.startsWith('"') ? head.get('etag') : head.get('last-modified');
  return validator === condition ? range : null;
}

/** Passes on the bytes from one place to another, and ends there. */
class RangeFlow extends FilterFlow {
  private readonly from: number;
  private readonly to: number;
  private at = 0;

  constructor(next: Sink, from: number, to: number) {
    super(next);
    this.from = from;
    this.to = to;
  }

  protected take(piece: Piece, isLast: boolean): Room {
    const first = Math.max(0, this.from - this.at);
    const end = Math.max(first, Math.min(piece.length, this.to - this.at));
    this.at += piece.length;
    if (isLast || this.at >= this.to) return this.giveLast(piece.cut(first, end), true);
    return first === end ? 'more' : this.give(piece.cut(first, end));
  }

  protected resume(): void {
    this.wantMore();
  }
}
