// The ends of objects: a 4-ary heap of objcore handles, ordered by the end of ttl + grace + keep.
//
// Ends are kept as 32-bit sixteenths of a second since the cache's epoch, rounded up: an object may stay a
// sixteenth too long, which nobody sees, because lookups compare the exact times. Never frees an object;
// ends beyond eight years are brought to eight years and looked at again then.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { HEAP_POS, type Oc } from './objcore.ts';
import type { RowTable } from './row-table.ts';
import { Regions } from './storage/regions.ts';

const BLOCK_SHIFT = 14;
const BLOCK = 1 << BLOCK_SHIFT;
const MASK = BLOCK - 1;
const TICKS = 16;
const LAST_TICK = 2 ** 32 - 1;
/** Fewer gaps are never worth the work. A guess: they are 8 KiB. */
const MOST_GAPS = 1024;

/** Words of the heap itself. */
const LENGTH = 0;
const GAPS = 1;
const LOOKED = 2;
const HEAP_WORDS = 3;

export class ExpiryHeap {
  private readonly objcores: RowTable;
  private readonly epoch: number;
  // Pairs of handle and tick, in blocks: growing never copies.
  private readonly blocks: Uint32Array[] = [];
  private readonly regions: Regions;
  private readonly own: Int32Array;

  /** `epoch`: point in time before all ends. */
  constructor(objcores: RowTable, epoch: number, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.epoch = epoch;
    this.regions = new Regions(BLOCK * 8, memory.part('entries'));
    this.own = memory.words(HEAP_WORDS);
    this.attach();
    memory.onGrowth(() => this.attach());
  }

  private attach(): void {
    for (const { memory, at } of this.regions.made(this.blocks.length)) {
      this.blocks.push(new Uint32Array(memory, at, BLOCK * 2));
    }
  }

  /** Entries, those without an object among them. */
  private get length(): number {
    return this.own[LENGTH] as number;
  }

  private set length(entries: number) {
    this.own[LENGTH] = entries;
  }

  /** Entries without an object. */
  private get gaps(): number {
    return this.own[GAPS] as number;
  }

  private set gaps(entries: number) {
    this.own[GAPS] = entries;
  }

  /** The place where tidy() is, counted from the beginning: it goes backwards. */
  private get looked(): number {
    return this.own[LOOKED] as number;
  }

  private set looked(place: number) {
    this.own[LOOKED] = place;
  }

  get size(): number {
    return this.length - this.gaps;
  }

  /** Adds an object, or moves it when its end has changed. `end` in epoch seconds. */
  set(oc: Oc, end: number): void {
    const tick = Math.max(0, Math.min(LAST_TICK, Math.ceil((end - this.epoch) * TICKS)));
    let at = this.objcores.get(oc, HEAP_POS) - 1;
    if (at < 0) {
      at = this.length++;
      if (at >>> BLOCK_SHIFT >= this.blocks.length) {
        this.regions.take(at >>> BLOCK_SHIFT);
        this.attach();
      }
    }
    this.settle(at, oc, tick);
  }

  remove(oc: Oc): void {
    const at = this.objcores.get(oc, HEAP_POS) - 1;
    if (at < 0) return;
    this.objcores.set(oc, HEAP_POS, 0);
    this.dropAt(at);
  }

  /** Removes many. Their entries stay as gaps, since to close each one would cost as much as all else. */
  removeAll(ocs: Int32Array, count: number): void {
    const { objcores, blocks } = this;
    for (let i = 0; i < count; i++) {
      const at = objcores.get(ocs[i] as Oc, HEAP_POS) - 1;
      if (at < 0) continue;
      objcores.set(ocs[i] as Oc, HEAP_POS, 0);
      (blocks[at >>> BLOCK_SHIFT] as Uint32Array)[(at & MASK) * 2] = 0;
      this.gaps++;
    }
    if (this.gaps === this.length) this.clear();
  }

  /** There are only gaps. */
  private clear(): void {
    this.length = 0;
    this.gaps = 0;
  }

  /** Whether so much of the heap is gaps that they should be closed. */
  get untidy(): boolean {
    return this.gaps > MOST_GAPS && this.gaps * 4 > this.length;
  }

  /** Looks at so many entries, and closes the gaps among them. */
  tidy(most: number): void {
    for (let i = 0; i < most && this.gaps > 0; i++) {
      this.looked = (this.looked === 0 || this.looked > this.length ? this.length : this.looked) - 1;
      if (this.ocAt(this.looked) === 0) this.dropAt(this.looked);
    }
  }

  /** Takes out objects whose end has come, at most so many, in no order; returns how many. Those whose end was too far
   * off to be noted are not among them. */
  takeEnded(now: number, into: Int32Array, most: number): number {
    const due = Math.min(LAST_TICK - 1, Math.floor((now - this.epoch) * TICKS));
    let count = 0;
    let at = 0;
    for (let i = 0; i < most && this.length > 0 && this.tickAt(0) <= due; i++) {
      const last = this.length - 1;
      // When most objects go, the last one goes too, and nothing has to move.
      at = this.tickAt(last) <= due ? last : this.lowestEnded(at > last ? 0 : at, due);
      const oc = this.ocAt(at);
      if (oc !== 0) into[count++] = oc;
      this.dropAt(at);
      // An entry above an ended one is ended too.
      at = at === 0 ? 0 : (at - 1) >>> 2;
    }
    for (let i = 0; i < count; i++) this.objcores.set(into[i] as Oc, HEAP_POS, 0);
    return count;
  }

  /** Takes an entry out, whose object does not know it any more, or is gone. */
  private dropAt(at: number): void {
    const last = --this.length;
    if (this.ocAt(at) === 0) this.gaps--;
    if (this.gaps === last) this.clear();
    else if (at !== last) this.settle(at, this.ocAt(last), this.tickAt(last));
  }

  /** An ended entry from `start` downwards below which none is: the entry that takes its place does not have far to
   * go. */
  private lowestEnded(start: number, due: number): number {
    for (let at = start; ; ) {
      const end = Math.min(at * 4 + 5, this.length);
      let child = at * 4 + 1;
      while (child < end && this.tickAt(child) > due) child++;
      if (child >= end) return at;
      at = child;
    }
  }

  /** When an object dies, to a sixteenth of a second; null when that is not known yet. */
  endOf(oc: Oc): number | null {
    const at = this.objcores.get(oc, HEAP_POS) - 1;
    return at < 0 ? null : this.epoch + this.tickAt(at) / TICKS;
  }

  /** The object that dies first; 0 when there is none or a gap in its place. */
  first(): Oc {
    return this.length === 0 ? 0 : this.ocAt(0);
  }

  /** Closes the gap in the first place. */
  dropFirst(): void {
    this.dropAt(0);
  }

  /** Whether the first one's end was too far off to be noted. */
  get firstIsFar(): boolean {
    return this.length > 0 && this.tickAt(0) === LAST_TICK;
  }

  /** When the first object dies, in epoch seconds, or earlier where there is a gap; infinity when there is none. */
  firstEnd(): number {
    return this.length === 0 ? Number.POSITIVE_INFINITY : this.epoch + this.tickAt(0) / TICKS;
  }

  private ocAt(at: number): Oc {
    return (this.blocks[at >>> BLOCK_SHIFT] as Uint32Array)[(at & MASK) * 2] as number;
  }

  private tickAt(at: number): number {
    return (this.blocks[at >>> BLOCK_SHIFT] as Uint32Array)[(at & MASK) * 2 + 1] as number;
  }

  private put(at: number, oc: Oc, tick: number): void {
    const block = this.blocks[at >>> BLOCK_SHIFT] as Uint32Array;
    block[(at & MASK) * 2] = oc;
    block[(at & MASK) * 2 + 1] = tick;
    if (oc !== 0) this.objcores.set(oc, HEAP_POS, at + 1);
  }

  /** Finds the place for an entry, starting from the gap at `at`. */
  private settle(start: number, oc: Oc, tick: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >>> 2;
      const parentTick = this.tickAt(parent);
      if (parentTick <= tick) break;
      this.put(at, this.ocAt(parent), parentTick);
      at = parent;
    }
    for (;;) {
      const from = at * 4 + 1;
      if (from >= this.length) break;
      let least = from;
      let leastTick = this.tickAt(from);
      for (let child = from + 1; child < from + 4 && child < this.length; child++) {
        const childTick = this.tickAt(child);
        if (childTick < leastTick) {
          least = child;
          leastTick = childTick;
        }
      }
      if (leastTick >= tick) break;
      this.put(at, this.ocAt(least), leastTick);
      at = least;
    }
    this.put(at, oc, tick);
  }
}
