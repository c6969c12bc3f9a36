// The time up to which the sums of all threads' counters are complete, as the first thread knows it. A report carries
// the time of its pass over the counters. A pass without changes only stores its time in shared memory, next to the
// number of reports sent, so that no thread is woken for it. If the first thread is late, a report is always in
// transit; then the times of the reports received count.

const FIRST = 0;

export class ReportTimes {
  private readonly times: Float64Array;
  private readonly sent: Int32Array;
  private readonly got: Int32Array;
  /** By thread: milliseconds of the epoch before which all counts have arrived. */
  private readonly known: Float64Array;

  /** @param times and `sent` have an element per thread, the first one included, in shared memory */
  constructor(times: Float64Array, sent: Int32Array) {
    this.times = times;
    this.sent = sent;
    this.got = new Int32Array(times.length);
    this.known = new Float64Array(times.length);
  }

  sending(thread: number): void {
    Atomics.add(this.sent, thread, 1);
  }

  scanned(thread: number, at: number): void {
    this.times[thread] = at;
  }

  /** @param at time of the thread's pass over its counters */
  received(thread: number, at: number): void {
    this.got[thread] = (this.got[thread] as number) + 1;
    this.known[thread] = at;
  }

  /** Time up to which another thread's counts have arrived; 0 before its first report. */
  until(thread: number): number {
    // Read the time first: the report it belongs to is then included in the number sent.
    const at = this.times[thread] as number;
    if (Atomics.load(this.sent, thread) === this.got[thread]) this.known[thread] = at;
    return this.known[thread] as number;
  }

  wholeUntil(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = FIRST + 1; i < this.times.length; i++) least = Math.min(least, this.until(i));
    return least;
  }
}
