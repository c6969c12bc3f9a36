// A ring of samples with their times, for charts and windows. It keeps numbers only, of a fixed count, in
// typed arrays: a console left open for a month holds what it held after the first quarter of an hour.

export interface Slices {
  max: number[];
  mean: number[];
}

export class Series {
  private readonly at: Float64Array;
  private readonly value: Float64Array;
  private head = 0;
  length = 0;
  readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.at = new Float64Array(capacity);
    this.value = new Float64Array(capacity);
  }

  /** Appends; `at` in epoch seconds, NaN as the value marks a gap. */
  push(at: number, value: number): void {
    this.at[this.head] = at;
    this.value[this.head] = value;
    this.head = (this.head + 1) % this.capacity;
    if (this.length < this.capacity) this.length++;
  }

  /** Prepends samples, the oldest first, as far as there is room. */
  prepend(at: readonly number[], values: readonly number[]): void {
    const kept = Array.from({ length: this.length }, (_, i) => [this.timeAt(i), this.get(i)] as const);
    const from = Math.max(0, at.length - (this.capacity - this.length));
    this.clear();
    for (let i = from; i < at.length; i++) this.push(at[i] as number, values[i] as number);
    for (const [time, value] of kept) this.push(time as number, value as number);
  }

  /** The i-th oldest sample's value, undefined outside. */
  get(i: number): number | undefined {
    return i < 0 || i >= this.length ? undefined : this.value[this.slot(i)];
  }

  timeAt(i: number): number | undefined {
    return i < 0 || i >= this.length ? undefined : this.at[this.slot(i)];
  }

  last(): number | undefined {
    return this.get(this.length - 1);
  }

  clear(): void {
    this.head = 0;
    this.length = 0;
  }

  /** Seconds from the oldest sample to `now`. */
  spanTo(now: number): number {
    return this.length === 0 ? 0 : Math.max(0, now - (this.timeAt(0) as number));
  }

  /**
   * Maxima and means over `count` equal slices of the last `span` seconds before `now`, oldest first. A slice without
   * a sample takes its predecessor's values when samples are sparser than slices, and NaN at a gap.
   */
  slices(now: number, span: number, count: number): Slices {
    const sums = new Float64Array(count);
    const peaks = new Float64Array(count);
    const taken = new Uint32Array(count);
    const gaps = new Uint8Array(count);
    const start = now - span;
    for (let i = 0; i < this.length; i++) {
      const at = this.timeAt(i) as number;
      if (at <= start || at > now) continue;
      const slice = Math.min(count - 1, Math.floor(((at - start) / span) * count));
      const value = this.get(i) as number;
      if (Number.isNaN(value)) {
        gaps[slice] = 1;
        continue;
      }
      sums[slice] = (sums[slice] as number) + value;
      peaks[slice] = taken[slice] === 0 ? value : Math.max(peaks[slice] as number, value);
      taken[slice] = (taken[slice] as number) + 1;
    }
    const out: Slices = { max: [], mean: [] };
    let max = Number.NaN;
    let mean = Number.NaN;
    for (let i = 0; i < count; i++) {
      if ((taken[i] as number) > 0) {
        max = peaks[i] as number;
        mean = (sums[i] as number) / (taken[i] as number);
      } else if (gaps[i] === 1) max = mean = Number.NaN;
      out.max.push(max);
      out.mean.push(mean);
    }
    return out;
  }

  private slot(i: number): number {
    return (this.head - this.length + i + this.capacity) % this.capacity;
  }
}
