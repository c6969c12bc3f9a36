// What one thread puts on the lists of its saintmode objects goes on those of the same objects in the other threads, and
// what it takes off goes from those, so that a threshold and a count hold for all together. Each thread writes numbered rows of shared state, and takes in the others'
// when it next looks at a list: a look that finds nothing new reads one word.
//
// Objects are the same when their programs and they have the same names: those of a program that is still in use though
// another has taken its name get each other's entries.

import { threadId } from 'node:worker_threads';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';

/** Entries that a thread may be behind (chosen): older ones are lost to it. */
const ENTRIES = 8192;
const BYTES = 16 * 1024 * 1024;

/** Numbers of a row. */
const UNTIL = 0;
const THREAD = 1;
/** When it was put there, or off. */
const NOW = 2;

/** An object that has a list. */
export interface Listed {
  /** The program's name and its own. */
  readonly id: string;
  /** Epoch seconds. */
  put(key: string, until: number, now: number): void;
  /** Takes off what was there for a time that is over. */
  takeOff(now: number): void;
}

export class SaintNews {
  private readonly table: SharedTable;
  /** One word: the number of the last entry of all threads. */
  private readonly last: Int32Array;
  private readonly thread: number;
  /** The last one that was taken in. */
  private seen: number;
  private readonly objects = new Set<Listed>();

  /** @param thread a number that no other thread has */
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

  /** Tells an object from now on. */
  join(object: Listed): void {
    this.look();
    this.objects.add(object);
  }

  leave(object: Listed): void {
    this.objects.delete(object);
  }

  /** Tells the same objects in other threads. */
  post(id: string, key: string, until: number, now: number): void {
    this.write(`${id}\n${key}`, until, now);
  }

  /** Has the same objects in other threads take off what is over. */
  postOff(id: string, now: number): void {
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

  /** Takes in what others have put on lists. */
  look(): void {
    const last = Atomics.load(this.last, 0);
    while (this.seen !== last) {
      const next = (this.seen + 1) | 0;
      const row = this.table.read(String(next));
      // One that is not written yet is looked for again; one that has been forgotten is not.
      if (row === null && ((last - next) | 0) < ENTRIES) return;
      this.seen = next;
      if (row === null || row.numbers[THREAD] === this.thread) continue;
      const text = row.text ?? '';
      const end = text.indexOf('\n');
      const id = end < 0 ? text : text.slice(0, end);
      const now = row.numbers[NOW] as number;
      for (const object of this.objects) {
        if (object.id !== id) continue;
        if (end < 0) object.takeOff(now);
        else object.put(text.slice(end + 1), row.numbers[UNTIL] as number, now);
      }
    }
  }
}
