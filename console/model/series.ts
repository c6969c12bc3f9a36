// A ring of samples with their times, for charts and windows. It keeps numbers only, of a fixed count, in
// typed arrays: a console left open for a month holds what it held after the first quarter of an hour.

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

  /**
   * `count` means over equal slices of the last `span` seconds before `now`, oldest first. A slice without
   * a sample takes its predecessor's value when samples are sparser than slices, and NaN at a gap.
   */
  resample(now: number, span: number, count: number): number[] {
    const sums = new Float64Array(count);
    const hits = new Uint32Array(count);
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
      hits[slice] = (hits[slice] as number) + 1;
    }
    const out: number[] = [];
    let former = Number.NaN;
    for (let i = 0; i < count; i++) {
      if ((hits[i] as number) > 0) former = (sums[i] as number) / (hits[i] as number);
      else if (gaps[i] === 1) former = Number.NaN;
      out.push(former);
    }
    return out;
  }

  private slot(i: number): number {
    return (this.head - this.length + i + this.capacity) % this.capacity;
  }
}
