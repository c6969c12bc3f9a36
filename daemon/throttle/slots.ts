// Slots for the calls that run at once: each is a word that is zero, or has the thread that holds it and its last sign
// of life. A thread renews its slots while it holds any; other threads may take slots of one that has been silent for
// longer than the lease, and those of a thread that is known to have ended are freed at once. A thread's own slots
// never lapse for itself.
//
// The difficult case is a thread that did not end but computed for longer than the lease: it loses its slots to others,
// and notices when it frees them.

import { MOST_IN_WORD, numberOf, stampedWord, timeOf } from './stamped-word.ts';
import { threadsTime } from './steady-clock.ts';

/** Signs of life per lease (chosen: two may be late). */
const SIGNS = 4;

/** A slot held by this thread. */
export interface HeldSlot {
  readonly slot: number;
  word: bigint;
}

export class Slots {
  private readonly words: BigInt64Array;
  private readonly first: number;
  private readonly count: number;
  /** This thread's number in the slots, from 1. */
  private readonly owner: number;
  /** Milliseconds of real time, whatever clock the limit has, because it is real threads that die. */
  private readonly lease: number;
  private readonly held = new Set<HeldSlot>();
  private signs: ReturnType<typeof setInterval> | undefined;
  private known = false;

  constructor(words: BigInt64Array, first: number, count: number, thread: number, lease: number) {
    this.words = words;
    this.first = first;
    this.count = count;
    this.owner = ownerOf(thread);
    this.lease = lease;
  }

  /** Call before other threads may use the slots. */
  share(): void {
    if (this.known) return;
    this.known = true;
    if (this.held.size === 0) return;
    this.renew();
    this.giveSigns();
  }

  /** Whether other threads may free or take slots. */
  get shared(): boolean {
    return this.known;
  }

  acquire(): HeldSlot | undefined {
    const now = threadsTime();
    for (let slot = this.first; slot < this.first + this.count; slot++) {
      const seen = Atomics.load(this.words, slot);
      if (seen !== 0n && !this.lapsed(seen, now)) continue;
      const word = stampedWord(now, this.owner);
      if (Atomics.compareExchange(this.words, slot, seen, word) !== seen) continue;
      const held = { slot, word };
      this.held.add(held);
      if (this.known) this.giveSigns();
      return held;
    }
    return undefined;
  }

  release(held: HeldSlot): void {
    if (!this.held.delete(held)) return;
    Atomics.compareExchange(this.words, held.slot, held.word, 0n);
    if (this.held.size > 0) return;
    clearInterval(this.signs);
    this.signs = undefined;
  }

  /** Frees the slots of a thread that has ended. */
  free(thread: number): void {
    for (let slot = this.first; slot < this.first + this.count; slot++) {
      const seen = Atomics.load(this.words, slot);
      if (numberOf(seen) === ownerOf(thread)) Atomics.compareExchange(this.words, slot, seen, 0n);
    }
  }

  /** Number of slots in use. */
  taken(): number {
    const now = threadsTime();
    let taken = 0;
    for (let slot = this.first; slot < this.first + this.count; slot++) {
      const seen = Atomics.load(this.words, slot);
      if (seen !== 0n && !this.lapsed(seen, now)) taken++;
    }
    return taken;
  }

  private lapsed(word: bigint, now: number): boolean {
    return numberOf(word) !== this.owner && now - timeOf(word) > this.lease;
  }

  private giveSigns(): void {
    this.signs ??= setInterval(() => this.renew(), this.lease / SIGNS).unref();
  }

  private renew(): void {
    const next = stampedWord(threadsTime(), this.owner);
    for (const held of this.held) {
      const { slot, word } = held;
      // A slot that another thread has taken keeps its old word, so that release() does not match it.
      if (Atomics.compareExchange(this.words, slot, word, next) === word) held.word = next;
    }
  }
}

function ownerOf(thread: number): number {
  return (thread % MOST_IN_WORD) + 1;
}
