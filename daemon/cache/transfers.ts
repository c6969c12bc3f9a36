// Transfers: the state of an object that exists only while its bytes come in, or pass through to one reader. The
// waiting readers, the tail of the body, how much of a private body was consumed. Plain JavaScript objects, dropped with
// the fetch, so that cached objects have none; and the table of them by handle.

import type { HttpMessage } from '../http1/message.ts';
import type { Turns } from '../turns/turns.ts';
import { CLOSED, isHeld, type Oc, REFS, VXID } from './objcore.ts';
import type { RowTable } from './row-table.ts';

/** Called when a streaming body grows, and once when it is finished or failed: synchronously, from append, finish
 * and fail; where there are many readers, some of them in a later turn. */
export interface ProgressReader {
  progress(): void;
}

/** The caller of a reader; the reader detaches from it. */
export interface ProgressSource {
  detach(reader: ProgressReader): void;
}

export class Transfer implements ProgressSource {
  /** Those who wait for the object may have it although it has no ttl. */
  servesWaiters = false;
  /** The objects that a forced miss replaces when it is finished. */
  replaces: 'nothing' | 'variant' | 'all' = 'nothing';
  /** Number of the tier's newest invalidation when the fetch began; negative when no copy is kept. */
  since = -1;
  /** Body bytes the response announced; -1 when unknown. */
  expected = -1;
  /** The head of a private object for as long as its fetch lends it: its reader need not decode what is stored. */
  head: HttpMessage | null = null;
  /** A request's body, whose size the program limits. */
  isKept = false;
  /** `head` is not encoded yet; its block is reserved. */
  unwritten = false;
  /** Surrogate keys of the head, under which the object is filed when it becomes visible. */
  tags: string[] | null = null;
  /** Evictions left for this object's body. */
  nukesLeft: number;
  /** Last extent of the body, 0 when there is none. */
  tail = 0;
  /** Body offset at which the first extent still held starts; what lies before it in extents is freed. */
  base = 0;
  consumed = 0;
  /** Called when a reader has consumed bytes or left: the fetch may resume, or give up. */
  onConsume: (() => void) | null = null;
  /** VXID of the object's row. With another VXID the row belongs to another object. */
  stamp: number;
  private reader: ProgressReader | null = null;
  /** The second reader and those after it; null until there is one. */
  private others: Set<ProgressReader> | null = null;
  /** The rest of `others` is called in a later turn; there was progress again since. */
  private waiting = false;
  private isNew = false;

  constructor(nukesLeft: number, stamp = 0) {
    this.nukesLeft = nukesLeft;
    this.stamp = stamp;
  }

  attach(reader: ProgressReader): void {
    if (this.reader === null) this.reader = reader;
    else {
      this.others ??= new Set();
      this.others.add(reader);
    }
  }

  detach(reader: ProgressReader): void {
    if (this.reader === reader) this.reader = null;
    else this.others?.delete(reader);
  }

  get readerCount(): number {
    return (this.reader === null ? 0 : 1) + (this.others?.size ?? 0);
  }

  /** Calls the readers, many of them over several turns. Readers may detach and attach in between: a detached one is not
   * called, a new one has read up to the present. */
  notify(turns: Turns): void {
    this.reader?.progress();
    if (this.others === null || this.others.size === 0) return;
    if (this.waiting) this.isNew = true;
    else this.callOthers(turns);
  }

  private callOthers(turns: Turns): void {
    const { others } = this;
    if (others === null) return;
    const readers = [...others];
    let at = 0;
    const goOn = (): void => {
      this.waiting = false;
      while (at < readers.length) {
        const reader = readers[at++] as ProgressReader;
        if (!others.has(reader)) continue;
        reader.progress();
        if (at < readers.length && !turns.mayContinue()) {
          this.waiting = true;
          turns.later(goOn);
          return;
        }
      }
      if (!this.isNew) return;
      // The first readers have not seen the latest progress.
      this.isNew = false;
      turns.later(() => this.callOthers(turns));
    };
    goOn();
  }
}

const SMALLEST = 64;

/**
 * Transfers by handle. Not a Map, which allocates a new table every few dozen fetches, and each dropped table keeps the next
 * one and all its entries alive, so that minor collections freed nothing that a fetch had touched. Open addressing with linear
 * probing and backward shift: nothing is allocated as fetches come and go.
 *
 * A row that another thread gave back may belong to another object: an entry whose stamp is not the row's VXID counts as absent.
 */
export class TransferTable {
  private ocs = new Int32Array(SMALLEST);
  private entries: (Transfer | null)[] = new Array<Transfer | null>(SMALLEST).fill(null);
  private mask = SMALLEST - 1;
  private count = 0;
  private readonly objcores: RowTable | null;

  constructor(objcores: RowTable | null = null) {
    this.objcores = objcores;
  }

  get size(): number {
    return this.count;
  }

  get(oc: Oc): Transfer | undefined {
    const at = this.at(oc);
    if (this.ocs[at] === 0) return undefined;
    const transfer = this.entries[at] as Transfer;
    return this.isStale(oc, transfer) ? undefined : transfer;
  }

  set(oc: Oc, transfer: Transfer): void {
    let at = this.at(oc);
    if (this.ocs[at] === 0 && (this.count + 1) * 2 > this.mask) {
      this.sweep();
      if ((this.count + 1) * 2 > this.mask) this.grow();
      at = this.at(oc);
    }
    if (this.ocs[at] === 0) this.count++;
    this.ocs[at] = oc;
    this.entries[at] = transfer;
  }

  delete(oc: Oc): void {
    const { ocs, entries, mask } = this;
    let gap = this.at(oc);
    if (ocs[gap] === 0) return;
    this.count--;
    // The entry after the gap moves into it, unless its search does not pass there.
    for (let i = (gap + 1) & mask; ocs[i] !== 0; i = (i + 1) & mask) {
      const home = place(ocs[i] as Oc) & mask;
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      ocs[gap] = ocs[i] as Oc;
      entries[gap] = entries[i] as Transfer;
      gap = i;
    }
    ocs[gap] = 0;
    entries[gap] = null;
  }

  /** Drops the entries of objects that other threads gave back. */
  private sweep(): void {
    const { objcores } = this;
    if (objcores === null) return;
    for (const oc of this.ocs.filter((each) => each !== 0)) {
      const isGone = !isHeld(objcores.get(oc, REFS) % CLOSED);
      if (isGone || this.isStale(oc, this.entries[this.at(oc)] as Transfer)) this.delete(oc);
    }
  }

  private isStale(oc: Oc, transfer: Transfer): boolean {
    return this.objcores !== null && this.objcores.get(oc, VXID) !== transfer.stamp;
  }

  /** The slot of a handle, or the empty slot where it would go. */
  private at(oc: Oc): number {
    const { ocs, mask } = this;
    let i = place(oc) & mask;
    while (ocs[i] !== oc && ocs[i] !== 0) i = (i + 1) & mask;
    return i;
  }

  private grow(): void {
    const { ocs, entries } = this;
    const size = ocs.length * 2;
    this.ocs = new Int32Array(size);
    this.entries = new Array<Transfer | null>(size).fill(null);
    this.mask = size - 1;
    for (let i = 0; i < ocs.length; i++) {
      if (ocs[i] === 0) continue;
      const at = this.at(ocs[i] as Oc);
      this.ocs[at] = ocs[i] as Oc;
      this.entries[at] = entries[i] as Transfer;
    }
  }
}

/** Handles are row numbers, and consecutive ones are in use together: they are spread. */
function place(oc: Oc): number {
  return Math.imul(oc, 0x9e3779b1) >>> 8;
}
