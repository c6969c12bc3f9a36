// Streams that end by a reset soon after they began cost work and bring nobody anything (CVE-2023-44487). Resets of the
// client count, and those of ours that it has provoked by breaking a rule (CVE-2025-8671). A budget comes back bit by bit,
// over a period; a connection that has used it up is closed.

import type { Http2Limits } from '../../contract/context.ts';

export interface ResetParams {
  readonly h2_rapid_reset: number;
  readonly h2_rapid_reset_limit: number;
  readonly h2_rapid_reset_period: number;
}

export class RapidResets implements Http2Limits {
  rapidReset: number;
  rapidResetPeriod: number;
  private limit: number;
  private budget: number;
  private at: number;

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

  /** A stream that began at `begun` was reset; false when there were too many. */
  mayReset(begun: number, now: number): boolean {
    if (this.limit <= 0 || now - begun > this.rapidReset) return true;
    const back = ((now - this.at) / Math.max(this.rapidResetPeriod, 1e-3)) * this.limit;
    this.budget = Math.min(this.limit, this.budget + Math.max(0, back)) - 1;
    this.at = now;
    return this.budget >= 0;
  }
}
