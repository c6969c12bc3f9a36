// State of each backend that the threads of a worker share: its connections in use, the fetches that wait for one, the
// result of the probe that the first thread runs, the health set by the operator, and the number in its name if several
// backends would have the same name. Each backend has a row in shared memory, found by a digest of its key, so that all
// threads find the same row without a message. The row is freed when no thread uses the backend any more.
//
// Special case: the table is bounded. A backend without a row counts alone, with its thread's share of the limit, and
// polls for itself.

import { createHash } from 'node:crypto';
import type { AdminHealth } from '../contract/context.ts';
import { healthEpoch } from '../contract/health-epoch.ts';
import type { Lock } from '../threads/shared-lock.ts';
import type { MemoryPart } from '../threads/shared-memory.ts';

/** Rows (chosen): the backends of sixteen programs with the most run-time backends. */
const ROWS = 16 * 1024;
/** Words per row: a cache line, so that threads that count in different rows do not slow each other down. */
const WIDTH = 16;

/** The digest of the key takes the first words of a row. */
const DIGEST = 4;
/** The next row in the same hash chain, or the next free one; 0 for none. */
const NEXT = 4;
/** Number of threads' backends that use the row. */
const HOLDERS = 5;
const IN_USE = 6;
/** Fetches that wait for a connection. */
const WAITING = 7;
/** Two bytes: the index in HEALTHS and that in ADMINS. */
const VERDICTS = 8;
const HEALTH = 0;
const ADMIN = 1;
/** Number among the backends of its name, from 1. */
const NUMBER = 9;
/** Two words: epoch seconds of the last change, as a float. */
const CHANGED = 10;
/** Digest of its name without the number. */
const NAME = 12;

/** Words of row 0, which no backend has: the first free row, the number of rows ever used, and the epoch of health. */
const FREE = 0;
const TAKEN = 1;
const EPOCH = 2;

/** Null until the first thread has published a verdict. */
const HEALTHS: readonly (boolean | null)[] = [null, false, true];
const ADMINS: readonly AdminHealth[] = ['auto', 'healthy', 'sick'];

/** A thread among those of a worker. */
export interface ThreadPlace {
  readonly thread: number;
  /** Threads, this one included. */
  readonly count: number;
}

/** The row of one backend in one thread. */
export class BackendRow {
  /** Whether another thread runs the probe of this backend. */
  readonly follows: boolean;
  /** Whether this thread writes the records of the backend's probe. */
  readonly isFirst: boolean;
  /** Shares into which a limit is divided: one when all threads count together. */
  private readonly parts: number;
  private readonly giveBack: (at: number) => void;
  private words: Int32Array;
  private times: Float64Array;
  private bytes: Uint8Array;
  private at: number;

  constructor(words: Int32Array, at: number, { thread, count }: ThreadPlace, giveBack: (at: number) => void) {
    const isShared = at > 0;
    this.words = words;
    this.times = new Float64Array(words.buffer, 0, words.length >> 1);
    this.bytes = new Uint8Array(words.buffer);
    this.at = at;
    this.isFirst = thread === 0;
    this.follows = isShared && thread > 0;
    this.parts = isShared ? 1 : count;
    this.giveBack = giveBack;
  }

  /** Takes a connection; false when `max` are in use. 0 is no limit. */
  enter(max: number): boolean {
    if (max > 0) return this.take(IN_USE, max);
    Atomics.add(this.words, this.at + IN_USE, 1);
    return true;
  }

  leave(): void {
    Atomics.sub(this.words, this.at + IN_USE, 1);
  }

  /** One more fetch waits for a connection; false when `max` do. 0 is none. */
  queue(max: number): boolean {
    return max > 0 && this.take(WAITING, max);
  }

  /** It waits no longer. */
  unqueue(): void {
    Atomics.sub(this.words, this.at + WAITING, 1);
  }

  /** Whether one more connection leaves another under the limit. */
  hasSpare(max: number): boolean {
    return max === 0 || this.inUse < this.limitOf(max) - 1;
  }

  /** Connections of all threads. */
  get inUse(): number {
    return Atomics.load(this.words, this.at + IN_USE);
  }

  /** Number among the backends that joined under the same name, from 1; null without a name, or without a row. */
  get number(): number | null {
    return this.words[this.at + NUMBER] || null;
  }

  /** Verdict of the probe; null until the first thread has published one. */
  get healthy(): boolean | null {
    return HEALTHS[Atomics.load(this.bytes, this.verdict(HEALTH))] as boolean | null;
  }

  set healthy(healthy: boolean | null) {
    Atomics.store(this.bytes, this.verdict(HEALTH), HEALTHS.indexOf(healthy));
  }

  get admin(): AdminHealth {
    return ADMINS[Atomics.load(this.bytes, this.verdict(ADMIN))] as AdminHealth;
  }

  set admin(admin: AdminHealth) {
    Atomics.store(this.bytes, this.verdict(ADMIN), ADMINS.indexOf(admin));
  }

  /** Epoch seconds; 0 until the first thread has published. */
  get changedAt(): number {
    return this.times[(this.at + CHANGED) / 2] as number;
  }

  set changedAt(seconds: number) {
    this.times[(this.at + CHANGED) / 2] = seconds;
  }

  /** Frees the row. This object keeps a private copy, because an old backend may still be read. */
  release(): void {
    const { words, at } = this;
    if (at === 0) return;
    const own = words.slice(at, at + WIDTH);
    own[IN_USE] = 0;
    own[WAITING] = 0;
    this.words = own;
    this.times = new Float64Array(own.buffer);
    this.bytes = new Uint8Array(own.buffer);
    this.at = 0;
    this.giveBack(at);
  }

  /** Counts one more in a word of the row; false when it is at the limit. */
  private take(word: number, max: number): boolean {
    const { words, at } = this;
    const limit = this.limitOf(max);
    // Not by incrementing and undoing: until the undo another thread would see one that does not exist.
    for (let taken = Atomics.load(words, at + word); taken < limit; ) {
      const seen = Atomics.compareExchange(words, at + word, taken, taken + 1);
      if (seen === taken) return true;
      taken = seen;
    }
    return false;
  }

  /** Position of a verdict among the bytes. */
  private verdict(which: number): number {
    return (this.at + VERDICTS) * Int32Array.BYTES_PER_ELEMENT + which;
  }

  /** At least one, or a thread could not use the backend at all: a limit below the number of threads may be
   * exceeded. */
  private limitOf(max: number): number {
    return this.parts === 1 ? max : Math.max(1, Math.floor(max / this.parts));
  }
}

export class SharedBackends {
  private readonly words: Int32Array;
  private readonly lock: Lock;
  private readonly place: ThreadPlace;
  private readonly rows: number;
  /** Position of the hash chains' heads: these words come after all rows. */
  private readonly heads: number;

  /** @param memory the same in all threads, like the lock */
  constructor(memory: MemoryPart, lock: Lock, place: ThreadPlace, rows = ROWS) {
    this.heads = (rows + 1) * WIDTH;
    this.words = memory.words(this.heads + rows);
    healthEpoch.share(this.words, EPOCH);
    this.lock = lock;
    this.place = place;
    this.rows = rows;
  }

  /**
   * Joins the row of the backend with this key, until it is released.
   * @param name one that several backends may have, which numbers them; always the same for a key
   */
  join(key: string, name: string | null = null): BackendRow {
    const digest = digestOf(key);
    return this.lock.hold(() => {
      const at = this.find(digest) || this.take(digest, name);
      if (at === 0) return new BackendRow(new Int32Array(WIDTH), 0, this.place, () => undefined);
      this.words[at + HOLDERS] = this.word(at + HOLDERS) + 1;
      return new BackendRow(this.words, at, this.place, (row) => this.leave(row));
    });
  }

  private find(digest: Int32Array): number {
    for (let at = this.word(this.headOf(digest)); at !== 0; at = this.word(at + NEXT)) {
      if (digest.every((word, i) => this.word(at + i) === word)) return at;
    }
    return 0;
  }

  /** Takes an unused row; 0 when there is none. */
  private take(digest: Int32Array, name: string | null): number {
    const { words } = this;
    let at = this.word(FREE);
    if (at !== 0) words[FREE] = this.word(at + NEXT);
    else if (this.word(TAKEN) < this.rows) {
      words[TAKEN] = this.word(TAKEN) + 1;
      at = this.word(TAKEN) * WIDTH;
    } else return 0;
    const head = this.headOf(digest);
    words.fill(0, at, at + WIDTH);
    words.set(digest, at);
    if (name !== null) this.number(at, digestOf(name));
    words[at + NEXT] = this.word(head);
    words[head] = at;
    return at;
  }

  /** Gives a row the lowest number that is free among those of its name. */
  private number(row: number, name: Int32Array): void {
    const taken = new Set<number>();
    for (let at = WIDTH; at <= this.word(TAKEN) * WIDTH; at += WIDTH) {
      if (this.word(at + HOLDERS) > 0 && name.every((word, i) => this.word(at + NAME + i) === word))
        taken.add(this.word(at + NUMBER));
    }
    let number = 1;
    while (taken.has(number)) number++;
    this.words[row + NUMBER] = number;
    this.words.set(name, row + NAME);
  }

  private leave(at: number): void {
    this.lock.hold(() => {
      const { words } = this;
      words[at + HOLDERS] = this.word(at + HOLDERS) - 1;
      if (words[at + HOLDERS] !== 0) return;
      let link = this.headOf(words.subarray(at, at + DIGEST));
      while (this.word(link) !== at) link = this.word(link) + NEXT;
      words[link] = this.word(at + NEXT);
      words[at + NEXT] = this.word(FREE);
      words[FREE] = at;
    });
  }

  private headOf(digest: Int32Array): number {
    return this.heads + (((digest[0] as number) >>> 0) % this.rows);
  }

  private word(at: number): number {
    return this.words[at] as number;
  }
}

/** Collision-free for all practical purposes. */
function digestOf(key: string): Int32Array {
  const bytes = createHash('sha256').update(key).digest();
  return Int32Array.from({ length: DIGEST }, (_, i) => bytes.readInt32LE(i * 4));
}
