// Slices that a thread's clients have asked for before the head of their object has come (early-slice.ts): how many are fetched
// at a time, and from whom.

/** Fetches at a time (chosen): the origin may turn out to answer no ranges. */
const MOST = 256;
/** Hosts that are remembered. */
const MOST_HOSTS = 1000;

export class EarlySlices {
  private running = 0;
  private readonly refusing = new Set<string>();

  /** Whether one more may be fetched of an object of this host; then done() is called once. */
  take(host: string): boolean {
    if (this.running >= MOST || this.refusing.has(host)) return false;
    this.running++;
    return true;
  }

  done(): void {
    this.running--;
  }

  /** The host's origin did not answer with the range that it was asked for. */
  refuse(host: string): void {
    if (this.refusing.size >= MOST_HOSTS) this.refusing.clear();
    this.refusing.add(host);
  }
}
