// The body of an object that is kept in slices, as the source of a delivery: one slice after the other, and the next one is
// on its way while one is sent. What is held at any time is two slices, however large the object is. A slice that cannot be
// had, or is of another length, breaks the body off (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { ownPlace, type PartFacts, type Segment, segmentAt } from '../cache/part-facts.ts';
import type { Urgency } from '../fetch/wanted-part.ts';
import type { Abort, Room, Sink, Source, Writer } from '../flow/flow.ts';
import { NOTHING, type Piece } from '../flow/piece.ts';
import type { Span } from '../http1/range.ts';
import type { Request } from '../transaction/request.ts';
import type { SliceCounts, SliceInHand } from '../transaction/request-attempt.ts';
import { StoreSource } from '../transaction/store-flow.ts';
import { partOf } from './first-part.ts';
import { SliceTake } from './slice-take.ts';

const NOWHERE = { from: 0, to: 0 };

/** `taking`: waits for a slice. `full`: for the sink, between two slices. */
type State = 'new' | 'taking' | 'sending' | 'full' | 'over';

export class SlicedSource implements Source {
  private readonly req: Request;
  private readonly part: PartFacts;
  private readonly spans: Span[];
  private readonly counts: SliceCounts;
  private readonly first: number;
  private last = 0;
  private sink: Sink | null = null;
  private state: State = 'new';
  private at: number;
  private to: number;
  private take: SliceInHand | null = null;
  private ahead: SliceInHand | null;
  /** The slice to ask for once the body has come to `aheadFrom`, an eighth of what is wanted of the current one. */
  private wantedAhead: Segment | null = null;
  private aheadFrom = 0;
  private inner: StoreSource | null = null;
  /** Whether a slice could not be had ahead: none is asked for any more, since the store may be too small for it. */
  private hasFailedAhead = false;
  /** The end of the last slice that was asked for once more. */
  private broken = -1;

  /** @param spans places of the whole in the order in which they are sent, at least one; `to` may be Infinity */
  constructor(req: Request, part: PartFacts, spans: readonly Span[]) {
    this.req = req;
    this.part = part;
    this.counts = req.attempt.slices;
    this.ahead = req.attempt.firstSlice;
    req.attempt.firstSlice = null;
    this.spans = spans.map(({ from, to }) => ({ from, to: Math.min(to, part.total) }));
    const span = this.spans.shift() as Span;
    this.at = span.from;
    this.to = span.to;
    this.first = segmentAt(part, span.from, span.to).index;
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

  private next(): void {
    const isFirst = this.state === 'new';
    this.state = 'taking';
    const { part, at, to } = this;
    const segment = segmentAt(part, at, to);
    const take =
      this.ahead?.segment.index === segment.index ? this.ahead : this.takeSlice(segment, 'awaited');
    const wasAhead = take === this.ahead && !isFirst;
    if (take !== this.ahead) this.ahead?.drop();
    this.ahead = null;
    this.last = segment.index;
    // Only what the client has asked for.
    this.aheadFrom = at + (Math.min(to, segment.to) - at) / 8;
    this.wantedAhead = segment.to < to && !this.hasFailedAhead ? segmentAt(part, segment.to, to) : null;
    this.await(take, wasAhead);
  }

  private await(take: SliceInHand, wasAhead: boolean): void {
    this.take = take;
    const settled = (): void => {
      if (this.state === 'over') return;
      const { segment } = take;
      if (take.state !== 'failed' || take.hasChanged) this.send(take);
      else if (wasAhead) {
        this.hasFailedAhead = true;
        this.takeAgain(segment, 'awaited');
      } else if (take.mayBeFetched && this.broken !== segment.to) this.takeRest(segment);
      else this.send(take);
    };
    if (take.state === 'waiting') {
      this.sink?.flush();
      take.onSettled = settled;
    } else settled();
  }

  private takeSlice(segment: Segment, urgency: Urgency): SliceTake {
    return new SliceTake(this.req, this.part, segment, this.counts, urgency);
  }

  private takeAgain(segment: Segment, urgency: Urgency): void {
    this.take?.drop();
    this.ahead?.drop();
    this.ahead = null;
    this.await(this.takeSlice(segment, urgency), false);
  }

  /** Fetches the rest of a slice, uncached: under an index that no slice has. */
  private takeRest({ to }: Segment): void {
    this.broken = to;
    this.takeAgain({ index: -1 - this.at, from: this.at, to }, 'uncached');
  }

  private send(take: SliceInHand): void {
    if (this.state === 'over') return;
    if (take.state === 'failed') {
      this.fail(take);
      return;
    }
    // A part may be another one than was asked for: one that begins there, too.
    const own = partOf(this.req.core, take.oc);
    const { from, to } = own === null ? NOWHERE : ownPlace(own);
    const end = Math.min(to, this.to);
    if (from > this.at || end <= this.at) {
      // One that took the place of the part in the list, and ends before it does.
      if (this.broken === take.segment.to || take.segment.to <= this.at) this.breakOff('object');
      else this.takeRest(take.segment);
      return;
    }
    this.state = 'sending';
    this.inner = new StoreSource(this.req.core, take.oc, this.at - from, end - from);
    this.inner.start(new SliceSink(this, this.sink as Sink, end - this.at));
  }

  /** Of an object whose body is coming anyway the bytes are waited for. */
  private fail(take: SliceInHand): void {
    const { core, attempt } = this.req;
    const { from, to } = take.segment;
    if (attempt.farPart === null || from > this.at) {
      this.breakOff('object');
      return;
    }
    const end = Math.min(to, this.to);
    this.state = 'sending';
    this.inner = new StoreSource(core, attempt.oc, this.at, end);
    this.inner.start(new SliceSink(this, this.sink as Sink, end - this.at));
  }

  /** Bytes of a slice have been sent. */
  passed(bytes: number): void {
    this.at += bytes;
    if (this.wantedAhead !== null && this.at >= this.aheadFrom) this.takeAhead(this.wantedAhead);
  }

  /** Not at once: of many clients some would have their first bytes after the slices ahead of others. */
  private takeAhead(segment: Segment): void {
    this.wantedAhead = null;
    this.req.core.later(() => {
      const from = this.take?.segment.to ?? this.at;
      if (this.isOver || from !== segment.from || this.ahead !== null || this.hasFailedAhead) return;
      this.ahead = this.takeSlice(segment, 'ahead');
    });
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

  /** A slice that breaks off is asked for once more, for the rest of it: it found no more room, or its origin gave up. */
  sliceBreaks(reason: Abort): void {
    const { take } = this;
    if (this.isOver || take === null) return;
    const { segment } = take;
    if (reason !== 'object' || this.broken === segment.to || this.at >= segment.to) {
      this.breakOff(reason);
      return;
    }
    this.inner = null;
    this.state = 'taking';
    this.hasFailedAhead = true;
    // Not while readers of the object are notified.
    this.req.core.later(() => {
      if (this.state === 'taking') this.takeRest(segment);
    });
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
    const many = `${counts.hits} hits, ${counts.fetched} fetched`;
    const all = Math.ceil(part.total / part.size);
    const text =
      part.size === 0
        ? `Parts of ${part.total} bytes: ${many}`
        : `Slices ${first}-${last} of ${all}, ${part.size} bytes each: ${many}`;
    this.req.log.put(Tag.Notice, text);
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
    this.source.sliceBreaks(reason);
  }
}
