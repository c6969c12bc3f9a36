// A map of few entries: one more takes the place of the one that was used longest ago. Requests choose the keys, and
// must not be able to fill the memory of the worker with them.

export class RecentMap<V> {
  private readonly most: number;
  /** The one used last at the end. */
  private readonly entries = new Map<string, V>();

  constructor(most: number) {
    this.most = most;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.most) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }
}
