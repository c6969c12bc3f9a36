// What share of the requests of clients the sample of the log has: the requests that it is of are those read from the past, of
// which it has all, and those that were counted since, by whatever worker. Where the counters have more than there were, what
// is missing is known by what the log says that it lost, until that is not all.

import type { LogHandlers } from '../client/source.ts';

type LossReason = Parameters<LogHandlers['lost']>[1];

export class SampleShare {
  private readonly overcounts: boolean;
  /** Requests that the sample is of; null before the first counters. */
  private of: number | null = null;
  /** Requests that are known to be missing: infinitely many where only the counters say it. */
  private missing: number;

  constructor(overcounts: boolean) {
    this.overcounts = overcounts;
    this.missing = this.missingAtFirst;
  }

  /** 0..1 for a sample of so many requests; 1 before any. */
  share(sampled: number): number {
    if (Number.isFinite(this.missing)) {
      const seen = Math.max(1, sampled);
      return seen / (seen + this.missing);
    }
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

  lost(records: number, reason: LossReason): void {
    // By the rate whole groups are left out.
    this.missing += reason === 'rate' ? records : Number.POSITIVE_INFINITY;
  }

  reconnected(): void {
    this.missing = Number.POSITIVE_INFINITY;
  }

  /** The sample begins again, with nothing. */
  clear(): void {
    if (this.of !== null) this.of = 0;
    this.missing = this.missingAtFirst;
  }

  private get missingAtFirst(): number {
    return this.overcounts ? 0 : Number.POSITIVE_INFINITY;
  }
}
