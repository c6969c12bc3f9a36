// Several ranges of a stored body as the parts of a multipart/byteranges body (RFC 9110 section 14.6). What comes in are the
// bytes of the parts, one after the other, as the store reads them; what goes out has a head in front of each.

import type { Room, Sink } from '../flow/flow.ts';
import { NOTHING, own, type Piece } from '../flow/piece.ts';
import type { ByteParts } from '../http1/byte-parts.ts';
import { FilterFlow } from './filter.ts';

/** Puts the frames around parts that come one after the other. */
export class PartsFlow extends FilterFlow {
  private readonly parts: ByteParts;
  /** The part that comes next or is under way, and how much of it has passed. */
  private index = 0;
  private passed = 0;
  private headGiven = false;
  /** A piece that is held, and how much of it was given. */
  private piece: Piece | null = null;
  private used = 0;
  private isLast = false;
  private working = false;

  constructor(next: Sink, parts: ByteParts) {
    super(next);
    this.parts = parts;
  }

  override close(): void {
    super.close();
    this.piece?.release();
    this.piece = null;
  }

  protected take(piece: Piece, isLast: boolean): Room {
    piece.hold();
    this.piece = piece;
    this.used = 0;
    this.isLast = isLast;
    this.working = true;
    const room = this.work();
    this.working = false;
    return room;
  }

  protected resume(): void {
    if (this.piece !== null && this.work() === 'more') this.wantMore();
  }

  /** Gives what it has, until there is no room; `more` when the piece is used up. */
  private work(): Room {
    while (this.piece !== null && this.used < this.piece.length) {
      const span = this.parts.spans[this.index];
      if (span === undefined) break;
      if (!this.headGiven) {
        this.headGiven = true;
        if (this.give(own(this.parts.heads[this.index] as Buffer)) === 'wait') return 'wait';
        continue;
      }
      const length = span.to - span.from;
      const end = Math.min(this.piece.length, this.used + length - this.passed);
      const cut = this.piece.cut(this.used, end);
      this.passed += end - this.used;
      this.used = end;
      if (this.passed === length) {
        this.index++;
        this.passed = 0;
        this.headGiven = false;
      }
      if (this.give(cut) === 'wait') return 'wait';
    }
    this.piece?.release();
    this.piece = null;
    if (!this.isLast) return 'more';
    // Without all of its parts the body has another length than its head says, and is cut.
    const isWhole = this.index === this.parts.spans.length;
    return this.giveLast(isWhole ? own(this.parts.end) : NOTHING, this.working);
  }
}
