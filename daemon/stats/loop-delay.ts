// How late an event loop was, by the runtime's own histogram, which costs a timer a look and nothing between them.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

export class LoopDelay {
  readonly #resolution: number;
  readonly #histogram: IntervalHistogram;

  /** @param resolution milliseconds between two looks */
  constructor(resolution: number) {
    this.#resolution = resolution;
    this.#histogram = monitorEventLoopDelay({ resolution });
  }

  look(isOn: boolean): void {
    if (isOn) this.#histogram.enable();
    else this.#histogram.disable();
  }

  /** Microseconds since the last call, beyond the interval itself; 0 when it has not looked. */
  worst(): number {
    const { count, max } = this.#histogram;
    this.#histogram.reset();
    return count === 0 ? 0 : Math.max(0, Math.round(max / 1000) - this.#resolution * 1000);
  }
}

/** The longest turns of a thread. */
export interface TurnGauge {
  /** The event loop was late by so many milliseconds. */
  lagged(millis: number): void;
  longest(): { readonly millis: number } | null;
}
