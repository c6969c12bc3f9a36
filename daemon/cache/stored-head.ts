// A stored response head to ask for single fields, without decoding the rest: the ban lurker and dry runs go through
// a million heads for one field of each, and a million messages would be garbage to collect.
//
// Answers as the decoded message would. Valid until the object's memory may change: within one step.

import { fieldIn, statusOf } from './head-codec.ts';
import type { ChunkBytes } from './storage/slab.ts';

export class StoredHead {
  status = 0;
  private from: ChunkBytes | null = null;
  private start = 0;
  /** The last field asked for: many bans ask for the same one. */
  private key = '';
  private value: string | null = null;

  /** Turns to the head at `start`. */
  turnTo(from: ChunkBytes, start: number): void {
    this.from = from;
    this.start = start;
    this.status = statusOf(from, start);
    this.key = '';
  }

  /** Value of the first field named `key` (lower case), or null. */
  get(key: string): string | null {
    if (key !== this.key) {
      this.value = fieldIn(this.from as ChunkBytes, this.start, key);
      this.key = key;
    }
    return this.value;
  }
}
