// Messages to the operator about a disk tier in trouble: failures and a full device once a minute each, and once that a program
// makes other keys than those of the objects on disk.

import type { DiskFigures } from './disk-options.ts';

/** Keys that a start may look for in vain before it is reported (chosen), when it has found at least as many objects. */
const IN_VAIN = 1000;
const FULL = 'The device of the disk tier is full before the tier is: the oldest objects are removed';

export interface DiskReportParts {
  /** Seconds since 1970. */
  readonly now: () => number;
  readonly figures: DiskFigures;
  readonly log: (text: string) => void;
  /** Reports trouble to the operator. */
  readonly report: (text: string) => void;
}

export class DiskReports {
  private readonly parts: DiskReportParts;
  /** Objects found at the start, and keys that were not among them since. */
  private atStart = 0;
  private inVain = 0;
  /** Segments that had gone from a full device at the last look. */
  private fullDrops = 0;
  /** Minute of the epoch of the last report, by its subject. */
  private readonly reportedAt = new Map<string, number>();

  constructor(parts: DiskReportParts) {
    this.parts = parts;
  }

  started(objects: number): void {
    this.atStart = objects;
    this.room();
  }

  failure(what: string, error: Error | null | undefined): void {
    this.sometimes(what, `The disk tier cannot ${what}: ${error?.message ?? 'unknown'}`);
  }

  /** After a write: whether objects had to go for it. */
  room(): void {
    const { c_full_drop } = this.parts.figures;
    if (c_full_drop > this.fullDrops) this.sometimes(FULL, FULL);
    this.fullDrops = c_full_drop;
  }

  /** Objects of a program that makes other keys stay on disk, and are never found. @param objects on disk */
  lookedFor(isThere: boolean, objects: number): void {
    if (this.inVain >= IN_VAIN) return;
    this.inVain = isThere || this.atStart < IN_VAIN ? IN_VAIN : this.inVain + 1;
    if (isThere || this.inVain < IN_VAIN || this.atStart < IN_VAIN) return;
    this.parts.log(
      `disk: none of the first ${IN_VAIN} keys is among ${objects} objects: another program, with another vcl_hash, may have stored them`,
    );
  }

  /** At most once a minute. */
  private sometimes(subject: string, text: string): void {
    const minute = Math.floor(this.parts.now() / 60);
    if (minute === this.reportedAt.get(subject)) return;
    this.reportedAt.set(subject, minute);
    this.parts.report(text);
  }
}
