// The queue in front of a chain of filters: copies of lent bytes, since a filter takes one piece at a time.

import type { Abort, Room, Sink, Writer } from '../flow/flow.ts';
import { type AnyPiece, copyOf, NOTHING, own, type Piece } from '../flow/piece.ts';

/** Pieces that may wait for the filters before the writer does. */
const PIECES = 4;

export class KeepingQueue implements Sink<AnyPiece>, Writer {
  readonly gathers = 0;
  /** The body has come to its end. */
  ended = false;
  private readonly next: Sink;
  private writer: Writer | null = null;
  private readonly queue: Piece[] = [];
  /** `corked`: everything there is comes first, so that the filters know the last piece as such. */
  private state: 'corked' | 'open' | 'full' | 'ended' = 'corked';
  /** The writer waits. */
  private stops = false;

  constructor(next: Sink) {
    this.next = next;
    next.connect(this);
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: AnyPiece): Room {
    this.queue.push(own(copyOf(piece)));
    this.pour();
    this.stops = this.queue.length > PIECES;
    return this.stops ? 'wait' : 'more';
  }

  end(piece: AnyPiece): Room {
    if (piece.length > 0) this.queue.push(own(copyOf(piece)));
    this.ended = true;
    return this.pour();
  }

  flush(): void {}

  abort(reason: Abort): void {
    this.state = 'ended';
    this.next.abort(reason);
  }

  uncork(): void {
    if (this.state === 'corked') this.room();
  }

  room(): void {
    if (this.state === 'ended') {
      this.writer?.room();
      return;
    }
    this.state = 'open';
    const room = this.pour();
    if (this.ended) {
      if (room === 'more') this.writer?.room();
    } else if (this.stops && this.queue.length <= PIECES) {
      this.stops = false;
      this.writer?.room();
    }
  }

  stop(reason: Abort): void {
    this.state = 'ended';
    this.writer?.stop(reason);
  }

  private pour(): Room {
    while (this.state === 'open' && (this.queue.length > 0 || this.ended)) {
      const piece = this.queue.shift() ?? NOTHING;
      if (this.ended && this.queue.length === 0) {
        this.state = 'ended';
        return this.next.end(piece);
      }
      const room = this.next.write(piece);
      if (room === 'wait' && this.state === 'open') this.state = 'full';
    }
    return 'wait';
  }
}
