// The output of a page of edge-side includes: text of the page and bodies of its fragments, one after the other. Small
// pieces are gathered, so that they leave in one write; a writer that is about to wait flushes, so that no client waits
// for more than it must. In a packed page plain bytes travel as stored blocks, and everything that passes is added to
// the sum that ends the stream.

import { type GzipSum, storedBlocks } from '../esi/gzip-stitch.ts';
import type { Room, SharedOutput, Sink, Writer } from '../flow/flow.ts';
import { copyInto, copyOf, type Holder, NOTHING, own, Piece } from '../flow/piece.ts';

/** Bytes that are gathered at most, and of a piece from which on a copy is not worth it. */
const GATHERED = 32 * 1024;
const LARGE = 16 * 1024;
/** Buffers that pages have done with. */
const spare: Buffer[] = [];
const SPARE = 16;

/** A buffer for small pieces, which goes back when nobody uses its bytes any more. */
class Gather implements Holder {
  used = 0;
  private readonly bytes = spare.pop() ?? Buffer.allocUnsafeSlow(GATHERED);
  private holds = 1;

  add(piece: Piece): void {
    this.used += copyInto(piece, this.bytes, this.used);
  }

  get piece(): Piece {
    return new Piece([this.bytes.subarray(0, this.used)], this);
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    if (--this.holds === 0 && spare.length < SPARE) spare.push(this.bytes);
  }
}

/** Its writers are the walk through the page, and each fragment while it is in turn. */
export class PageOutput implements SharedOutput {
  /** Of a packed page; of one within another packed page it is that one's. */
  readonly sum: GzipSum | null;
  private readonly next: Pick<Sink, 'write' | 'end'>;
  /** The output that the page is written into when it is a fragment: pieces are gathered there. */
  private readonly within: PageOutput | null;
  private waiting: Pick<Writer, 'room'> | null = null;
  private state: 'open' | 'full' | 'ended' | 'closed' = 'open';
  private gather: Gather | null = null;
  /** A piece that came while there was no room; it is held. */
  private pending: Piece | null = null;

  constructor(next: Pick<Sink, 'write' | 'end'>, sum: GzipSum | null, within: PageOutput | null) {
    this.next = next;
    this.sum = sum;
    this.within = within;
  }

  get isFull(): boolean {
    return this.state !== 'open';
  }

  onRoom(writer: Pick<Writer, 'room'>): void {
    this.waiting = writer;
  }

  /** Makes room for this many bytes of a plain body, which are then copied; false where they have to be waited for. */
  makesRoom(bytes: number): boolean {
    if (this.isFull || this.within !== null || this.sum !== null || bytes > LARGE) return false;
    return this.used + bytes <= GATHERED || this.send() === 'more';
  }

  /** Plain bytes of a body. */
  writePlain(piece: Piece): Room {
    if (this.sum === null || piece.length === 0) return this.write(piece);
    const bytes = copyOf(piece);
    this.sum.addPlain(bytes);
    return this.write(own(storedBlocks(bytes)));
  }

  /** Bytes of the page as it goes out. */
  write(piece: Piece): Room {
    if (piece.length === 0) return this.isFull ? 'wait' : 'more';
    if (this.isFull) return this.putOff(piece);
    if (this.within === null) {
      const isSmall = piece.length <= LARGE;
      const fits = isSmall && this.used + piece.length <= GATHERED;
      // Gathered bytes go first.
      if (!fits && this.send() === 'wait') return this.putOff(piece);
      if (isSmall) {
        this.gather ??= new Gather();
        this.gather.add(piece);
        return 'more';
      }
    }
    return this.pass(piece);
  }

  /** Ends the page. */
  end(): Room {
    const { gather } = this;
    this.gather = null;
    this.state = 'ended';
    const room = this.next.end(gather?.piece ?? NOTHING);
    gather?.release();
    return room;
  }

  flush(): void {
    if (this.within !== null) this.within.flush();
    if (!this.isFull) this.send();
  }

  /** The next sink takes more. */
  room(): void {
    if (this.state !== 'full') return;
    this.state = 'open';
    const { pending } = this;
    this.pending = null;
    if (pending !== null) {
      const room = this.write(pending);
      pending.release();
      if (room === 'wait') return;
    }
    const { waiting } = this;
    this.waiting = null;
    waiting?.room();
  }

  close(): void {
    this.state = 'closed';
    this.waiting = null;
    this.gather?.release();
    this.gather = null;
    this.pending?.release();
    this.pending = null;
  }

  private get used(): number {
    return this.gather?.used ?? 0;
  }

  /** Sends what is gathered. A page that waits needs no buffer: thousands may. */
  private send(): Room {
    const { gather } = this;
    if (gather === null) return 'more';
    this.gather = null;
    const room = this.pass(gather.piece);
    gather.release();
    return room;
  }

  private pass(piece: Piece): Room {
    const room = this.next.write(piece);
    if (room === 'wait' && this.state === 'open') this.state = 'full';
    return room;
  }

  private putOff(piece: Piece): Room {
    if (this.state === 'full') {
      piece.hold();
      this.pending = piece;
    }
    return 'wait';
  }
}
