// What goes out of a page of edge-side includes: text of the page and bodies of its fragments, one after the other. Small
// pieces are put together, so that they leave in one write; whoever is about to wait sends on what there is, so that no
// client waits for more than it must. In a packed page plain bytes travel as stored blocks, and all that passes is
// added to the sum that ends the stream.

import { type GzipSum, storedBlocks } from '../esi/gzip-stitch.ts';
import type { Outlet } from './filter.ts';

/** Bytes that are put together at most, and pieces from which on a copy is not worth it. */
const GATHERED = 32 * 1024;
const LARGE = 16 * 1024;
const NOTHING = Buffer.alloc(0);
/** Buffers that pages have done with. */
const spare: Buffer[] = [];
const SPARE = 16;

export class PageOutput {
  /** Of a packed page; of one within another packed page it is that one's. */
  readonly sum: GzipSum | null;
  /** What was given last is still in use: nothing may be given before drained() has called. */
  blocked = false;
  private readonly outlet: Outlet;
  /** What the page is written into when it is a fragment: pieces are put together there. */
  private readonly within: PageOutput | null;
  private buffer: Buffer | null = null;
  private used = 0;
  /** Did not fit behind what was on its way. */
  private pending: Buffer | null = null;
  private onDrain: (() => void) | null = null;

  constructor(outlet: Outlet, sum: GzipSum | null, within: PageOutput | null) {
    this.outlet = outlet;
    this.sum = sum;
    this.within = within;
  }

  /** Makes room for so many bytes of a plain body, which are then copied; false where they have to be waited for. */
  makesRoom(bytes: number): boolean {
    if (this.blocked || this.within !== null || this.sum !== null || bytes > LARGE) return false;
    return this.used + bytes <= GATHERED || this.flush();
  }

  /** Bytes of a body, plain ones: false when they are in use, see drained(). */
  write(bytes: Buffer): boolean {
    if (this.sum === null || bytes.length === 0) return this.put(bytes);
    this.sum.addPlain(bytes);
    return this.put(storedBlocks(bytes));
  }

  /** Bytes of the page as it goes out: false when they are in use, see drained(). */
  put(bytes: Buffer): boolean {
    if (bytes.length === 0) return !this.blocked;
    if (this.blocked) {
      this.pending = bytes;
      return false;
    }
    if (this.within === null) {
      const isSmall = bytes.length <= LARGE;
      // What is gathered goes first.
      if (!(isSmall && this.used + bytes.length <= GATHERED) && this.used > 0 && !this.flush()) {
        this.pending = bytes;
        return false;
      }
      if (isSmall) {
        this.buffer ??= spare.pop() ?? Buffer.allocUnsafeSlow(GATHERED);
        this.used += bytes.copy(this.buffer, this.used);
        return true;
      }
    }
    this.blocked = !this.outlet.data(bytes, false);
    return !this.blocked;
  }

  /** Sends what there is, as nothing more comes for now: false as for put(). */
  flush(): boolean {
    const { used, within } = this;
    if (within !== null) within.flush();
    if (used === 0 || this.blocked) return !this.blocked;
    this.used = 0;
    this.blocked = !this.outlet.data((this.buffer as Buffer).subarray(0, used), false);
    if (!this.blocked) this.giveBack();
    return !this.blocked;
  }

  /** Sends what there is, and that it is the end. */
  end(): void {
    const { used, buffer } = this;
    this.used = 0;
    this.buffer = null;
    const isTaken = this.outlet.data(used === 0 ? NOTHING : (buffer as Buffer).subarray(0, used), true);
    this.buffer = isTaken ? buffer : null;
    this.giveBack();
  }

  /** Calls once when more is taken. */
  drained(callback: () => void): void {
    this.onDrain = callback;
  }

  /** The outlet takes more. */
  resume(): void {
    this.blocked = false;
    if (this.used === 0) this.giveBack();
    const { pending } = this;
    this.pending = null;
    if (pending !== null && !this.put(pending)) return;
    const callback = this.onDrain;
    this.onDrain = null;
    callback?.();
  }

  close(): void {
    this.onDrain = null;
    // Of one that is blocked, bytes may still be on their way.
    if (this.blocked) this.buffer = null;
    else this.giveBack();
  }

  /** A page that waits needs no buffer: thousands may. */
  private giveBack(): void {
    const { buffer } = this;
    this.buffer = null;
    if (buffer !== null && spare.length < SPARE) spare.push(buffer);
  }
}
