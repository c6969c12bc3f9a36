// Detects hung threads: every thread increments a word of its own in shared memory from time to time, and one thread checks
// the others' words. It needs no messages and wakes no thread.
//
// Special case: silence is counted in parts, so that a process that was stopped (SIGSTOP, a sleeping machine) does not
// mistake that for the silence of another thread.

/** Most milliseconds counted per check (chosen: a few checks). */
const PART = 1000;

export class Heartbeats {
  private readonly words: Int32Array;
  private readonly thread: number;
  /** Beats at the last check, by thread. */
  private readonly seen: Int32Array;
  /** Milliseconds without a beat, by thread. */
  private readonly silent: Float64Array;
  private checkedAt: number | null = null;

  /** @param words one a thread, of shared memory */
  constructor(words: Int32Array, thread: number) {
    this.words = words;
    this.thread = thread;
    this.seen = new Int32Array(words.length);
    this.silent = new Float64Array(words.length);
  }

  beat(): void {
    Atomics.add(this.words, this.thread, 1);
  }

  /**
   * The first other thread that has been silent for `limit`; null for none. Call it often: the time between two checks
   * counts as a second at most.
   * @param now milliseconds of a monotonic clock
   * @param limit in milliseconds
   */
  silentFor(limit: number, now: number): number | null {
    const { words, seen, silent } = this;
    const passed = Math.min(PART, now - (this.checkedAt ?? now));
    this.checkedAt = now;
    let first: number | null = null;
    for (let i = 0; i < words.length; i++) {
      const beats = Atomics.load(words, i);
      silent[i] = beats === seen[i] ? (silent[i] as number) + passed : 0;
      seen[i] = beats;
      if (i !== this.thread && (silent[i] as number) >= limit) first ??= i;
    }
    return first;
  }
}
