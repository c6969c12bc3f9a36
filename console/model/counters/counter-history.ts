// The counters as the statistics view shows them: current value, change a second, average over the
// worker's life, moving averages over 10, 100 and 1000 intervals. Values stay 64-bit; only rates are
// doubles. After a restart (an uptime that goes backwards) counters count from zero, and never show a negative rate.

import type { CounterInfo } from '../../../protocol/messages.ts';
import type { PastPoint } from '../../client/source.ts';
import { eachStep } from './counter-steps.ts';
import { increase } from './hit-rate.ts';

/** A mean that behaves as the plain mean until `limit` samples are in, then forgets exponentially. */
export class MovingMean {
  private readonly limit: number;
  private n = 0;
  value = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @param times samples of this value, one after the other */
  add(sample: number, times = 1): void {
    for (let left = Math.min(times, this.limit); left > 0; left--) {
      if (this.n < this.limit) this.n++;
      this.value += (sample - this.value) / this.n;
    }
  }

  reset(): void {
    this.n = 0;
    this.value = 0;
  }
}

/** Cells of a sparkline. */
const RECENT = 16;

export class Counter {
  readonly info: CounterInfo;
  current: bigint;
  /** Change a second over the last interval; for a gauge that of its value. */
  change = 0;
  /** Has it been non-zero since the console started? */
  seen: boolean;
  /** The last changes per second (values of a gauge), the newest last, for a sparkline. */
  readonly recent: number[] = [];
  readonly avg10 = new MovingMean(10);
  readonly avg100 = new MovingMean(100);
  readonly avg1000 = new MovingMean(1000);
  /** Has it been read before? Its first value is no change. */
  private known = false;

  constructor(info: CounterInfo, value: bigint) {
    this.info = info;
    this.current = value;
    this.seen = value !== 0n;
  }

  update(value: bigint, seconds: number, restarted: boolean): void {
    const before = this.current;
    const known = this.known;
    this.current = value;
    this.known = true;
    if (value !== 0n) this.seen = true;
    if (seconds <= 0 || !known) return;
    const gauge = this.info.flag === 'g';
    this.change =
      this.info.flag === 'b'
        ? 0
        : Number(gauge ? value - before : increase(before, value, restarted)) / seconds;
    this.take(gauge ? Number(adjusted(value)) : this.change, 1);
  }

  /** Adds a change per second (value of a gauge) that held for `times` intervals after all others. */
  take(sample: number, times: number): void {
    this.recent.push(sample);
    if (this.recent.length > RECENT) this.recent.shift();
    this.avg10.add(sample, times);
    this.avg100.add(sample, times);
    this.avg1000.add(sample, times);
  }

  /** Restarts averages and changes. */
  begin(): void {
    this.recent.length = 0;
    this.resetAverages();
  }

  resetAverages(): void {
    this.avg10.reset();
    this.avg100.reset();
    this.avg1000.reset();
  }
}

/** A gauge below zero arrives as a huge unsigned number: the operator sees 0 unless raw values are asked. */
export function adjusted(value: bigint): bigint {
  return value >= 1n << 63n ? 0n : value;
}

export class CounterHistory {
  private order: Counter[] = [];
  private byName = new Map<string, Counter>();
  /** Epoch seconds of the last sample. */
  at = 0;
  /** Names of the worker's threads, as in THR.<name>.requests; none when it has only one. */
  threads: readonly string[] = [];
  /** Samples taken. */
  samples = 0;
  /** Was the worker restarted between the last two samples? */
  restarted = false;
  /** The operator has reset the averages: they take no history. */
  private counted = false;

  /** The same array as long as the set of counters is the same. */
  names: readonly string[] = [];

  /** Sets the counters; those that stay keep their history. */
  describe(info: CounterInfo[]): void {
    const byName = new Map<string, Counter>();
    this.order = info.map((row) => {
      const counter = this.byName.get(row.name) ?? new Counter(row, 0n);
      byName.set(row.name, counter);
      return counter;
    });
    this.byName = byName;
    this.names = info.map((row) => row.name);
    this.threads = threadsOf(info);
  }

  /** `values` in the order of the last describe(). Returns the seconds since the sample before, 0 at first.
   * `steady`: no counter was reset, even where an uptime goes back. */
  update(at: number, values: readonly bigint[], steady = false): number {
    const seconds = this.samples === 0 || at <= this.at ? 0 : at - this.at;
    const managed = !steady && this.wentBack('MGT.uptime', values);
    this.restarted = !steady && this.samples > 0 && (managed || this.wentBack('MAIN.uptime', values));
    for (let i = 0; i < this.order.length && i < values.length; i++) {
      const counter = this.order[i] as Counter;
      const reset = counter.info.name.startsWith('MGT.') ? managed : this.restarted;
      counter.update(values[i] as bigint, seconds, reset);
    }
    this.at = at;
    this.samples++;
    return seconds;
  }

  private wentBack(name: string, values: readonly bigint[]): boolean {
    const counter = this.byName.get(name);
    return counter !== undefined && (values[this.order.indexOf(counter)] ?? 0n) < counter.current;
  }

  all(): readonly Counter[] {
    return this.order;
  }

  get(name: string): Counter | undefined {
    return this.byName.get(name);
  }

  value(name: string): bigint {
    return this.byName.get(name)?.current ?? 0n;
  }

  /** Whether there are rates: of a single sample nothing is known but its values. */
  get hasRates(): boolean {
    return this.samples > 1;
  }

  rate(name: string): number {
    return this.byName.get(name)?.change ?? 0;
  }

  /** Seconds the worker has run, by its own counter. */
  uptime(): number {
    return Number(this.value('MAIN.uptime'));
  }

  resetAverages(): void {
    this.counted = true;
    for (const counter of this.order) counter.resetAverages();
  }

  /** Averages over a longer history, the oldest point first; ignored after the operator has reset the averages. A
   * point counts as often as there are `interval`s (seconds) between it and the one before. */
  recall(points: readonly PastPoint[], interval: number): void {
    const older = points.filter((point) => point.at < this.at);
    if (this.counted || older.length === 0) return;
    const { names } = this;
    const now = Float64Array.from(this.order, (counter) => Number(adjusted(counter.current)));
    const begun = new Set<Counter>();
    eachStep(
      [...older, { at: this.at, names, values: now }],
      names,
      (i, { before, after, reset, seconds }) => {
        const counter = this.order[i] as Counter;
        if (!begun.has(counter)) counter.begin();
        begun.add(counter);
        const gauge = counter.info.flag === 'g';
        const by = reset || after < before ? after : after - before;
        const change = counter.info.flag === 'b' ? 0 : by / seconds;
        counter.take(
          gauge ? (after >= 2 ** 63 ? 0 : after) : change,
          Math.max(1, Math.round(seconds / interval)),
        );
        if (after !== 0) counter.seen = true;
      },
    );
  }
}

function threadsOf(info: readonly CounterInfo[]): readonly string[] {
  const names = info.flatMap(({ name }) => /^THR\.(.+)\.requests$/.exec(name)?.[1] ?? []);
  // Of two instances as one, each may have one.
  return names.some((name) => !/(?:^|:)0$/.test(name)) ? names : [];
}
