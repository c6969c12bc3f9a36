// The log of purges by surrogate key, for fetches that were under way: such a fetch may bring what is older than a
// purge, and its keys are known only when its head comes.
//
// Purges are numbered, and the newest of each key is remembered. When more have come since a fetch began than are
// remembered, whatever it brings counts as purged.

/** Purged keys remembered for fetches under way. A guess: more purges than this within one fetch are rare. */
const REMEMBERED = 4096;

export class PurgeLog {
  /** Number of the last purge of each key, in the order of the purges. */
  private readonly recent = new Map<string, number>();
  /** Purges up to this one are forgotten. */
  private forgotten = 0;
  private last = 0;

  /** Number of the newest purge: a fetch that begins notes it. */
  get newest(): number {
    return this.last;
  }

  add(key: string): void {
    this.last++;
    this.recent.delete(key);
    this.recent.set(key, this.last);
    if (this.recent.size <= REMEMBERED) return;
    const [oldest, number] = this.recent.entries().next().value as [string, number];
    this.recent.delete(oldest);
    this.forgotten = number;
  }

  /** Whether one of the keys was purged after the purge of this number, or may have been. */
  purgedSince(number: number, keys: readonly string[]): boolean {
    if (number < this.forgotten) return true;
    return number < this.last && keys.some((key) => (this.recent.get(key) ?? 0) > number);
  }
}
