// Bodies in the store as ends of a flow: StoreSource reads one, finished or still arriving; StoreSink fills one; ObjectWait
// waits for what becomes of one. A piece of a stored body holds its object, and the bytes of a body for one reader are
// given back only once nobody uses them: that is the backpressure which reaches the origin.

import type { Cache } from '../cache/cache.ts';
import type { Oc } from '../cache/objcore.ts';
import type { BodyCursor } from '../cache/storage/stored-body.ts';
import type { ProgressReader, ProgressSource } from '../cache/transfers.ts';
import type { ByteTurns, InTurn } from '../flow/byte-turns.ts';
import type { Abort, Room, Sink, Source, Writer } from '../flow/flow.ts';
import { type AnyPiece, type Holder, NOTHING, stored } from '../flow/piece.ts';
import type { StoredBytes } from '../http1/lent-bytes.ts';
import type { Span } from '../http1/range.ts';

/** Most bytes of a piece in one part. */
export const SLICE = 64 * 1024;

/** The services that flows of stored bodies need. */
export interface StoreAccess {
  readonly cache: Pick<Cache, 'facts' | 'reading' | 'references'>;
  readonly sendTurns: ByteTurns;
  later(step: () => void): void;
}

/** Holds an object for pieces of it. */
export class ObjectHolder implements Holder {
  private readonly cache: Pick<Cache, 'references'>;
  private readonly oc: Oc;

  constructor(cache: Pick<Cache, 'references'>, oc: Oc) {
    this.cache = cache;
    this.oc = oc;
  }

  hold(): void {
    this.cache.references.ref(this.oc);
  }

  release(): void {
    this.cache.references.deref(this.oc);
  }
}

/** `dry`: waits for more of the body. `full`: for the sink. `queued`: for its turn. `late`: the last byte was written, and the
 * fetch may be about to end. */
type SourceState = 'new' | 'ready' | 'writing' | 'dry' | 'full' | 'queued' | 'late' | 'over';

export class StoreSource implements Source, Holder, InTurn, ProgressReader {
  private readonly core: StoreAccess;
  private readonly oc: Oc;
  private readonly from: number;
  private to: number;
  private at: number;
  /** Places that are read after this one. */
  private readonly rest: Span[];
  private state: SourceState = 'new';
  private wasLate = false;
  /** Pieces that are held; with any of them, the object is. */
  private holds = 0;
  private sink: Sink | null = null;
  private progressSource: ProgressSource | null = null;
  private place: BodyCursor | undefined;

  /**
   * The bytes [from, to) of a body; `to` may be Infinity. The caller holds the object until the flow is over.
   * @param rest further places, of a body that stays: that of one reader goes as it is read
   */
  constructor(
    core: StoreAccess,
    oc: Oc,
    from = 0,
    to = Number.POSITIVE_INFINITY,
    rest: readonly Span[] = [],
  ) {
    this.core = core;
    this.oc = oc;
    this.from = from;
    this.to = to;
    this.at = from;
    this.rest = [...rest];
  }

  start(sink: Sink): void {
    this.sink = sink;
    this.state = 'ready';
    sink.connect(this);
    this.progressSource = this.core.cache.reading.onProgress(this.oc, this);
    this.pump();
  }

  progress(): void {
    if (this.state === 'dry') this.proceed();
  }

  room(): void {
    if (this.state === 'full') this.proceed();
  }

  turn(): void {
    if (this.state === 'queued') this.proceed(true);
  }

  stop(): void {
    this.state = 'over';
    this.progressSource?.detach(this);
    this.progressSource = null;
  }

  hold(): void {
    if (this.holds++ === 0) this.core.cache.references.ref(this.oc);
  }

  release(): void {
    if (--this.holds > 0) return;
    this.consume();
    this.core.cache.references.deref(this.oc);
  }

  private proceed(isTurn = false): void {
    this.state = 'ready';
    this.pump(isTurn);
  }

  /** @param isTurn the first piece has been waited for */
  private pump(isTurn = false): void {
    const { core, oc } = this;
    let mayWrite = isTurn;
    while (this.state === 'ready') {
      if (this.at >= this.to) this.seek();
      const have = Math.min(core.cache.reading.bodyLength(oc), this.to);
      if (this.at >= have) {
        this.ranDry();
        return;
      }
      if (!mayWrite && !core.sendTurns.enter(this)) {
        this.state = 'queued';
        return;
      }
      mayWrite = false;
      this.writeUpTo(have);
    }
  }

  private writeUpTo(have: number): void {
    const sink = this.sink as Sink;
    const parts: StoredBytes[] = [];
    const end = Math.min(have, this.at + Math.max(sink.gathers, SLICE));
    do parts.push(this.next(end));
    while (this.at < end && sink.gathers > 0);
    const piece = stored(parts, this);
    if (this.isAllRead && this.isFinished) {
      this.stop();
      sink.end(piece);
      return;
    }
    this.state = 'writing';
    const room = sink.write(piece);
    this.consume();
    if (this.is('writing')) this.state = room === 'wait' ? 'full' : 'ready';
  }

  /** Goes to the next place, if there is one. */
  private seek(): void {
    const next = this.rest.shift();
    if (next === undefined) return;
    this.at = next.from;
    this.to = next.to;
  }

  /** A view of the next bytes before `end`. */
  private next(end: number): StoredBytes {
    const { reading } = this.core.cache;
    this.place ??= reading.place(this.oc);
    const slice = reading.slice(this.oc, this.at, end - this.at, this.place);
    this.at += slice.length;
    return slice;
  }

  /** Everything that is stored so far has been written. */
  private ranDry(): void {
    const { core, oc } = this;
    const sink = this.sink as Sink;
    if (core.cache.facts.isFailed(oc)) {
      this.stop();
      sink.abort('object');
    } else if (!this.isAllRead) {
      this.state = 'dry';
      // Bytes before a range are used up as they come: the fetch waits for its only reader.
      if (this.at === this.from) this.consume();
      sink.flush();
    } else if (!this.isFinished && !this.wasLate) {
      // Not with the fetch: that of a body for one reader only takes the end of its reader for a reason to fail.
      this.wasLate = true;
      this.state = 'late';
      core.later(() => {
        if (this.state === 'late') this.proceed();
      });
    } else {
      this.stop();
      sink.end(NOTHING);
    }
  }

  private get isFinished(): boolean {
    return this.core.cache.facts.isFinished(this.oc);
  }

  /** Whether nothing is left to be read, now or later. */
  private get isAllRead(): boolean {
    const { to, at } = this;
    if (at >= to) return this.rest.length === 0;
    return this.isFinished && at >= this.core.cache.reading.bodyLength(this.oc);
  }

  /** Gives back what nobody uses any more; the object may be gone with the flow. */
  private consume(): void {
    if (this.holds === 0 && this.state !== 'over') this.core.cache.reading.consume(this.oc, this.at);
  }

  private is(state: SourceState): boolean {
    return this.state === state;
  }
}

/** Bytes that a body for one reader may be ahead of it, unless the program says another number. */
export const TRANSIT = 256 * 1024;

/** Fills the body of an object. */
export class StoreSink implements Sink<AnyPiece> {
  readonly gathers = 0;
  private readonly filling: Cache['filling'];
  private readonly oc: Oc;
  private readonly reader: 'none' | 'whole' | 'streaming';
  private readonly sendTurns: ByteTurns | null;
  private readonly ahead: number;
  private writer: Writer | null = null;
  private state: 'open' | 'full' | 'over' = 'open';

  /**
   * @param reader of a body for one reader only, which goes when that has left: `streaming` when it reads along, so that
   * the body must not be far ahead of it; `none` where the body is anybody's
   * @param sendTurns counts the bytes, where they come from the store itself
   * @param ahead bytes that the body may be ahead of a reader who reads along
   */
  constructor(
    filling: Cache['filling'],
    oc: Oc,
    reader: 'none' | 'whole' | 'streaming',
    sendTurns: ByteTurns | null = null,
    ahead = TRANSIT,
  ) {
    this.filling = filling;
    this.oc = oc;
    this.reader = reader;
    this.sendTurns = sendTurns;
    this.ahead = ahead;
    if (reader !== 'none') filling.onConsume(oc, () => this.moved());
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: AnyPiece): Room {
    this.append(piece);
    if (this.state === 'open' && this.mustWait()) this.state = 'full';
    return this.state === 'open' ? 'more' : 'wait';
  }

  end(piece: AnyPiece): Room {
    this.append(piece);
    if (this.state === 'over') return 'wait';
    this.state = 'over';
    return 'more';
  }

  flush(): void {}

  abort(): void {
    this.state = 'over';
  }

  private append({ parts, length }: AnyPiece): void {
    this.sendTurns?.spent(length);
    for (const part of parts) {
      if (this.state === 'over') return;
      if (!this.filling.append(this.oc, part, 0, part.length)) this.stop('storage');
    }
  }

  /** Stops where the reader has left. */
  private mustWait(): boolean {
    const { filling, oc, reader } = this;
    if (reader === 'none') return false;
    if (filling.isAbandoned(oc)) {
      this.stop('no-reader');
      return true;
    }
    return reader === 'streaming' && filling.inTransit(oc) > this.ahead;
  }

  /** The one reader has used bytes up, or has left. */
  private moved(): void {
    if (this.state === 'over' || this.mustWait() || this.state !== 'full') return;
    this.state = 'open';
    this.writer?.room();
  }

  private stop(reason: Abort): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.writer?.stop(reason);
  }
}

/** Waits for a state of an object. */
export class ObjectWait implements ProgressReader {
  private readonly isOver: () => boolean;
  private readonly proceed: () => void;
  private source: ProgressSource | null;

  /**
   * @param isOver asked whenever the body grows, is finished or fails
   * @param proceed called once, never before this returns
   */
  constructor(cache: Pick<Cache, 'reading'>, oc: Oc, isOver: () => boolean, proceed: () => void) {
    this.isOver = isOver;
    this.proceed = proceed;
    this.source = cache.reading.onProgress(oc, this);
  }

  progress(): void {
    if (this.source === null || !this.isOver()) return;
    this.leave();
    this.proceed();
  }

  leave(): void {
    this.source?.detach(this);
    this.source = null;
  }
}
