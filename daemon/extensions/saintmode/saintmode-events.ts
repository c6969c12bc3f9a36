// Replicates the lists of saintmode objects between threads, so that thresholds and counts cover all threads. Each
// thread writes numbered rows of shared state, and applies the rows of others when it next reads a list; without events
// that reads one word.
//
// Objects are the same if their names and their programs' names are: a program that is still in use after another has
// taken its name exchanges entries with it.

import { threadId } from 'node:worker_threads';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';

/** Entries by which a thread may lag (chosen): it loses older ones. */
const ENTRIES = 8192;
const BYTES = 16 * 1024 * 1024;

/** Indices of a row's numbers. */
const UNTIL = 0;
const THREAD = 1;
/** Time of the change. */
const NOW = 2;

/** A saintmode object with its list. */
export interface Listed {
  /** Names of the program and the object. */
  readonly id: string;
  /** Epoch seconds. */
  put(key: string, until: number, now: number): void;
  /** Removes expired entries. */
  removeExpired(now: number): void;
}

export class SaintmodeEvents {
  private readonly table: SharedTable;
  /** One word: the number of the last entry of any thread. */
  private readonly last: Int32Array;
  private readonly thread: number;
  /** The last entry that was applied. */
  private seen: number;
  private readonly objects = new Set<Listed>();

  /** @param thread unique number of this thread */
  constructor(state: SharedState, thread: number = threadId) {
    this.table = state.table('saintmode', {
      numbers: 3,
      entries: ENTRIES,
      bytes: BYTES,
      forgetsOldest: true,
    });
    this.last = new Int32Array(state.memory('saintmode', () => new SharedArrayBuffer(4)));
    this.thread = thread;
    this.seen = Atomics.load(this.last, 0);
  }

  /** Registers an object. */
  join(object: Listed): void {
    this.catchUp();
    this.objects.add(object);
  }

  leave(object: Listed): void {
    this.objects.delete(object);
  }

  /** Sends an entry to the same objects in other threads. */
  post(id: string, key: string, until: number, now: number): void {
    this.write(`${id}\n${key}`, until, now);
  }

  /** Makes the same objects in other threads remove expired entries. */
  postExpiry(id: string, now: number): void {
    this.write(id, 0, now);
  }

  private write(text: string, until: number, now: number): void {
    const number = (Atomics.add(this.last, 0, 1) + 1) | 0;
    this.table.update(String(number), (row) => {
      row.numbers[UNTIL] = until;
      row.numbers[THREAD] = this.thread;
      row.numbers[NOW] = now;
      row.text = text;
    });
  }

  /** Applies the changes of other threads. */
  catchUp(): void {
    const last = Atomics.load(this.last, 0);
    while (this.seen !== last) {
      const next = (this.seen + 1) | 0;
      const row = this.table.read(String(next));
      // A row not yet written is read again next time; a discarded one is skipped.
      if (row === null && ((last - next) | 0) < ENTRIES) return;
      this.seen = next;
      if (row === null || row.numbers[THREAD] === this.thread) continue;
      const text = row.text ?? '';
      const end = text.indexOf('\n');
      const id = end < 0 ? text : text.slice(0, end);
      const now = row.numbers[NOW] as number;
      for (const object of this.objects) {
        if (object.id !== id) continue;
        if (end < 0) object.removeExpired(now);
        else object.put(text.slice(end + 1), row.numbers[UNTIL] as number, now);
      }
    }
  }
}
