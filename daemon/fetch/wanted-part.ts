// The slice of an object that a fetch asks its origin for, and what the answer's own head says about it: before a program
// sees it, since a program may change both.

import { newSet, ownPlace, type PartFacts, type Segment } from '../cache/part-facts.ts';
import { parseDate } from '../http1/date.ts';
import { parseLength } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import { parseContentRange } from '../http1/range.ts';

/**
 * `slice`: it is what was asked for. `whole`: all of the object, in one slice. `beyond`: the object ends before the slice.
 * `changed`: the object is another one by now, or gone. `unusable`: a part that cannot be kept. `other`: no part at all, which says
 * nothing about the object: it is refused to this request (401, 403, 429), or fails now (5xx).
 */
export type PartVerdict = 'slice' | 'whole' | 'beyond' | 'changed' | 'unusable' | 'other';

/** Answers to a range of an object, on condition of its validator, that say that it is another one now, or gone. */
const OF_ANOTHER = new Set([200, 404, 410, 412]);

/**
 * How a slice is fetched that the store may have no room for. `ahead`: its client does not wait for it yet, it fails then.
 * `awaited`: it is passed by uncached, unless that is known only when part of it is stored. `uncached`: it is not stored.
 */
export type Urgency = 'ahead' | 'awaited' | 'uncached';

/** The object that a slice belongs to. */
export interface SlicedObject {
  /** Null as long as its head has not come. */
  readonly part: PartFacts | null;
  /** Name of its slices. */
  readonly set: string;
  readonly urgency: Urgency;
  /** A slice of it is on its way. */
  comes(place: Segment): void;
  /** The slice cannot be of this object any more: it was answered with this status. */
  changed(status: number): void;
  /** The fetch is over. */
  release(): void;
}

/** An object in slices whose head is on its way. */
export interface ComingHead {
  /** Name of its slices. */
  readonly set: string;
  /** It has come, or will not: the object is not kept in slices then. `refuses`: its origin answers no ranges. May be called again. */
  settle(isKept: boolean, refuses?: boolean): void;
}

export class WantedPart {
  readonly size: number;
  readonly index: number;
  private readonly end: number;
  /** Null where the answer brings the object's head. */
  readonly of: SlicedObject | null;
  /** The object that this is to replace, if it is kept in slices. */
  private readonly former: PartFacts | null;
  coming: ComingHead | null = null;
  verdict: PartVerdict = 'other';
  /** Why it cannot be used. */
  fault = '';
  /** The fetch has failed because the store had no room. */
  lacksRoom = false;
  /** The slice that the answer contains; null until it is judged, and if it is none. */
  facts: PartFacts | null = null;

  /** @param end of a part: the byte after its last */
  constructor(
    size: number,
    index: number,
    of: SlicedObject | null,
    former: PartFacts | null = null,
    end = 0,
  ) {
    this.end = end;
    this.size = size;
    this.index = index;
    this.of = of;
    this.former = former;
  }

  get range(): string {
    const { from, to } = this.placeIn(this.of?.part?.total ?? Number.MAX_SAFE_INTEGER);
    return `bytes=${from}-${to - 1}`;
  }

  /** Most bytes that it can have. */
  get length(): number {
    const { from, to } = this.placeIn(Number.MAX_SAFE_INTEGER);
    return to - from;
  }

  private placeIn(total: number): Segment {
    const { size, index, end } = this;
    return ownPlace({ size, index, total, end: Math.min(end, total) });
  }

  judge(beresp: HttpMessage): void {
    this.facts = null;
    this.fault = '';
    this.verdict = this.verdictOn(beresp);
  }

  private verdictOn(beresp: HttpMessage): PartVerdict {
    const { of } = this;
    const { status } = beresp;
    if (status === 416) return of === null ? 'beyond' : this.change('ends before it');
    if (of !== null && OF_ANOTHER.has(status)) return this.change(`was answered with status ${status}`);
    return status === 206 ? this.verdictOnPart(beresp) : 'other';
  }

  private verdictOnPart(beresp: HttpMessage): PartVerdict {
    const { size, index, of, former, coming } = this;
    const known = of?.part ?? null;
    const range = parseContentRange(beresp.getAll('content-range') ?? '');
    if (range === null || range.low < 0) return this.refuse('no range');
    const { low, high, total } = range;
    if (total < 0) return this.refuse('unknown length');
    if (known !== null && total !== known.total) return this.change('has another length');
    const place = this.placeIn(total);
    if (low !== place.from || high !== place.to - 1) return this.refuse('another range');
    const declared = beresp.get('content-length');
    if (declared !== null && parseLength(declared) !== high - low + 1) return this.refuse('another length');
    if (of === null && low === 0 && high === total - 1) return 'whole';
    const coding = beresp.getAll('content-encoding');
    if (coding !== null && coding.toLowerCase() !== 'identity') return this.refuse(`coding ${coding}`);
    const validator = strongValidator(beresp);
    if (known !== null && validator !== known.validator) return this.change('has another validator');
    if (validator === null) return this.refuse('no strong validator');
    // Variants that changed in the same second are distinguished by their ETags alone.
    if (of !== null && known === null && !beresp.has('etag')) return this.refuse('no ETag');
    const isSame =
      former !== null &&
      former.validator === validator &&
      former.total === total &&
      former.size === size &&
      former.index === index;
    const set = of?.set ?? (isSame ? former.set : (coming?.set ?? newSet()));
    const others = isSame ? former.others : [];
    this.facts = { size, index, total, validator, set, isFirst: of === null, end: place.to, others };
    return 'slice';
  }

  private refuse(fault: string): PartVerdict {
    this.fault = fault;
    return 'unusable';
  }

  private change(fault: string): PartVerdict {
    this.fault = fault;
    return 'changed';
  }
}

/** The parts of a fetch (BusyObj) that a slice changes. */
interface Asking {
  readonly core: { readonly params: { readonly http_gzip_support: number } };
  readonly bereq: HttpMessage;
  readonly part: WantedPart | null;
  askedRange: string | null;
}

/** Makes the request one for the slice that is wanted, or for the whole. */
export function askFor(bo: Asking): void {
  const { bereq, part, core } = bo;
  bereq.unset('range');
  bereq.unset('if-range');
  if (part !== null) {
    // Of packed bytes there are no slices.
    bereq.set('Accept-Encoding', 'identity');
    bereq.set('Range', part.range);
    const known = part.of?.part ?? null;
    if (known !== null) bereq.set('If-Range', known.validator);
  } else if (core.params.http_gzip_support !== 0) bereq.set('Accept-Encoding', 'gzip');
  bo.askedRange = part?.range ?? null;
}

/** The validator that tells any two versions apart (RFC 9110 section 8.8): null for a weak ETag, and for several. */
export function strongValidator(head: HttpMessage): string | null {
  const etag = head.getAll('etag');
  if (etag !== null) return /^"[^"]*"$/.test(etag) ? etag : null;
  const modified = head.getAll('last-modified');
  const changed = parseDate(modified ?? '');
  const made = parseDate(head.get('date') ?? '');
  return changed !== null && made !== null && made - changed >= 1 ? modified : null;
}
