// How many records were lost when varnishlog could not keep up: it says that it was so, not how many. Varnish counts those that
// it writes, so what is written and has not come grew by the lost ones. It is an estimate by what is under way at two samples,
// and never less than one.
//
// Caution: varnishlog falls behind before it says so. What was under way at its best, some time ago, is what counts.

const WRITTEN = 'MAIN.shm_records';
/** Samples that are looked back (chosen): half a minute of falling behind. */
const KEPT = 30;

export class LossMeter {
  /** Records that came. */
  private received = 0n;
  private written = 0n;
  /** Written and not received, at the last samples. */
  private behind: bigint[] = [];
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
    // Another child counts from zero.
    if (written === undefined || written < this.written) this.behind = [];
    this.written = written ?? 0n;
    const now = this.written - this.received;
    const grown = Math.max(0, ...this.behind.map((before) => Number(now - before)));
    const lost = this.overrun ? Math.max(1, grown) : 0;
    if (this.overrun) this.behind = [];
    this.overrun = false;
    if (written !== undefined) this.behind.push(now);
    if (this.behind.length > KEPT) this.behind.shift();
    return lost;
  }
}
