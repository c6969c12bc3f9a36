// The kept log as it is shown: the groups that match the query. Groups kept under another query are tested in slices,
// the newest first, and not shown before; groups that arrived since the query was set match already. None is dropped:
// the next query tests them again. Marks are always shown.

import type { LogBlock } from './log-block.ts';
import type { LogEntry } from './log-entry.ts';
import type { LogReader, LogStore } from './log-store.ts';
import type { GroupMatcher } from './request-group.ts';

/** Groups tested in a turn: four milliseconds of forty records each (measured), 25 at the worst. */
const TURN = 1000;
const ALL = Number.NEGATIVE_INFINITY;

export interface Turns {
  later(fn: () => void, ms: number): void;
  changed(): void;
}

export class ShownLog implements LogReader {
  private readonly kept: LogStore;
  private readonly turns: Turns;
  /** Sequence numbers of kept groups that match, the newest first. */
  private found: number[] = [];
  /** From this sequence number on all match; prepended groups have negative numbers. */
  private since = ALL;
  /** The next one to be tested; before the oldest when there is none. */
  private next = ALL;
  private match: ReturnType<GroupMatcher> | null = null;

  constructor(kept: LogStore, turns: Turns) {
    this.kept = kept;
    this.turns = turns;
  }

  /** Shows what matches; null shows everything. */
  select(match: ReturnType<GroupMatcher> | null): void {
    this.match = match;
    this.found = [];
    this.since = match === null ? ALL : this.kept.end;
    this.next = this.since - 1;
    if (match !== null) this.test(match);
  }

  /** Older groups were prepended to the kept log. */
  extended(): void {
    if (this.match !== null) this.test(this.match);
  }

  /** Number of kept groups not yet tested. */
  get untested(): number {
    return Math.max(0, this.next - this.kept.oldest + 1);
  }

  get size(): number {
    while ((this.found.at(-1) ?? this.kept.oldest) < this.kept.oldest) this.found.pop();
    return this.found.length + this.kept.end - this.fresh;
  }

  at(i: number): LogEntry | undefined {
    return i < 0 || i >= this.size ? undefined : this.kept.at(this.seqOf(i) - this.kept.oldest);
  }

  indexOf(seq: number): number {
    const { size, found } = this;
    if (size === 0) return -1;
    if (seq >= this.fresh) return Math.min(size - 1, found.length + seq - this.fresh);
    let low = 0;
    let high = found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((found[found.length - 1 - middle] as number) < seq) low = middle + 1;
      else high = middle;
    }
    return Math.min(size - 1, low);
  }

  find(from: number, back: boolean, visit: (block: LogBlock, n: number) => boolean): number {
    const { size, kept } = this;
    if (size === kept.size) return kept.find(from, back, visit);
    for (let i = from; i >= 0 && i < size; i += back ? -1 : 1) {
      const seq = this.seqOf(i);
      const block = kept.blockOf(seq);
      if (visit(block, seq - block.first)) return i;
    }
    return -1;
  }

  /** The oldest group that needs no test. */
  private get fresh(): number {
    return Math.max(this.since, this.kept.oldest);
  }

  private seqOf(i: number): number {
    const { found } = this;
    return i < found.length ? (found[found.length - 1 - i] as number) : this.fresh + i - found.length;
  }

  private test(match: ReturnType<GroupMatcher>): void {
    // The query has changed.
    if (this.match !== match) return;
    const until = Math.max(this.kept.oldest, this.next - TURN + 1);
    for (; this.next >= until; this.next--) {
      const block = this.kept.blockOf(this.next);
      const n = this.next - block.first;
      if (block.isGap(n) || match(block.group(n))) this.found.push(this.next);
    }
    this.turns.changed();
    if (this.untested > 0) this.turns.later(() => this.test(match), 0);
  }
}
