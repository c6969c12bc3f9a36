// The longest turns of a thread in the last minute, and the work that they were spent on. Work that may be long says when
// it began once it has ended, and of the driver's steps the one in which the clock moved counts: most of them do not read
// it, so the time of two may be the second one's. Time is that of the clock: on a machine with other things to do it
// holds what the thread has waited for a processor.

/** Milliseconds from which a turn is noted: the most that one client may cost the others. */
export const NOTED = 10;
/** Milliseconds from which operators are told of it (chosen): every client has noticed. */
export const LONG = 250;
/** Milliseconds. */
const LATELY = 60_000;
/** Characters of `of` at the most, whatever a client has sent (chosen). */
const LONGEST_NAME = 200;

export interface LongTurn {
  /** When it ended: milliseconds of a steady clock. */
  readonly at: number;
  readonly millis: number;
  /** The kind of work: a step, a command; one of not many words, as labels of metrics are. */
  readonly work: string;
  /** Which request, program or the like; empty where there is nothing to tell apart. */
  readonly of: string;
}

/** Time as the worker's clock has it, and when it was read last: milliseconds of a steady clock. */
export interface WatchedClock {
  readonly latest: number;
  now(): number;
}

export class TurnWatch {
  readonly clock: WatchedClock;
  readonly #millis: () => number;
  /** The oldest first, and none as long as the one before it. */
  #lately: LongTurn[] = [];
  #last: LongTurn | null = null;
  readonly #told: (turn: LongTurn, isLong: boolean) => void;

  /**
   * @param told hears of each turn that is longer than all others of the last minute, and of each that is `LONG`
   * @param millis of a steady clock
   */
  constructor(
    clock: WatchedClock,
    told: (turn: LongTurn, isLong: boolean) => void = () => undefined,
    millis: () => number = () => performance.now(),
  ) {
    this.clock = clock;
    this.#told = told;
    this.#millis = millis;
  }

  /** Does some work, and notes it when it was long. */
  run<T>(work: string, act: () => T): T {
    const began = this.#millis();
    try {
      return act();
    } finally {
      this.ended(began, work);
    }
  }

  /** Work is over that began then. @param began milliseconds of the steady clock */
  ended(began: number, work: string): void {
    const now = this.#millis();
    if (now - began >= NOTED) this.note(began, now, work);
  }

  /** The same of work that is known to have been long. What it called itself may have been noted already: it then keeps that
   * name, which says more. */
  note(began: number, ended: number, work: string, of = ''): void {
    const millis = ended - began;
    const inner = this.#last;
    const isSame = inner !== null && inner.at - inner.millis >= began && inner.millis * 2 > millis;
    // Everything of it has been told.
    if (isSame && millis - inner.millis < NOTED) return;
    const named = isSame ? inner : { work, of: of.slice(0, LONGEST_NAME) };
    this.#add({ at: ended, millis, work: named.work, of: named.of });
  }

  /** What the runtime has seen of a second: a turn that no work has owned up to. */
  lagged(millis: number): void {
    const now = this.#millis();
    const known = this.#lately.some((turn) => turn.at > now - millis - 2000 && turn.millis * 2 > millis);
    if (millis >= NOTED && !known) this.#add({ at: now, millis, work: 'other work', of: '' });
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
    if (isLong || list.length === 1) this.#told(turn, isLong);
  }

  #forget(now: number): void {
    const list = this.#lately;
    while (list.length > 0 && (list[0] as LongTurn).at < now - LATELY) list.shift();
  }
}
