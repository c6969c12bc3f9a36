// A 4-ary heap of objcore handles, ordered by the end of ttl + grace + keep.
//
// Ends are 32-bit sixteenths of a second since the cache's epoch, rounded up: an object may stay a sixteenth too long, which has
// no effect, since lookups compare the exact times. Ends more than eight years after the epoch are clamped, and checked again when
// they are reached. Never frees an object.

import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { HEAP_POS, type Oc } from './objcore.ts';
import type { RowTable } from './row-table.ts';
import { Regions } from './storage/regions.ts';

const BLOCK_SHIFT = 14;
const BLOCK = 1 << BLOCK_SHIFT;
const MASK = BLOCK - 1;
const TICKS = 16;
const LAST_TICK = 2 ** 32 - 1;
/** Fewer gaps are not worth closing. A guess: they take 8 KiB. */
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
  private readonly memory: MemoryPart;
  private readonly own: Int32Array;

  /** @param epoch seconds, before all ends */
  constructor(objcores: RowTable, epoch: number, memory: MemoryPart = ownMemory()) {
    this.objcores = objcores;
    this.epoch = epoch;
    this.memory = memory;
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

  /** Entries, gaps included. */
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

  /** Position of tidy(), which goes backwards. */
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
    this.memory.assertHeld();
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
    this.memory.assertHeld();
    const at = this.objcores.get(oc, HEAP_POS) - 1;
    if (at < 0) return;
    this.objcores.set(oc, HEAP_POS, 0);
    this.dropAt(at);
  }

  /** Removes many objects. Their entries stay as gaps: closing each one would cost as much as all other work. */
  removeAll(ocs: Int32Array, count: number): void {
    this.memory.assertHeld();
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

  /** Whether enough of the heap is gaps to close them. */
  get untidy(): boolean {
    return this.gaps > MOST_GAPS && this.gaps * 4 > this.length;
  }

  /** Closes the gaps among the next `most` entries. */
  tidy(most: number): void {
    this.memory.assertHeld();
    for (let i = 0; i < most && this.gaps > 0; i++) {
      this.looked = (this.looked === 0 || this.looked > this.length ? this.length : this.looked) - 1;
      if (this.ocAt(this.looked) === 0) this.dropAt(this.looked);
    }
  }

  /** Removes at most `most` objects whose end has passed, in no order; returns how many. Clamped ends are left. */
  takeEnded(now: number, into: Int32Array, most: number): number {
    this.memory.assertHeld();
    const due = Math.min(LAST_TICK - 1, Math.floor((now - this.epoch) * TICKS));
    let count = 0;
    let at = 0;
    for (let i = 0; i < most && this.length > 0 && this.tickAt(0) <= due; i++) {
      const last = this.length - 1;
      // Most objects expire together: then the last one has expired as well, and nothing has to move.
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

  /** Removes an entry whose object no longer refers to it. */
  private dropAt(at: number): void {
    const last = --this.length;
    if (this.ocAt(at) === 0) this.gaps--;
    if (this.gaps === last) this.clear();
    else if (at !== last) this.settle(at, this.ocAt(last), this.tickAt(last));
  }

  /** An ended entry at or below `start` without ended children: the entry that replaces it does not sink far. */
  private lowestEnded(start: number, due: number): number {
    for (let at = start; ; ) {
      const end = Math.min(at * 4 + 5, this.length);
      let child = at * 4 + 1;
      while (child < end && this.tickAt(child) > due) child++;
      if (child >= end) return at;
      at = child;
    }
  }

  /** When an object expires, to a sixteenth of a second; null when it is not in the heap. */
  endOf(oc: Oc): number | null {
    const at = this.objcores.get(oc, HEAP_POS) - 1;
    return at < 0 ? null : this.epoch + this.tickAt(at) / TICKS;
  }

  /** The object that expires first; 0 when there is none, or a gap. */
  first(): Oc {
    return this.length === 0 ? 0 : this.ocAt(0);
  }

  /** Closes a gap at the top. */
  dropFirst(): void {
    this.dropAt(0);
  }

  /** Whether the first end is clamped. */
  get firstIsFar(): boolean {
    return this.length > 0 && this.tickAt(0) === LAST_TICK;
  }

  /** When the first object expires, in epoch seconds, or earlier with a gap at the top; infinity when there is none. */
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

  /** Places an entry, starting from the gap at `start`. */
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
