// The longest turns of the last minute, of the worker's threads and of the manager, as each of them has told: for turn.list,
// the metrics and the list of events. They outlive the worker, whose end may be due to one.

import type { TurnReport } from '../link.ts';
import { LONG } from '../turns/turn-watch.ts';
import { Allowance } from './worker-speech.ts';

/** Seconds. */
const LATELY = 60;
/** Turns kept (chosen): each thread reports but those that are longer than its others, or long. */
const MOST = 100;

export interface NotedTurn {
  /** When it ended, in epoch seconds. */
  readonly at: number;
  /** "manager", or a thread of the worker: "thread 0". */
  readonly where: string;
  readonly millis: number;
  readonly work: string;
  readonly of: string;
}

export class LongTurns {
  readonly #now: () => number;
  readonly #events: Allowance<string>;
  #turns: NotedTurn[] = [];

  /** @param happened an event for operators @param now epoch seconds */
  constructor(happened: (text: string) => void, now: () => number = () => Date.now() / 1000) {
    this.#now = now;
    this.#events = new Allowance(happened, (count) => `${count} more long turns are left out`);
  }

  /** @param thread null for the manager */
  add({ millis, work, of }: TurnReport, thread: number | null): void {
    const where = thread === null ? 'manager' : `thread ${thread}`;
    this.#turns = [{ at: this.#now(), where, millis, work, of }, ...this.lately()]
      .toSorted((a, b) => b.millis - a.millis)
      .slice(0, MOST);
    if (millis >= LONG)
      this.#events.take(
        `${where} did nothing else for ${Math.round(millis)} ms: ${of === '' ? work : `${of}, ${work}`}`,
      );
  }

  /** Those of the last minute, the longest first. */
  lately(): readonly NotedTurn[] {
    const since = this.#now() - LATELY;
    this.#turns = this.#turns.filter(({ at }) => at >= since && at <= since + 2 * LATELY);
    return this.#turns;
  }
}
