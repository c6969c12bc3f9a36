// Addresses that just refused or could not be reached: for a while nobody tries them again, whatever program
// and backend asks. It knows keys and times only. Bounded: expired entries are dropped as new ones come.

const SWEEP_FROM = 256;

export class HoldDown {
  /** Key to epoch seconds. */
  private readonly until = new Map<string, number>();

  /** Whether `key` is still held down. */
  holds(key: string, now: number): boolean {
    if (this.until.size === 0) return false;
    const end = this.until.get(key);
    if (end === undefined) return false;
    if (now < end) return true;
    this.until.delete(key);
    return false;
  }

  /** @param seconds 0 holds nothing */
  hold(key: string, seconds: number, now: number): void {
    if (seconds <= 0) return;
    if (this.until.size >= SWEEP_FROM) {
      for (const [other, end] of this.until) if (end <= now) this.until.delete(other);
    }
    this.until.set(key, now + seconds);
  }

  get size(): number {
    return this.until.size;
  }
}
