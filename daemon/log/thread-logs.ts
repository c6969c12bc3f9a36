// Orders the records of several threads as clients have seen the responses. A client has a response before the thread
// that wrote it has logged its end, and the client's next request may go to another thread. So a thread takes a number
// before each write to a client. The records up to the end of that transaction form a piece with this number, which
// also carries the last number given out when the transaction began: the piece may depend on everything smaller. It is
// written after all pieces up to that number, which its thread writes as well, and not while one of them is still
// pending. This delays records and nothing else: no thread waits for them. Transactions that overlapped may be in any
// order.
//
// A thread that ends several requests in a turn takes no numbers in the next one, and its records depend on nothing:
// fetching other threads' records from their processors' caches was measured to cost a tenth of a hit. So under high
// load a line may be a turn late, as in Varnish.
//
// Special cases: a write may not be the end of a response, which its request knows a turn later at the latest; its
// number stays pending until then. So does that of a request whose fetch has yet to log its end. Numbers are odd, since
// 0 means none, and wrap: they are compared by their distance.

import type { MemoryPart } from '../threads/shared-memory.ts';
import { Outbox } from './outbox.ts';
import { BLOCK_HEAD } from './ring-format.ts';

/** Requests ended in a turn from which a thread counts as busy: a client that sends one after another has one. */
const BUSY = 2;

/** Records copied into a block that is about to be written. */
export interface Taken {
  /** The end of the bytes, which begin after room for the block's head. */
  pos: number;
  records: number;
}

export class ThreadLogs {
  readonly own: Outbox;
  /** The last number given out. */
  private readonly last: Int32Array;
  private readonly all: readonly Outbox[];
  /** By thread: the end of the pieces that may be taken, and the next piece to take. */
  private readonly ends: number[];
  private readonly next: number[];
  /** The number that was pending at the end of the last turn. */
  private lapsing = 0;
  /** Requests that ended in this turn. */
  private answers = 0;
  /** Whether the last turn ended too many requests to keep them in order. */
  private isBusy = false;

  /** @param size of each thread's staging buffer */
  constructor(memory: MemoryPart, thread: number, threads: number, size: number) {
    this.last = memory.part('order').words(1);
    this.all = Array.from({ length: threads }, (_, t) => new Outbox(memory.part(`outbox${t}`), size));
    this.own = this.all[thread] as Outbox;
    this.ends = this.all.map(() => 0);
    this.next = this.all.map(() => 0);
  }

  /** Call before a write to a client. */
  answering(): void {
    if (!this.isBusy) this.own.pending = this.number();
  }

  /** Call when a request has ended, with its last record before `pos`, the `count`th of the staging buffer.
   * @param began the last number when it began @param isAll whether all its records are there */
  answered(began: number, pos: number, count: number, isAll: boolean): void {
    const { own } = this;
    const { pending } = own;
    this.answers++;
    if (pending === 0) return;
    own.add(pending, began, pos, count);
    if (isAll) own.pending = 0;
  }

  /** At the end of a turn: adds the records that are in no piece yet, and drops a number that was pending for a whole
   * turn. Returns whether a number is still pending. */
  turnEnded(pos: number, count: number): boolean {
    const { own } = this;
    const { pending } = own;
    this.isBusy = this.answers >= BUSY;
    this.answers = 0;
    if (pending !== 0 && this.lapsing !== pending) {
      this.lapsing = pending;
      return true;
    }
    this.addAll(pos, count, pending);
    if (pending !== 0) own.pending = 0;
    return false;
  }

  /** Adds the records that are in no piece yet, as a piece that depends on nothing.
   * @param number 0 for a new one */
  addAll(pos: number, count: number, number = 0): void {
    if (pos > this.own.addedTo) this.own.add(number === 0 ? this.number() : number, 0, pos, count);
  }

  /** Returns the last number that a transaction which begins now may depend on, for answered(). */
  begin(): number {
    return this.isBusy ? 0 : this.now;
  }

  /** The last number. */
  private get now(): number {
    return Atomics.load(this.last, 0);
  }

  /** Whether all of this thread's buffer may be written as it is, with nothing before it. This and the methods below
   * need the lock. */
  get isOwnAlone(): boolean {
    const { own, all, ends, next } = this;
    if (own.taken !== 0) return false;
    this.findTakeable(false);
    for (let t = 0; t < all.length; t++) {
      if (all[t] === own ? ends[t] !== own.added : ends[t] !== next[t]) return false;
    }
    return true;
  }

  /** Copies the pieces that may be written into a block, as far as there is room; returns whether more is left.
   * @param force all pieces of this thread, and none of others */
  takeInto(block: Uint8Array, limit: number, taken: Taken, force: boolean): boolean {
    const { all, ends, next } = this;
    taken.pos = BLOCK_HEAD;
    taken.records = 0;
    this.findTakeable(force);
    for (;;) {
      const t = this.first();
      if (t < 0) return false;
      const box = all[t] as Outbox;
      // Successive pieces of one thread are copied together. The first has the smallest number of all, so it waits for
      // none.
      const others = this.smallestBut(t);
      const room = limit - taken.pos + box.takenTo;
      let piece = next[t] as number;
      while (piece < (ends[t] as number) && box.endOf(piece) <= room) {
        if (piece > (next[t] as number) && others !== 0 && isAfter(box.beganOf(piece), others)) break;
        piece++;
      }
      if (piece === next[t]) return true;
      const from = box.takenTo;
      const to = box.endOf(piece - 1);
      block.set(box.bytes.subarray(from, to), taken.pos);
      taken.pos += to - from;
      taken.records += box.takeUpTo(piece);
      next[t] = piece;
    }
  }

  /** Takes all pieces of this thread in place; returns their number of records. */
  takeOwn(): number {
    return this.own.takeUpTo(this.own.added);
  }

  private number(): number {
    return Atomics.add(this.last, 0, 2) | 1;
  }

  /**
   * Finds the pieces that may be taken: those of this thread that began before everything pending elsewhere, and those
   * of others that they may depend on. Caution: the order of the reads matters. Whatever such a piece depends on was
   * pending before the last number was read: it is pending now, or it is among the pieces, which are read after that.
   */
  private findTakeable(force: boolean): void {
    const { all, ends, next, own } = this;
    const last = this.now;
    let bound = 0;
    for (let t = 0; t < all.length; t++) {
      const { pending } = all[t] as Outbox;
      if (pending !== 0 && (bound === 0 || ((pending - bound) | 0) < 0)) bound = pending;
    }
    let most = 0;
    let end = own.taken;
    const { added } = own;
    for (; end < added && !force; end++) {
      const began = own.beganOf(end);
      if (((own.numberOf(end) - last) | 0) > 0 || (bound !== 0 && isAfter(began, bound))) break;
      if (began !== 0 && (most === 0 || ((began - most) | 0) > 0)) most = began;
    }
    for (let t = 0; t < all.length; t++) {
      const box = all[t] as Outbox;
      next[t] = box.taken;
      ends[t] = box === own ? (force ? added : end) : most === 0 ? box.taken : endUpTo(box, most);
    }
  }

  /** The thread with the smallest number; -1 when no piece is left. */
  private first(): number {
    let found = -1;
    let smallest = 0;
    for (let t = 0; t < this.all.length; t++) {
      const piece = this.next[t] as number;
      if (piece === this.ends[t]) continue;
      const number = (this.all[t] as Outbox).numberOf(piece);
      if (found >= 0 && ((number - smallest) | 0) > 0) continue;
      found = t;
      smallest = number;
    }
    return found;
  }

  /** The smallest number of all threads but one; 0 when they have none. */
  private smallestBut(thread: number): number {
    let smallest = 0;
    for (let t = 0; t < this.all.length; t++) {
      const piece = this.next[t] as number;
      if (t === thread || piece === this.ends[t]) continue;
      const number = (this.all[t] as Outbox).numberOf(piece);
      if (smallest === 0 || ((number - smallest) | 0) < 0) smallest = number;
    }
    return smallest;
  }
}

/** Whether a piece that began at this number may depend on that one; one that began at 0 depends on nothing. */
function isAfter(began: number, number: number): boolean {
  return began !== 0 && ((began - number) | 0) >= 0;
}

/** The index after the last piece up to a number. */
function endUpTo(box: Outbox, most: number): number {
  const { added } = box;
  let end = box.taken;
  while (end < added && ((box.numberOf(end) - most) | 0) <= 0) end++;
  return end;
}
