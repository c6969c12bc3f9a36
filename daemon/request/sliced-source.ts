// The body of an object that is kept in slices, as the source of a delivery: one slice after the other, and the next one is
// on its way while one is sent. What is held at any time is two slices, however large the object is. A slice that cannot be
// had, or is of another length, breaks the body off (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { type Oc, OF_PART } from '../cache/objcore.ts';
import { decodePart, type PartFacts, placeOf } from '../cache/part-facts.ts';
import { WantedPart } from '../fetch/wanted-part.ts';
import type { Abort, Room, Sink, Source, Writer } from '../flow/flow.ts';
import { NOTHING, type Piece } from '../flow/piece.ts';
import { requestedRange, type Span } from '../http1/range.ts';
import type { Core } from '../transaction/core.ts';
import type { Request } from '../transaction/request.ts';
import { StoreSource } from '../transaction/store-flow.ts';
import { type SliceCounts, SliceTake } from './slice-take.ts';

/** The least size of a slice in bytes: each has a head of its own. */
const LEAST = 1024;

/** Of an object in slices what they are; null of others. */
export function partOf({ cache }: Core, oc: Oc): PartFacts | null {
  if (!cache.facts.has(oc, OF_PART)) return null;
  const annex = cache.reading.annex(oc);
  return annex === null ? null : decodePart(annex);
}

/** The slice that a fetch of the request's object begins with, which is the first that its client is to have; null where
 * the whole is fetched. */
export function firstPart(req: Request, staleOc: Oc): WantedPart | null {
  const { core, settings, attempt, http } = req;
  if (settings.slice <= 0 || attempt.isHitMiss || core.params.http_range_support === 0) return null;
  if ((http.method !== 'GET' && http.method !== 'HEAD') || req.body !== null || req.fragment !== null)
    return null;
  const size = Math.max(LEAST, Math.floor(settings.slice));
  const former = staleOc === 0 ? null : partOf(core, staleOc);
  // A 304 confirms the slice that is there.
  if (former !== null) return new WantedPart(former.size, former.index, null, former);
  const range = requestedRange(http.get('range') ?? '');
  const from = range === null || req.isHead ? 0 : Math.max(0, range.low);
  return new WantedPart(size, Math.floor(from / size), null);
}

/** `taking`: waits for a slice. `full`: for the sink, between two slices. */
type State = 'new' | 'taking' | 'sending' | 'full' | 'over';

export class SlicedSource implements Source {
  private readonly req: Request;
  private readonly part: PartFacts;
  private readonly spans: Span[];
  private readonly counts: SliceCounts = { hits: 0, fetched: 0 };
  private readonly first: number;
  private last = 0;
  private sink: Sink | null = null;
  private state: State = 'new';
  private at: number;
  private to: number;
  private take: SliceTake | null = null;
  private ahead: SliceTake | null = null;
  private inner: StoreSource | null = null;

  /** @param spans places of the whole in the order in which they are sent, at least one; `to` may be Infinity */
  constructor(req: Request, part: PartFacts, spans: readonly Span[]) {
    this.req = req;
    this.part = part;
    this.spans = spans.map(({ from, to }) => ({ from, to: Math.min(to, part.total) }));
    const span = this.spans.shift() as Span;
    this.at = span.from;
    this.to = span.to;
    this.first = this.indexOf(span.from);
  }

  start(sink: Sink): void {
    this.sink = sink;
    sink.connect(this);
    if (this.at < this.to) this.next();
    else {
      this.state = 'over';
      sink.end(NOTHING);
    }
  }

  room(): void {
    if (this.state === 'full') this.next();
    else this.inner?.room();
  }

  stop(): void {
    this.inner?.stop();
    this.over();
  }

  private indexOf(place: number): number {
    return Math.floor(place / this.part.size);
  }

  private next(): void {
    this.state = 'taking';
    const index = this.indexOf(this.at);
    const take = this.ahead?.index === index ? this.ahead : this.takeSlice(index);
    if (take !== this.ahead) this.ahead?.drop();
    this.ahead = null;
    this.take = take;
    this.last = index;
    // Only what the client has asked for.
    if (placeOf(this.part, index).to < this.to) this.ahead = this.takeSlice(index + 1);
    if (take.state === 'waiting') {
      this.sink?.flush();
      take.onSettled = () => this.send(take);
    } else this.send(take);
  }

  private takeSlice(index: number): SliceTake {
    return new SliceTake(this.req, this.part, index, this.counts);
  }

  private send(take: SliceTake): void {
    if (this.state === 'over') return;
    if (take.state === 'failed') {
      this.breakOff('object');
      return;
    }
    const { from, to } = placeOf(this.part, take.index);
    const end = Math.min(to, this.to);
    this.state = 'sending';
    this.inner = new StoreSource(this.req.core, take.oc, this.at - from, end - from);
    this.inner.start(new SliceSink(this, this.sink as Sink, end - this.at));
  }

  /** Bytes of a slice have been sent. */
  passed(bytes: number): void {
    this.at += bytes;
  }

  /** The last bytes of a slice, of which all have come. */
  sliceEnds(piece: Piece): Room {
    const sink = this.sink as Sink;
    this.inner = null;
    if (this.at >= this.to) {
      const span = this.spans.shift();
      if (span === undefined) {
        this.over(piece);
        return 'more';
      }
      this.at = span.from;
      this.to = span.to;
    }
    const room = piece.length === 0 ? 'more' : sink.write(piece);
    this.take?.drop();
    this.take = null;
    if (this.isOver) return 'wait';
    if (room === 'wait') this.state = 'full';
    else {
      this.state = 'taking';
      // Not from within the slice: a row of slices that are there would be as many calls deep.
      this.req.core.later(() => {
        if (this.state === 'taking' && this.take === null) this.next();
      });
    }
    return 'more';
  }

  breakOff(reason: Abort): void {
    if (this.isOver) return;
    const { sink } = this;
    this.over();
    sink?.abort(reason);
  }

  private get isOver(): boolean {
    return this.state === 'over';
  }

  /** @param piece the last bytes of the body, where it has come to its end */
  private over(piece: Piece | null = null): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.inner = null;
    this.report();
    this.ahead?.drop();
    this.ahead = null;
    if (piece !== null) this.sink?.end(piece);
    this.take?.drop();
    this.take = null;
  }

  private report(): void {
    const { counts, part, first, last } = this;
    const all = Math.ceil(part.total / part.size);
    this.req.log.put(
      Tag.Notice,
      `Slices ${first}-${last} of ${all}, ${part.size} bytes each: ${counts.hits} hits, ${counts.fetched} fetched`,
    );
  }
}

/** Passes the bytes of one slice on, and sees to it that they are as many as they should be. */
class SliceSink implements Sink {
  readonly gathers: number;
  private readonly source: SlicedSource;
  private readonly sink: Sink;
  private left: number;

  constructor(source: SlicedSource, sink: Sink, length: number) {
    this.source = source;
    this.sink = sink;
    this.left = length;
    this.gathers = sink.gathers;
  }

  connect(_writer: Writer): void {}

  write(piece: Piece): Room {
    this.left -= piece.length;
    this.source.passed(piece.length);
    return this.sink.write(piece);
  }

  end(piece: Piece): Room {
    this.left -= piece.length;
    if (this.left !== 0) {
      this.source.breakOff('length');
      return 'wait';
    }
    this.source.passed(piece.length);
    return this.source.sliceEnds(piece);
  }

  flush(): void {
    this.sink.flush();
  }

  abort(reason: Abort): void {
    this.source.breakOff(reason);
  }
}
