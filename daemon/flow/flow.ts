// The contract for bytes that go from one place to another, and what joins the two ends.
//
// A source writes to a sink. The sink answers whether it takes more at once; after `wait` nothing is written, and the
// body is not ended, before the sink calls room(). That is the only backpressure, and says nothing about the bytes:
// code that still uses them holds their piece (piece.ts). A body ends once: by end(), by abort() from the source's side, or
// by stop() from the sink's. Filters are both sink and source, so a slow reader stops the whole row back to the source.
//
// A source of lent bytes cannot keep what it has read already: after `wait` it still writes the rest of that read, and
// perhaps the end, to a sink that takes lent bytes.

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { type AnyPiece, LentPiece, type Piece } from './piece.ts';

/** Whether a sink takes more at once. */
export type Room = 'more' | 'wait';

/** Why the body of a request broke off. */
export type BodyError = 'eof' | 'timeout' | 'chunked' | 'overflow' | 'storage' | 'closed' | 'filter';

/**
 * Why a body did not pass from its source to its sink. `filter`: a filter found it broken, and has logged how; `length`: it
 * has another length than its head says; `object`: the fetch of what is delivered failed; `left`: whoever asked for it
 * has gone; `enough`: the sink needs no more of it, which is no failure.
 */
export type Abort = FetchFailure | BodyError | 'length' | 'object' | 'left' | 'enough';

/** The side that writes to a sink. */
export interface Writer {
  /** Once after each `wait`: there is room; after end(): all has been taken. Never within write() or end(). */
  room(): void;
  /** The sink takes nothing more. */
  stop(reason: Abort): void;
}

export interface Sink<P extends AnyPiece = Piece> {
  /** Most bytes of a piece in several parts; 0 where pieces have one part. */
  readonly gathers: number;
  /** Sets the writer, before the first write. */
  connect(writer: Writer): void;
  // Properties, whose parameters tsc compares strictly: a sink that wants bytes to stay is none for lent ones.
  readonly write: (piece: P) => Room;
  /** The last bytes, which may be none. Answers `more` when all has been taken. */
  readonly end: (piece: P) => Room;
  /** Nothing more comes for now: what is gathered should leave. */
  flush(): void;
  /** The body broke off: it must not look complete (SAFETY rule 3). */
  abort(reason: Abort): void;
}

/** The way out of several bodies, one after the other: a client's connection, a page. Each has a sink of its own over it. */
export interface SharedOutput {
  write(piece: Piece): Room;
  /** Calls writer.room() once when there is room again, in a later turn; never when the output goes first. One writer at a
   * time. */
  onRoom(writer: Pick<Writer, 'room'>): void;
}

/** Ends with sink.end() or sink.abort(), and writes nothing after stop(). */
export interface Source<P extends AnyPiece = Piece> extends Writer {
  /** Connects itself, and writes; perhaps all before this returns. */
  start(sink: Sink<P>): void;
}

export type FlowState = 'new' | 'open' | 'full' | 'ending' | 'ended' | 'aborted';

/** One edge between a writer and a sink: follows its state, and asserts the contract in the debug mode. */
class Edge<P extends AnyPiece> implements Sink<P>, Writer {
  state: FlowState = 'new';
  readonly gathers: number;
  protected readonly sink: Sink<P>;
  private readonly asserts: boolean;
  protected writer: Writer | null = null;
  /** A call of the sink is under way. */
  private inside = false;

  /** @param asserts the debug mode is on */
  constructor(sink: Sink<P>, asserts: boolean) {
    this.sink = sink;
    this.asserts = asserts;
    this.gathers = sink.gathers;
  }

  connect(writer: Writer): void {
    this.writer = writer;
    if (this.state !== 'new') return;
    this.state = 'open';
    this.sink.connect(this);
  }

  write(piece: P): Room {
    if (this.state !== 'open') {
      if (this.isOver || this.state === 'ending') return this.late('bytes', piece);
      if (!(piece instanceof LentPiece)) this.assert(false, 'bytes');
    }
    const outer = this.inside;
    this.inside = true;
    const room = this.sink.write(piece);
    this.inside = outer;
    if (this.isOver) return 'wait';
    if (room === 'wait') this.state = 'full';
    return room;
  }

  end(piece: P): Room {
    if (this.isOver || this.state === 'ending') return this.late('an end', piece);
    if (this.state === 'full') this.assert(piece.length === 0 || piece instanceof LentPiece, 'an end');
    this.state = 'ending';
    const outer = this.inside;
    this.inside = true;
    const room = this.sink.end(piece);
    this.inside = outer;
    if (this.isOver) return 'wait';
    if (room === 'more') this.finish('ended', null);
    return room;
  }

  flush(): void {
    if (!this.isOver) this.sink.flush();
  }

  room(): void {
    if (this.isOver) return;
    this.assert(!this.inside && (this.state === 'full' || this.state === 'ending'), 'room');
    if (this.state === 'ending') this.finish('ended', null);
    else this.state = 'open';
    this.writer?.room();
  }

  abort(reason: Abort): void {
    if (this.isOver) return;
    this.state = 'aborted';
    this.sink.abort(reason);
    this.finish('aborted', reason);
  }

  stop(reason: Abort): void {
    if (this.isOver) return;
    this.state = reason === 'enough' ? 'ended' : 'aborted';
    this.writer?.stop(reason);
    this.finish(this.state, reason === 'enough' ? null : reason);
  }

  protected finish(state: FlowState, _reason: Abort | null): void {
    this.state = state;
  }

  protected get isOver(): boolean {
    return this.state === 'ended' || this.state === 'aborted';
  }

  private late(what: string, piece: P): Room {
    // The rest of the read that stopped a source of lent bytes.
    if (!(piece instanceof LentPiece) && piece.length > 0) this.assert(false, what);
    return 'wait';
  }

  private assert(holds: boolean, what: string): void {
    if (this.asserts && !holds) throw new Error(`${what} in a flow that is ${this.state}`);
  }
}

/** A sink whose writer is held to the contract in the debug mode; the sink itself otherwise. */
export function asserted<P extends AnyPiece>(sink: Sink<P>, asserts: boolean): Sink<P> {
  return asserts ? new Edge(sink, true) : sink;
}

/** A body on its way from a source to a sink, through the filters in front of it. */
export class Flow<P extends AnyPiece = Piece> extends Edge<P> {
  private readonly source: Source<P>;
  private readonly done: (reason: Abort | null) => void;

  /** @param done called once: with null when the sink has taken all it wanted */
  constructor(source: Source<P>, sink: Sink<P>, asserts: boolean, done: (reason: Abort | null) => void) {
    super(sink, asserts);
    this.source = source;
    this.done = done;
  }

  start(): void {
    this.source.start(this);
  }

  /** Ends the flow from outside, at both ends. */
  cancel(reason: Abort): void {
    if (this.isOver) return;
    this.state = 'aborted';
    this.source.stop(reason);
    this.sink.abort(reason);
    this.done(reason);
  }

  override room(): void {
    // The source has nothing to do after its end.
    if (this.state !== 'ending') super.room();
    else this.finish('ended', null);
  }

  protected override finish(state: FlowState, reason: Abort | null): void {
    this.state = state;
    this.done(reason);
  }
}

/** Takes bytes that nobody wants. */
export const DISCARD: Sink<AnyPiece> = {
  gathers: 0,
  connect: () => undefined,
  write: () => 'more',
  end: () => 'more',
  flush: () => undefined,
  abort: () => undefined,
};
