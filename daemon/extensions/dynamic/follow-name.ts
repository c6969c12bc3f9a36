// A question that is asked again and again while its program is warm: after its answer's lifetime, or sooner after a
// failure. The first answer can be waited for.

import type { Director } from '../../contract/context.ts';

/** Least seconds between two questions (chosen), to spare the name server. */
const SHORTEST = 0.1;
/** A timer cannot wait for longer, in seconds. */
const LONGEST = 2 ** 31 / 1000 - 1;

export interface Times {
  /** Seconds for the first answer. */
  readonly firstTimeout: number;
  /** Seconds until a question that has failed is asked again. */
  readonly retryAfter: number;
}

export class Refresh {
  readonly #ask: () => Promise<number>;
  readonly #times: Times;
  #timer: NodeJS.Timeout | undefined;
  #isWarm: boolean;
  #isAsking = false;
  #ended = false;
  #known: (() => void) | null = null;
  readonly #first: Promise<void>;
  /** Why the last question failed; '' if it did not. */
  problem = '';

  /** @param ask asks once, and resolves to the seconds until the next time */
  constructor(ask: () => Promise<number>, times: Times, isWarm: boolean) {
    this.#ask = ask;
    this.#times = times;
    this.#isWarm = isWarm;
    this.#first = new Promise((known) => {
      this.#known = known;
    });
    setTimeout(() => this.#tell(), Math.min(LONGEST, times.firstTimeout) * 1000).unref();
    void this.#renew();
  }

  /** Settles with the first answer or its timeout; null once it has. */
  get first(): Promise<void> | null {
    return this.#known === null ? null : this.#first;
  }

  setWarm(isWarm: boolean): void {
    this.#isWarm = isWarm;
    if (isWarm) void this.#renew();
    else clearTimeout(this.#timer);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#tell();
  }

  #tell(): void {
    this.#known?.();
    this.#known = null;
  }

  async #renew(): Promise<void> {
    if (this.#isAsking || this.#ended) return;
    clearTimeout(this.#timer);
    this.#isAsking = true;
    let seconds: number;
    try {
      seconds = await this.#ask();
      this.problem = '';
    } catch (error) {
      seconds = this.#times.retryAfter;
      this.problem = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    }
    this.#isAsking = false;
    this.#tell();
    if (this.#ended || !this.#isWarm) return;
    const wait = Math.min(LONGEST, Math.max(SHORTEST, seconds));
    this.#timer = setTimeout(() => void this.#renew(), wait * 1000).unref();
  }
}

/** The first of several directors that may know more; null if none may. */
export function firstOf(waits: readonly (Promise<void> | null | undefined)[]): Promise<void> | null {
  const open = waits.filter((each) => each != null);
  return open.length === 0 ? null : Promise.race(open);
}

/** The connections of several directors. */
export function inUseOf(directors: readonly Director[]): number {
  return directors.reduce((sum, { inUse }) => sum + inUse, 0);
}
