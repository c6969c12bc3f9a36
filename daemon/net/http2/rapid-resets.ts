// Streams that end by a reset soon after they began cost work without a result (CVE-2023-44487). Resets of the
// client count, and those of ours that it has provoked by breaking a rule (CVE-2025-8671). A budget comes back bit by bit,
// over a period; a connection that has used it up is closed.

import type { Http2Limits } from '../../contract/context.ts';

export interface ResetParams {
  readonly h2_rapid_reset: number;
  readonly h2_rapid_reset_limit: number;
  readonly h2_rapid_reset_period: number;
}

/** Streams that began last whose times are known (chosen): of those that are answered before their reset is read. */
const RECENT = 32;

export class RapidResets implements Http2Limits {
  rapidReset: number;
  rapidResetPeriod: number;
  private limit: number;
  private budget: number;
  private at: number;
  /** Id and time of each of the last streams. */
  private readonly recent = new Float64Array(2 * RECENT);

  /** @param now clock seconds */
  constructor(params: ResetParams, now: number) {
    this.rapidReset = params.h2_rapid_reset;
    this.limit = params.h2_rapid_reset_limit;
    this.rapidResetPeriod = params.h2_rapid_reset_period;
    this.budget = this.limit;
    this.at = now;
  }

  get rapidResetLimit(): number {
    return this.limit;
  }

  /** A new limit begins with the whole of it. */
  set rapidResetLimit(limit: number) {
    this.limit = limit;
    this.budget = limit;
  }

  get rapidResetBudget(): number {
    return this.budget;
  }

  streamBegan(id: number, now: number): void {
    const slot = 2 * ((id >> 1) % RECENT);
    this.recent[slot] = id;
    this.recent[slot + 1] = now;
  }

  /** When one of the last streams began, which may have been answered; NaN for others, and from the second time on. */
  takeBegun(id: number): number {
    const slot = 2 * ((id >> 1) % RECENT);
    if (this.recent[slot] !== id) return Number.NaN;
    this.recent[slot] = 0;
    return this.recent[slot + 1] as number;
  }

  /** A stream that began at `begun` was reset; false when there were too many. */
  mayReset(begun: number, now: number): boolean {
    if (this.limit <= 0 || now - begun > this.rapidReset) return true;
    const back = ((now - this.at) / Math.max(this.rapidResetPeriod, 1e-3)) * this.limit;
    this.budget = Math.min(this.limit, this.budget + Math.max(0, back)) - 1;
    this.at = now;
    return this.budget >= 0;
  }
}
