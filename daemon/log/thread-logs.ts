// What several threads have logged, in the order in which a client has seen their answers. A client has an answer before
// the thread that wrote it has logged its end, and its next request may be another thread's. So a thread takes a
// number before each write to a client. The records up to the end of that transaction are a piece of this number, which
// also says what the last number was when the transaction began: of all that is smaller it may be the consequence. It is
// written after all pieces up to that one, which its thread writes as well, and not while one of them is still to come.
// That delays records, and nothing else: nobody waits for them. What was under way at the same time is in any order.
//
// A thread that ends several requests in a turn takes no numbers in the next one, whose records are the consequence of
// nothing: taking others' records from their processors' caches was measured to cost a tenth of a hit. So under much
// load a line may be a turn late, as it is in Varnish.
//
// Special cases: a write may be none that ends an answer, which its request knows a turn later at the latest; its number
// counts until then. So does that of a request whose fetch is still to log its end. Numbers are odd, since 0 is none, and
// wrap: they are compared by their distance.

import type { MemoryPart } from '../threads/shared-memory.ts';
import { Outbox } from './outbox.ts';
import { BLOCK_HEAD } from './ring-format.ts';

/** Requests of one thread that end in a turn, from which on it is busy: a client that asks one after another has one. */
const BUSY = 2;

/** What is taken, in a block to be written. */
export interface Taken {
  /** The end of the bytes, which begin after room for the block's head. */
  pos: number;
  records: number;
}

export class ThreadLogs {
  readonly own: Outbox;
  /** The last number that was given out. */
  private readonly last: Int32Array;
  private readonly all: readonly Outbox[];
  /** Of each thread, the pieces that are there and the next one to be taken. */
  private readonly ends: number[];
  private readonly next: number[];
  /** What was pending at the end of the last turn. */
  private lapsing = 0;
  /** Requests that have ended in this turn. */
  private answers = 0;
  /** Whether the last turn brought more of them than are kept in order. */
  private isBusy = false;

  /** @param size of each thread's staging buffer */
  constructor(memory: MemoryPart, thread: number, threads: number, size: number) {
    this.last = memory.part('order').words(1);
    this.all = Array.from({ length: threads }, (_, t) => new Outbox(memory.part(`outbox${t}`), size));
    this.own = this.all[thread] as Outbox;
    this.ends = this.all.map(() => 0);
    this.next = this.all.map(() => 0);
  }

  /** Before a write to a client. */
  answering(): void {
    if (!this.isBusy) this.own.pending = this.number();
  }

  /** A request has ended with the record before `pos`, which is the staging buffer's `count`th.
   * @param began the last number when it began @param isAll nothing that belongs to it is still to come */
  answered(began: number, pos: number, count: number, isAll: boolean): void {
    const { own } = this;
    const { pending } = own;
    this.answers++;
    if (pending === 0) return;
    own.add(pending, began, pos, count);
    if (isAll) own.pending = 0;
  }

  /** At the end of a turn: adds what is in no piece yet; gives up a number of which nothing has come in a whole turn.
   * Whether one is left, with which there may be an end to come. */
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

  /** Adds what is in no piece yet, whatever is to come. It is the consequence of nothing.
   * @param number 0 for a new one */
  addAll(pos: number, count: number, number = 0): void {
    if (pos > this.own.addedTo) this.own.add(number === 0 ? this.number() : number, 0, pos, count);
  }

  /** What a transaction that begins now may be the consequence of, for answered(). */
  begin(): number {
    return this.isBusy ? 0 : this.now;
  }

  /** The last number. */
  private get now(): number {
    return Atomics.load(this.last, 0);
  }

  /** Whether all of this thread's buffer may be written as it is, and nothing else before it: under the lock, as all
   * below. */
  get isOwnAlone(): boolean {
    const { own, all, ends, next } = this;
    if (own.taken !== 0) return false;
    this.look(false);
    for (let t = 0; t < all.length; t++) {
      if (all[t] === own ? ends[t] !== own.added : ends[t] !== next[t]) return false;
    }
    return true;
  }

  /** Moves to a block what may be written, as far as there is room; whether more is left.
   * @param force all of this thread's, and of no other */
  takeInto(block: Uint8Array, limit: number, taken: Taken, force: boolean): boolean {
    const { all, ends, next } = this;
    taken.pos = BLOCK_HEAD;
    taken.records = 0;
    this.look(force);
    for (;;) {
      const t = this.first();
      if (t < 0) return false;
      const box = all[t] as Outbox;
      // Those of one thread that follow one another are copied together. The first one has the smallest number of all, so
      // that it waits for none.
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

  /** Takes all of this thread's as it lies in its buffer; the records. */
  takeOwn(): number {
    return this.own.takeUpTo(this.own.added);
  }

  private number(): number {
    return Atomics.add(this.last, 0, 2) | 1;
  }

  /**
   * Finds what may be taken: this thread's pieces that began before all that is pending elsewhere, and those of others that
   * they may be the consequence of. Caution: the order of reading. What such a piece may be the consequence of was pending
   * before the last number was read: it is now, or it is among the pieces, which are read after that.
   */
  private look(force: boolean): void {
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

  /** The thread with the smallest number; -1 when nothing is left. */
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

/** Whether a piece that began with this number may be the consequence of that one; 0 is the consequence of nothing. */
function isAfter(began: number, number: number): boolean {
  return began !== 0 && ((began - number) | 0) >= 0;
}

/** The end of the pieces up to a number. */
function endUpTo(box: Outbox, most: number): number {
  const { added } = box;
  let end = box.taken;
  while (end < added && ((box.numberOf(end) - most) | 0) <= 0) end++;
  return end;
}
