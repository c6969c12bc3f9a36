// The transfers by handle. A Map would do but for the collector: it makes a new table every few dozen
// fetches, and each table that it left holds the next one and all that was in it, so that nothing a fetch ever
// touched was freed by the quick collections. Here nothing is made while a fetch comes and goes.
//
// The row of an object that another thread gave back may be another object's by now. Each entry therefore has the id that
// its row had, and one with another is as good as absent.
//
// Open addressing with linear probing; what is taken out is closed up, so that a search ends at the first gap.

import { CLOSED, isHeld, type Oc, REFS, VXID } from './objcore.ts';
import type { RowTable } from './row-table.ts';
import type { Transfer } from './transfer.ts';

const SMALLEST = 64;

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

  /** Adds what is not there yet. */
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

  /** Drops the entries of objects that others gave back. */
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

  /** The place of a handle, or the gap where it would be. */
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

/** Handles are row numbers, which neighbours in time share the beginning of. */
function place(oc: Oc): number {
  return Math.imul(oc, 0x9e3779b1) >>> 8;
}
