// Events of several threads in the order in which they happened: each is numbered under the lock of the cache, and arrives by the
// channel of its thread, perhaps before an older one of another.

export class EventOrder {
  /** Number of the last event that was applied, as were all before it. */
  private applied = 0;
  private readonly early = new Map<number, () => void>();
  /** Resolves reached(), by number. */
  private readonly waiting = new Map<
    number,
    { readonly reached: Promise<void>; readonly resolve: () => void }
  >();

  /** Applies an event as soon as all before it are. Numbers begin with 1. */
  add(number: number, apply: () => void): void {
    this.early.set(number, apply);
    for (;;) {
      const next = this.early.get(this.applied + 1);
      if (next === undefined) return;
      this.early.delete(this.applied + 1);
      next();
      this.applied++;
      this.waiting.get(this.applied)?.resolve();
      this.waiting.delete(this.applied);
    }
  }

  /** Whether all events up to this one are applied. */
  has(number: number): boolean {
    return this.applied >= number;
  }

  /** Resolves when all events up to this one are applied. */
  reached(number: number): Promise<void> {
    if (this.has(number)) return Promise.resolve();
    const same = this.waiting.get(number);
    if (same !== undefined) return same.reached;
    let resolve = (): void => undefined;
    const reached = new Promise<void>((done) => {
      resolve = done;
    });
    this.waiting.set(number, { reached, resolve });
    return reached;
  }
}
