// The order in which one storage's objects were last used: a doubly linked list through their objcore rows.
// Never decides what to evict and never follows a reference count; young end first.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { BATCH, LRU_NEXT, LRU_PREV, LRU_TIME, META, type Oc, OF_IN_LRU } from '../objcore.ts';
import type { RowTable } from '../row-table.ts';

const YOUNG = 0;
const OLD = 1;

export class Lru {
  private readonly objcores: RowTable;
  /** The ends of the list. */
  private readonly own: Int32Array;
  /** Scratch of removeAll(): neighbours. */
  private readonly near = new Int32Array(2 * BATCH);

  constructor(objcores: RowTable, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.own = memory.words(2);
  }

  get oldest(): Oc {
    return this.own[OLD] as Oc;
  }

  /** The next younger one. */
  younger(oc: Oc): Oc {
    return this.objcores.get(oc, LRU_PREV);
  }

  /** Puts an object at the young end; `time` is sixteenths of a second since the cache's epoch. */
  add(oc: Oc, time: number): void {
    const rows = this.objcores;
    const young = this.own[YOUNG] as Oc;
    rows.set(oc, LRU_PREV, 0);
    rows.set(oc, LRU_NEXT, young);
    rows.set(oc, LRU_TIME, time);
    rows.set(oc, META, rows.get(oc, META) | OF_IN_LRU);
    if (young === 0) this.own[OLD] = oc;
    else rows.set(young, LRU_PREV, oc);
    this.own[YOUNG] = oc;
  }

  /** Takes out many that are not to be used again; reads first what that needs. */
  removeAll(ocs: Int32Array, count: number): void {
    const { objcores: rows, near } = this;
    for (let i = 0; i < count; i++) {
      near[i * 2] = rows.get(ocs[i] as Oc, LRU_PREV);
      near[i * 2 + 1] = rows.get(ocs[i] as Oc, LRU_NEXT);
    }
    rows.touchAll(near, count * 2, LRU_NEXT);
    for (let i = 0; i < count; i++) this.unlink(ocs[i] as Oc);
  }

  remove(oc: Oc): void {
    const rows = this.objcores;
    this.unlink(oc);
    rows.set(oc, META, rows.get(oc, META) & ~OF_IN_LRU);
  }

  private unlink(oc: Oc): void {
    const rows = this.objcores;
    const prev = rows.get(oc, LRU_PREV);
    const next = rows.get(oc, LRU_NEXT);
    if (prev === 0) this.own[YOUNG] = next;
    else rows.set(prev, LRU_NEXT, next);
    if (next === 0) this.own[OLD] = prev;
    else rows.set(next, LRU_PREV, prev);
  }
}
