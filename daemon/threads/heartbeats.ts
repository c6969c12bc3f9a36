// Whether each thread's event loop still turns: every thread raises a word of its own in shared memory now and then, and
// one of them looks whether the others' have moved. It costs no message, and no thread is woken for it.
//
// Special case: the time without a beat counts in parts, so that a process that was stopped (SIGSTOP, a sleeping machine)
// or stood still itself does not take that for the silence of another thread.

/** The most milliseconds that one look counts (chosen: a few looks). */
const PART = 1000;

export class Heartbeats {
  private readonly words: Int32Array;
  private readonly thread: number;
  /** As of the last look, by thread. */
  private readonly seen: Int32Array;
  /** Milliseconds without a beat, by thread. */
  private readonly silent: Float64Array;
  private lookedAt: number | null = null;

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
   * The first of the other threads that has been silent for so long; null for none. To be called often: what lies
   * between two looks counts for a second at the most.
   * @param now in milliseconds that never go back
   * @param limit in milliseconds
   */
  silentFor(limit: number, now: number): number | null {
    const { words, seen, silent } = this;
    const passed = Math.min(PART, now - (this.lookedAt ?? now));
    this.lookedAt = now;
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
