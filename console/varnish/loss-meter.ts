// How many records were lost when varnishlog could not keep up: it says that it was so, not how many. Varnish counts those that
// it writes, so what is written and has not come grew by the lost ones. It is an estimate by what is under way at the two
// samples, and never less than one.

const WRITTEN = 'MAIN.shm_records';

export class LossMeter {
  /** Records that came. */
  private received = 0n;
  /** Written and not received, at the last sample without a loss; null before any, and after a restart. */
  private behind: bigint | null = null;
  private written = 0n;
  private overrun = false;

  came(records: number): void {
    this.received += BigInt(records);
  }

  /** varnishlog said so. */
  overran(): void {
    this.overrun = true;
  }

  /** Takes a sample of the counters; returns the records lost since the one before. */
  sample(counters: ReadonlyMap<string, bigint>): number {
    const written = counters.get(WRITTEN);
    if (written === undefined || written < this.written) this.behind = null;
    this.written = written ?? 0n;
    const now = this.written - this.received;
    const lost = this.overrun ? now - (this.behind ?? now) : 0n;
    const happened = this.overrun;
    this.overrun = false;
    if (written !== undefined) this.behind = now;
    return happened ? Math.max(1, Number(lost)) : 0;
  }
}
