// Markers (hit-for-miss, hit-for-pass) on disk. Each response of an uncacheable URL makes a new one, but one record is as good
// as all of them: the next is written when half of the time of the last has passed.

/** Keys that are remembered (chosen): the marker of a forgotten one is written again. */
const MOST = 10_000;

export class KeptMarkers {
  /** Until when there need not be another, in seconds since 1970; in the order in which they were written. */
  private readonly until = new Map<string, number>();

  has(key: string, now: number): boolean {
    return (this.until.get(key) ?? 0) > now;
  }

  /** @param end of the marker, as `now` in seconds since 1970 */
  add(key: string, now: number, end: number): void {
    this.until.set(key, now + (end - now) / 2);
    if (this.until.size <= MOST) return;
    for (const oldest of this.until.keys()) {
      this.until.delete(oldest);
      break;
    }
  }

  /** It was replaced, invalidated, or not written. */
  forget(key: string): void {
    this.until.delete(key);
  }

  clear(): void {
    this.until.clear();
  }
}
