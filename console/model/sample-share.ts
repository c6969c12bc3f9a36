// What share of the requests of clients the sample of the log has: the requests that it is of are those read from the past, of
// which it has all, and those that were counted since, by whatever worker.

export class SampleShare {
  /** Requests that the sample is of; null before the first counters. */
  private of: number | null = null;

  /** 0..1 for a sample of so many requests; 1 before any. */
  share(sampled: number): number {
    return this.of === null || this.of === 0 ? 1 : Math.min(1, sampled / this.of);
  }

  /** At the first counters, when the sample has so many requests. */
  begin(sampled: number): void {
    this.of ??= sampled;
  }

  /** So many more requests, by the counters since begin(), or in the past that was read. */
  add(requests: number): void {
    if (this.of !== null) this.of += requests;
  }

  /** The sample begins again, with nothing. */
  clear(): void {
    if (this.of !== null) this.of = 0;
  }
}
