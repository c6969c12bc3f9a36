// The longest turns of a thread in the last minute, and the work that they were spent on. Work that may take long
// reports its start time when it has ended. Among the driver's steps the one during which the clock advanced is
// charged: most steps do not read the clock, so the time of two may be charged to the second one. Time is wall-clock
// time: on a busy machine it includes waiting for a processor.

/** Milliseconds from which a turn is noted: the most that one client may cost the others. */
export const NOTED = 10;
/** Milliseconds from which a turn is reported to operators (chosen): every client notices it. */
export const LONG = 250;
/** Milliseconds a turn is remembered. */
const LATELY = 60_000;
/** Longest `of`, in characters, because clients influence it (chosen). */
const LONGEST_NAME = 200;

export interface LongTurn {
  /** When it ended: milliseconds of a steady clock. */
  readonly at: number;
  readonly millis: number;
  /** Kind of work: a step or a command, from a small set, like the labels of metrics. */
  readonly work: string;
  /** The request, program or the like; empty when there is only one. */
  readonly of: string;
}

/** Times of a thread by the scheduler, in some interval, in milliseconds; NaN where that is unknown. */
export interface ThreadTimes {
  /** On a processor. */
  readonly ran: number;
  /** Ready to run, without a processor. */
  readonly waited: number;
}

/** The worker's clock and its last reading, in milliseconds of a steady clock. */
export interface WatchedClock {
  readonly latest: number;
  now(): number;
}

export class TurnWatch {
  readonly clock: WatchedClock;
  readonly #millis: () => number;
  /** Oldest first, in order of falling length. */
  #lately: LongTurn[] = [];
  #last: LongTurn | null = null;
  readonly #report: (turn: LongTurn, isLong: boolean) => void;

  /**
   * @param report called for each turn longer than all others of the last minute, and for each of `LONG` or more
   * @param millis of a steady clock
   */
  constructor(
    clock: WatchedClock,
    report: (turn: LongTurn, isLong: boolean) => void = () => undefined,
    millis: () => number = () => performance.now(),
  ) {
    this.clock = clock;
    this.#report = report;
    this.#millis = millis;
  }

  /** Runs some work and notes it if it took long. */
  run<T>(work: string, act: () => T): T {
    const began = this.#millis();
    try {
      return act();
    } finally {
      this.ended(began, work);
    }
  }

  /** Some work has ended. @param began milliseconds of the steady clock */
  ended(began: number, work: string): void {
    const now = this.#millis();
    if (now - began >= NOTED) this.note(began, now, work);
  }

  /** Notes work that is known to have taken long. A part of it may have been noted already: then the turn keeps that
   * name, which is more specific. */
  note(began: number, ended: number, work: string, of = ''): void {
    const millis = ended - began;
    const inner = this.#last;
    const isSame = inner !== null && inner.at - inner.millis >= began && inner.millis * 2 > millis;
    // All of it has been noted.
    if (isSame && millis - inner.millis < NOTED) return;
    const named = isSame ? inner : { work, of: of.slice(0, LONGEST_NAME) };
    this.#add({ at: ended, millis, work: named.work, of: named.of });
  }

  /** The runtime has measured a delay: notes a turn for it that no work has reported. @param times of the thread in an interval
   * that holds the delay */
  lagged(millis: number, times: ThreadTimes): void {
    const now = this.#millis();
    const known = this.#lately.some((turn) => turn.at > now - millis - 2000 && turn.millis * 2 > millis);
    if (millis >= NOTED && !known) this.#add({ at: now, millis, work: reasonOf(millis, times), of: '' });
  }

  /** The longest of the last minute; null when none was noted. */
  longest(): LongTurn | null {
    this.#forget(this.#millis());
    return this.#lately[0] ?? null;
  }

  /** The longest of the last minute, the longest of those after it, and so on. */
  lately(): readonly LongTurn[] {
    this.#forget(this.#millis());
    return this.#lately;
  }

  #add(turn: LongTurn): void {
    this.#last = turn;
    this.#forget(turn.at);
    const list = this.#lately;
    while (list.length > 0 && (list[list.length - 1] as LongTurn).millis <= turn.millis) list.pop();
    list.push(turn);
    const isLong = turn.millis >= LONG;
    if (isLong || list.length === 1) this.#report(turn, isLong);
  }

  #forget(now: number): void {
    const list = this.#lately;
    while (list.length > 0 && (list[0] as LongTurn).at < now - LATELY) list.shift();
  }
}

/** A name for a delay that no work has reported. */
function reasonOf(millis: number, { ran, waited }: ThreadTimes): string {
  if (waited * 2 >= millis) return 'waiting for a processor';
  // It slept: its process was stopped, or it waited for memory, a disk or another thread.
  if (ran * 2 < millis) return 'not running';
  return 'other work';
}
