// range: the part of a delivered body that a Range request asks for (RFC 9110 section 14), and what the head says about
// it. HEAD has no ranges (section 14.2), nor has any status but 200. Several ranges are multipart-range.ts's.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Room, Sink } from '../flow/flow.ts';
import type { Piece } from '../flow/piece.ts';
import { byteParts } from '../http1/byte-parts.ts';
import type { HttpMessage } from '../http1/message.ts';
import {
  answerRange,
  answerRanges,
  hasSeveral,
  type RangeAnswer,
  rangeFault,
  requestedRange,
  type Span,
} from '../http1/range.ts';
import {
  BY_READING,
  type DeliveredBody,
  type DeliveryFilter,
  FilterFlow,
  type FilterMaker,
  type FilterParams,
} from './filter.ts';
import { PartsFlow } from './multipart-range.ts';

export const RANGE: DeliveryFilter = {
  name: 'range',
  side: 'delivery',
  wanted: ({ http, resp }, params) => asksForRange(http, resp, params),
  open(body) {
    const isOpen = body.length < 0;
    if (asksForRange(body.request, body.head, body.params)) {
      const range = wantedRange(body.request, body.head);
      if (range !== null && hasSeveral(range) && answersSeveral(body.params)) return openSeveral(body, range);
    }
    if ((isOpen && !body.cutsOpenBodies) || !asksForRange(body.request, body.head, body.params)) return null;
    return openPart(body, makePartial(body));
  },
};

function openPart(body: DeliveredBody, part: Span | null): FilterMaker | typeof BY_READING | null {
  if (part === null) return null;
  const { from, to } = part;
  if (body.length >= 0 || to === 0) body.length = to - from;
  body.isPart = true;
  if (!body.isSource) return (next) => new RangeFlow(next, from, to);
  body.from = from;
  body.to = to;
  return BY_READING;
}

/** Whether several ranges in one request are answered with their parts: 416 as in Varnish otherwise. */
function answersSeveral({ http_multi_range, http_profile }: FilterParams): boolean {
  return http_multi_range === 0 ? http_profile === 1 : http_multi_range === 1;
}

/** Several ranges of a body that can be read at any place; of another one all is sent (RFC 9110 section 14.2). */
function openSeveral(body: DeliveredBody, range: string): FilterMaker | typeof BY_READING | null {
  if (!/^bytes=/i.test(range) || !body.isSource || !body.isSeekable || body.length < 0) return null;
  const spans = answerRanges(range, body.length);
  const [first] = spans;
  if (first === undefined) return openPart(body, becomePart(body, range, { kind: 'unsatisfiable' }));
  if (spans.length === 1) return openPart(body, becomePart(body, range, { kind: 'part', ...first }));
  const parts = byteParts(body.head.get('content-type'), spans, body.length);
  body.head.status = 206;
  body.head.reason = 'Partial Content';
  body.head.logStatusLine(body.log);
  body.head.set('Content-Type', `multipart/byteranges; boundary=${parts.boundary}`);
  body.length = parts.length;
  setLength(body.head, body.length);
  body.isPart = true;
  body.parts = parts;
  return (next) => new PartsFlow(next, parts);
}

/** Whether the request asks for a range of this response at all. */
function asksForRange(request: HttpMessage, head: HttpMessage, params: FilterParams): boolean {
  if (head.status !== 200 || request.method !== 'GET' || params.http_range_support === 0) return false;
  return request.has('range');
}

/** Makes the head what the Range header asks for; null leaves all of it. */
function makePartial(body: DeliveredBody): Span | null {
  const range = wantedRange(body.request, body.head);
  if (range === null) return null;
  return becomePart(body, range, body.length < 0 ? answerOpen(range) : answerRange(range, body.length));
}

/** Writes the answer into the head, and returns what is sent. */
function becomePart({ head, log, length }: DeliveredBody, range: string, answer: RangeAnswer): Span | null {
  if (answer.kind === 'whole') return null;
  let part: Span = { from: 0, to: 0 };
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
