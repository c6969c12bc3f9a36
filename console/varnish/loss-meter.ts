// Estimates the number of records lost when varnishlog could not keep up, which it reports without a number. Varnish
// counts the records it writes, so the difference between written and received records grows by the lost ones.
// Records in transit make it an estimate; at least one is reported. varnishlog lags before it reports an overrun, so
// the smallest difference of the recent past is the baseline.

const WRITTEN = 'MAIN.shm_records';
/** Samples looked back (chosen): half a minute of lag. */
const KEPT = 30;

export class LossMeter {
  /** Records received. */
  private received = 0n;
  private written = 0n;
  /** Written minus received, at the last samples. */
  private pending: bigint[] = [];
  private overrun = false;

  came(records: number): void {
    this.received += BigInt(records);
  }

  /** varnishlog reported an overrun. */
  overran(): void {
    this.overrun = true;
  }

  /** Takes a sample of the counters; returns the records lost since the previous one. */
  sample(counters: ReadonlyMap<string, bigint>): number {
    const written = counters.get(WRITTEN);
    // A new child counts from zero.
    if (written === undefined || written < this.written) this.pending = [];
    this.written = written ?? 0n;
    const now = this.written - this.received;
    const grown = Math.max(0, ...this.pending.map((before) => Number(now - before)));
    const lost = this.overrun ? Math.max(1, grown) : 0;
    if (this.overrun) this.pending = [];
    this.overrun = false;
    if (written !== undefined) this.pending.push(now);
    if (this.pending.length > KEPT) this.pending.shift();
    return lost;
  }
}
