// Brings the memory of objects that are about to be taken out into the processor's caches. Among a million objects
// each one's row, neighbours, key and block lie anywhere, and a program that comes to them one by one waits ten times
// an object for memory; reads that do not depend on each other are under way together. Changes nothing, and whoever
// does without it is only slower.

import type { Expiry } from './expiry.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';

export class Warming {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly expiry: Expiry;
  /** What was read; kept so that the reads count as used. */
  private sum = 0;

  constructor(o: { rows: Rows; store: ObjectStore; objheads: Objheads; expiry: Expiry }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.expiry = o.expiry;
  }

  /** The first `count` objects of a list. */
  warm(ocs: Int32Array, count: number): void {
    const { rows, store, objheads, expiry } = this;
    let sum = 0;
    // A row lies in two lines of memory.
    for (let i = 0; i < count; i++) sum ^= rows.get(ocs[i] as Oc, 0) ^ rows.get(ocs[i] as Oc, row.SURROGATE);
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      sum ^= rows.get(rows.get(oc, row.LRU_PREV), row.LRU_NEXT);
      sum ^= rows.get(rows.get(oc, row.LRU_NEXT), row.LRU_PREV);
      const oh = rows.get(oc, row.OBJHEAD);
      if (oh !== 0) sum ^= objheads.touchKey(oh);
      const block = rows.get(oc, row.HEAD_BLOCK) >>> 0;
      if (block !== 0) sum ^= store.stevedoreOf(oc).slab.touch(block);
      sum ^= expiry.touch(rows.get(oc, row.HEAP_POS) - 1);
    }
    for (let i = 0; i < count; i++) {
      const oh = rows.get(ocs[i] as Oc, row.OBJHEAD);
      if (oh !== 0) sum ^= objheads.touchSlot(oh);
      // The last of the heap takes the place of one that goes.
      sum ^= rows.get(expiry.fromEnd(i), row.HEAP_POS);
    }
    this.sum = sum;
  }

  get read(): number {
    return this.sum;
  }
}
