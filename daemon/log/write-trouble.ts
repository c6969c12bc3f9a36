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
  private readonly tell: (text: string) => void;
  private readonly now: () => number;
  private failures = 0;
  private told = false;
  private toldAt = Number.NEGATIVE_INFINITY;

  /** @param what subject of the messages: "The log" */
  constructor(
    what: string,
    counters: TroubleCounters,
    tell: (text: string) => void,
    now: () => number = Date.now,
  ) {
    this.what = what;
    this.counters = counters;
    this.tell = tell;
    this.now = now;
  }

  failed(cause: unknown): void {
    this.failing = true;
    this.failures++;
    this.counters.write_errors++;
    const now = this.now();
    if (now - this.toldAt < PAUSE) return;
    this.told = true;
    this.toldAt = now;
    this.tell(
      `${this.what} cannot be written (${systemText(cause)}), ${this.failures} times so far: make room in the working directory`,
    );
  }

  /** Call after a successful write. */
  worked(): void {
    if (!this.failing) return;
    this.failing = false;
    if (this.told) this.tell(`${this.what} is written again, after ${this.failures} failed writes`);
    this.told = false;
    this.failures = 0;
  }
}
