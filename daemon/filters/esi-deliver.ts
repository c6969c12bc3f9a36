// esi on the way to a client: puts a page of edge-side includes together from the text that is stored and the bodies of
// its fragments. It walks the plan that was made when the page was fetched, as far in a turn of the event loop as others
// can wait; what delivers the fragments is given to it.

import { GZIP_HEAD, GzipSum } from '../esi/gzip-stitch.ts';
import type { PlanInclude, PlanPart } from '../esi/page-plan.ts';
import type { Room, Sink } from '../flow/flow.ts';
import { NOTHING, own, type Piece } from '../flow/piece.ts';
import { weakenEtag } from '../http1/conditional.ts';
import { turns } from '../turns/turns.ts';
import { type DeliveryFilter, FilterFlow, type Page } from './filter.ts';
import { PageOutput } from './page-output.ts';

export const ESI: DeliveryFilter = {
  name: 'esi',
  side: 'delivery',
  wanted: ({ isPage }) => isPage,
  open(body) {
    const { openPage } = body;
    if (openPage === null) return null;
    // Nobody knows how long it will be, nor what it will be the next time.
    weakenEtag(body.head);
    body.length = -1;
    return (next) => new PageFlow(next, openPage());
  },
};

class PageFlow extends FilterFlow {
  private readonly page: Page;
  private readonly output: PageOutput;
  /** Whether the stream's head and end are written here: not within another packed page. */
  private readonly frames: boolean;
  /** The part that is passing, and stored bytes left of it; undefined between parts. */
  private part: PlanPart | undefined = undefined;
  private left = 0;
  private begun = false;
  private trailed = false;
  /** The piece taken last, which is held, and how many of its bytes are used. */
  private input = NOTHING;
  private at = 0;
  private last = false;
  /** The end comes within take(). */
  private inTake = false;
  private readonly proceed = (): void => {
    if (!this.closed && this.walk(false) === 'more') this.wantMore();
  };
  /** The walk as a writer of the output. */
  private readonly walker = { room: this.proceed };

  constructor(next: Sink, page: Page) {
    super(next);
    const { gzip, within } = page;
    this.page = page;
    const shares = gzip && within !== null && within.sum !== null && page.isBare;
    this.frames = gzip && !shares;
    const sum = !gzip ? null : shares ? within.sum : new GzipSum();
    const out = {
      write: (piece: Piece): Room => this.give(piece),
      end: (piece: Piece): Room => this.giveLast(piece, this.inTake),
    };
    this.output = new PageOutput(out, sum, within);
  }

  protected take(piece: Piece, isLast: boolean): Room {
    piece.hold();
    this.input.release();
    this.input = piece;
    this.at = 0;
    this.last = isLast;
    // Not before: the next filter takes nothing until all are there.
    if (this.frames && !this.begun) this.output.write(own(GZIP_HEAD));
    this.begun = true;
    return this.walk(true);
  }

  protected resume(): void {
    this.output.room();
  }

  override close(): void {
    if (this.closed) return;
    super.close();
    this.page.close();
    this.output.close();
    this.input.release();
    this.input = NOTHING;
  }

  /** Continues as far as it can; `more` when all that was given is used and more is wanted. */
  private walk(inTake: boolean): Room {
    const { output, page } = this;
    while (!this.closed) {
      if (output.isFull) {
        output.onRoom(this.walker);
        return 'wait';
      }
      let { part } = this;
      if (part === undefined) {
        part = page.walk.next();
        if (part === undefined) return this.finish(inTake);
        if (part.kind === 'include') {
          if (this.include(part)) {
            if (turns.mayContinue()) continue;
            return this.leaveTurn();
          }
          // The client is not to wait for what it could have already.
          if (!this.closed) output.flush();
          return 'wait';
        }
        this.part = part;
        this.left = part.stored;
        if (part.kind === 'text') output.sum?.add({ crc: part.crc, length: part.plain });
      }
      const used = Math.min(this.left, this.input.length - this.at);
      this.left -= used;
      if (part.kind === 'text' && used > 0) output.write(this.input.cut(this.at, this.at + used));
      this.at += used;
      if (this.left === 0) {
        this.part = undefined;
        if (!turns.mayContinue()) return this.leaveTurn();
      } else if (!output.isFull && this.at === this.input.length) {
        if (!this.last) return 'more';
        // The stored page is not what its plan says.
        this.fail();
        return 'wait';
      }
    }
    return 'wait';
  }

  /** Others have their turn first. */
  private leaveTurn(): Room {
    if (this.closed) return 'wait';
    // A page that waits needs no buffer.
    this.output.flush();
    this.page.later(this.proceed);
    return 'wait';
  }

  /** All parts are through. */
  private finish(inTake: boolean): Room {
    const { output } = this;
    if (!this.last) return 'more';
    if (this.frames && !this.trailed) {
      this.trailed = true;
      output.write(own((output.sum as GzipSum).trailer()));
      if (output.isFull) {
        output.onRoom(this.walker);
        return 'wait';
      }
    }
    this.inTake = inTake;
    return output.end();
  }

  /** Whether the fragment is written, and all that is to be waited for. */
  private include(part: PlanInclude): boolean {
    let atOnce = true;
    let written = false;
    this.page.include(part, this.output, (succeeds) => {
      if (this.closed) return;
      if (!succeeds) {
        // The page up to this place is delivered.
        this.output.flush();
        this.fail();
      } else if (atOnce) written = true;
      else this.proceed();
    });
    atOnce = false;
    return written;
  }
}
