// The counters of the last day: kept by the manager, so that they outlive a worker, and in files, so that they outlive
// the manager. Every second for an hour, every ten seconds for a day. It is fed once a second and never samples
// anything itself.

import { mkdirSync } from 'node:fs';
import type { CounterInfo } from '../../protocol/messages.ts';
import type { CounterSnapshot } from './counters-reader.ts';
import type { HistorySample } from './history-frames.ts';
import { HistoryLevel } from './history-level.ts';

/** `bytes` is a bound for many changing counters; decision 16 has typical figures. */
const FINE = { step: 1, keep: 3600, bytes: 16 << 20 };
const COARSE = { step: 10, keep: 86_400, bytes: 40 << 20 };

export class CountersHistory {
  private readonly directory: string;
  private readonly fine: HistoryLevel;
  private readonly coarse: HistoryLevel;
  private readonly names = new Map<readonly CounterInfo[], readonly string[]>();
  private coarseAt = 0;

  constructor(directory: string, warn: (text: string) => void) {
    this.directory = directory;
    this.fine = new HistoryLevel(directory, FINE, warn);
    this.coarse = new HistoryLevel(directory, COARSE, warn);
  }

  /** Makes the directory and reads the files in it. Throws when it cannot be made. */
  open(): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.fine.open();
    this.coarse.open();
  }

  /** Adds a sample, in steps; one at a time. @param at milliseconds of the epoch */
  *take(at: number, { info, values }: CounterSnapshot): Generator<void, void> {
    const names = this.namesOf(info);
    yield* this.fine.append(at, names, values);
    if (at >= this.coarseAt && at < this.coarseAt + COARSE.step * 1000) return;
    this.coarseAt = Math.floor(at / (COARSE.step * 1000)) * COARSE.step * 1000;
    yield* this.coarse.append(at, names, values);
  }

  /** Samples from `from` (milliseconds of the epoch) on, at least `step` seconds apart. */
  samples(from: number, step: number): Generator<HistorySample> {
    return (step < COARSE.step ? this.fine : this.coarse).samples(from);
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.fine.bytes + this.coarse.bytes;
  }

  close(): void {
    this.fine.close();
    this.coarse.close();
  }

  /** The same array as long as the set of counters does not change. */
  private namesOf(info: readonly CounterInfo[]): readonly string[] {
    const known = this.names.get(info);
    if (known !== undefined) return known;
    this.names.clear();
    const names = info.map((row) => row.name);
    this.names.set(info, names);
    return names;
  }
}
