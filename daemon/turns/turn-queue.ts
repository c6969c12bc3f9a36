// Many who do the same, as they become ready in any number in one turn: some go on at once, and the others one after
// another in the next turns, first come, first served. Whoever comes while others wait goes after them.

import type { Turns } from './turns.ts';

export interface InTurn {
  /** It may have ended by then. */
  turn(): void;
}

export class TurnQueue {
  readonly #turns: Turns;
  #waiting: InTurn[] = [];
  #scheduled = false;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Whether one may go on at once; else its turn() is called later. */
  enter(one: InTurn): boolean {
    if (this.#waiting.length === 0 && this.#mayGoOn()) return true;
    this.#waiting.push(one);
    this.#schedule();
    return false;
  }

  /** Each is long enough for a look at the clock. */
  #mayGoOn(): boolean {
    const may = this.#turns.mayGoOn();
    this.#turns.tookLong();
    return may;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#turns.later(() => this.#serve());
  }

  #serve(): void {
    const waiting = this.#waiting;
    let served = 0;
    this.#scheduled = false;
    try {
      do (waiting[served++] as InTurn).turn();
      while (served < waiting.length && this.#mayGoOn());
    } finally {
      // What one throws must not keep the others.
      waiting.splice(0, served);
      if (waiting.length > 0) this.#schedule();
    }
  }
}
