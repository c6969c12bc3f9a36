// Until when the sums of all threads' counters are whole, as the first thread knows it: a report says when its thread has
// looked, and a look that found nothing to report is in shared memory beside the number of reports that were sent, so that
// no thread is woken for it. A first thread that is late always has a report under way: what has come counts anyway.

const FIRST = 0;

export class ReportTimes {
  private readonly times: Float64Array;
  private readonly sent: Int32Array;
  private readonly got: Int32Array;
  /** Times in milliseconds of the epoch before which all is here, by thread. */
  private readonly known: Float64Array;

  /** @param times and `sent` have a place for each thread, the first one included, in shared memory */
  constructor(times: Float64Array, sent: Int32Array) {
    this.times = times;
    this.sent = sent;
    this.got = new Int32Array(times.length);
    this.known = new Float64Array(times.length);
  }

  sending(thread: number): void {
    Atomics.add(this.sent, thread, 1);
  }

  looked(thread: number, at: number): void {
    this.times[thread] = at;
  }

  /** @param at when that thread looked */
  received(thread: number, at: number): void {
    this.got[thread] = (this.got[thread] as number) + 1;
    this.known[thread] = at;
  }

  /** Until when what a thread beside the first counts is here; 0 before its first report. */
  until(thread: number): number {
    // The time first: a report that it stands for is counted as sent by then.
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
