// Reports files that cannot be written, above all because of a full disk: at once, then once a minute while it lasts,
// and when writing succeeds again. Every failed write is counted. Never throws: neither log nor counters may stop
// traffic.

import { systemText } from '../../protocol/system-text.ts';

/** Milliseconds between two messages about the same file (chosen). */
const PAUSE = 60_000;

export interface TroubleCounters {
  write_errors: number;
}

export class WriteTrouble {
  /** Whether the last write failed. */
  failing = false;
  private readonly what: string;
  private readonly counters: TroubleCounters;
  private readonly report: (text: string) => void;
  private readonly now: () => number;
  private failures = 0;
  private reported = false;
  private reportedAt = Number.NEGATIVE_INFINITY;

  /** @param what subject of the messages: "The log" */
  constructor(
    what: string,
    counters: TroubleCounters,
    report: (text: string) => void,
    now: () => number = Date.now,
  ) {
    this.what = what;
    this.counters = counters;
    this.report = report;
    this.now = now;
  }

  failed(cause: unknown): void {
    this.failing = true;
    this.failures++;
    this.counters.write_errors++;
    const now = this.now();
    if (now - this.reportedAt < PAUSE) return;
    this.reported = true;
    this.reportedAt = now;
    this.report(
      `${this.what} cannot be written (${systemText(cause)}), ${this.failures} times so far: make room in the working directory`,
    );
  }

  /** Call after a successful write. */
  worked(): void {
    if (!this.failing) return;
    this.failing = false;
    if (this.reported) this.report(`${this.what} is written again, after ${this.failures} failed writes`);
    this.reported = false;
    this.failures = 0;
  }
}
