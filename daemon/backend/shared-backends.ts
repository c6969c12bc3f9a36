// What the threads of a worker have in common for each backend: its connections in use, its health by the probe that the
// first thread runs, the operator's word, and the number in its name where several would have the same. Each backend has a
// row in shared memory, found by a digest of its key, so that all threads find the same one without a message. It is given
// back when the backend has ended in all threads.
//
// Special case: the table is bounded. A backend that finds it full counts alone, with its thread's part of the limit, and
// polls for itself.

import { createHash } from 'node:crypto';
import type { AdminHealth } from '../contract/context.ts';
import { healthEpoch } from '../contract/health-epoch.ts';
import type { Lock } from '../threads/shared-lock.ts';
import type { MemoryPart } from '../threads/shared-memory.ts';

/** Rows (chosen): the backends of sixteen programs that have made as many while running as they may. */
const ROWS = 16 * 1024;
/** Words of a row: a cache line, so that threads that count in different rows do not slow each other down. */
const WIDTH = 16;

/** The digest of the key takes the first words of a row. */
const DIGEST = 4;
/** The next row with the same beginning of the digest, or the next free one; 0 for none. */
const NEXT = 4;
/** Threads' backends that have the row. */
const HOLDERS = 5;
const IN_USE = 6;
/** A place in HEALTHS. */
const HEALTH = 7;
/** A place in ADMINS. */
const ADMIN = 8;
/** Which one of its name it is, from 1. */
const NUMBER = 9;
/** Two words: epoch seconds of the last change, as a float. */
const CHANGED = 10;
/** The digest of its name before the number. */
const NAME = 12;

/** Words of the first row, which is nobody's: the first free row, rows that were ever taken, and the epoch of health. */
const FREE = 0;
const TAKEN = 1;
const EPOCH = 2;

/** Null: the first thread has not said yet. */
const HEALTHS: readonly (boolean | null)[] = [null, false, true];
const ADMINS: readonly AdminHealth[] = ['auto', 'healthy', 'sick'];

/** A thread among those that serve together. */
export interface ThreadPlace {
  readonly thread: number;
  /** Threads, this one included. */
  readonly count: number;
}

/** The row of one backend as one thread has it. */
export class BackendRow {
  /** Whether another thread runs the probe of this backend. */
  readonly follows: boolean;
  /** Whether this thread writes the records of the backend's probe. */
  readonly isFirst: boolean;
  /** Parts into which a limit is divided: one when all threads count together. */
  private readonly parts: number;
  private readonly giveBack: (at: number) => void;
  private words: Int32Array;
  private times: Float64Array;
  private at: number;

  constructor(words: Int32Array, at: number, { thread, count }: ThreadPlace, giveBack: (at: number) => void) {
    const isShared = at > 0;
    this.words = words;
    this.times = new Float64Array(words.buffer, 0, words.length >> 1);
    this.at = at;
    this.isFirst = thread === 0;
    this.follows = isShared && thread > 0;
    this.parts = isShared ? 1 : count;
    this.giveBack = giveBack;
  }

  /** Takes a place for a connection; false when `max` of them are taken. 0 is no limit. */
  enter(max: number): boolean {
    const { words, at } = this;
    if (max === 0) {
      Atomics.add(words, at + IN_USE, 1);
      return true;
    }
    const limit = this.limitOf(max);
    // Not by adding and taking back: until then another thread would see a place taken that nobody has.
    for (let inUse = this.inUse; inUse < limit; ) {
      const seen = Atomics.compareExchange(words, at + IN_USE, inUse, inUse + 1);
      if (seen === inUse) return true;
      inUse = seen;
    }
    return false;
  }

  leave(): void {
    Atomics.sub(this.words, this.at + IN_USE, 1);
  }

  /** Whether one more leaves a place under the limit for others. */
  hasSpare(max: number): boolean {
    return max === 0 || this.inUse < this.limitOf(max) - 1;
  }

  /** Connections of all threads. */
  get inUse(): number {
    return Atomics.load(this.words, this.at + IN_USE);
  }

  /** Which one it is of those that joined under the same name, from 1; null without a name, or without a row. */
  get number(): number | null {
    return this.words[this.at + NUMBER] || null;
  }

  /** By the probe; null when the first thread has not said yet. */
  get healthy(): boolean | null {
    return HEALTHS[Atomics.load(this.words, this.at + HEALTH)] as boolean | null;
  }

  set healthy(healthy: boolean | null) {
    Atomics.store(this.words, this.at + HEALTH, HEALTHS.indexOf(healthy));
  }

  get admin(): AdminHealth {
    return ADMINS[Atomics.load(this.words, this.at + ADMIN)] as AdminHealth;
  }

  set admin(admin: AdminHealth) {
    Atomics.store(this.words, this.at + ADMIN, ADMINS.indexOf(admin));
  }

  /** Epoch seconds; 0 when the first thread has not said yet. */
  get changedAt(): number {
    return this.times[(this.at + CHANGED) / 2] as number;
  }

  set changedAt(seconds: number) {
    this.times[(this.at + CHANGED) / 2] = seconds;
  }

  /** Gives the row back. It stands for itself from then on, as it was: somebody may still look at an old backend. */
  release(): void {
    const { words, at } = this;
    if (at === 0) return;
    const own = words.slice(at, at + WIDTH);
    own[IN_USE] = 0;
    this.words = own;
    this.times = new Float64Array(own.buffer);
    this.at = 0;
    this.giveBack(at);
  }

  /** One at least, or a thread could use the backend for nothing: a limit below the number of threads may be exceeded. */
  private limitOf(max: number): number {
    return this.parts === 1 ? max : Math.max(1, Math.floor(max / this.parts));
  }
}

export class SharedBackends {
  private readonly words: Int32Array;
  private readonly lock: Lock;
  private readonly place: ThreadPlace;
  private readonly rows: number;
  /** The first row for each beginning of a digest: these words come after all rows. */
  private readonly heads: number;

  /** @param memory the same in all threads, and so is the lock */
  constructor(memory: MemoryPart, lock: Lock, place: ThreadPlace, rows = ROWS) {
    this.heads = (rows + 1) * WIDTH;
    this.words = memory.words(this.heads + rows);
    healthEpoch.share(this.words, EPOCH);
    this.lock = lock;
    this.place = place;
    this.rows = rows;
  }

  /**
   * The row of the backend with this key, which this thread has until it is released.
   * @param name one that several backends may have, which numbers them; the same whenever the key is
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

  /** A row that nobody has; 0 when there is none. */
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

  /** Gives a row the first number that none of its name has. */
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

/** Two keys never have the same one. */
function digestOf(key: string): Int32Array {
  const bytes = createHash('sha256').update(key).digest();
  return Int32Array.from({ length: DIGEST }, (_, i) => bytes.readInt32LE(i * 4));
}
