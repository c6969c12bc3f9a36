// The delay of an event loop, from the runtime's own histogram, which costs a timer per sample and nothing between
// them.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

export class LoopDelay {
  readonly #resolution: number;
  readonly #histogram: IntervalHistogram;

  /** @param resolution milliseconds between two samples */
  constructor(resolution: number) {
    this.#resolution = resolution;
    this.#histogram = monitorEventLoopDelay({ resolution });
  }

  enable(isOn: boolean): void {
    if (isOn) this.#histogram.enable();
    else this.#histogram.disable();
  }

  /** Largest delay in microseconds since the last call, beyond the interval itself; 0 when nothing was sampled. */
  worst(): number {
    const { count, max } = this.#histogram;
    this.#histogram.reset();
    return count === 0 ? 0 : Math.max(0, Math.round(max / 1000) - this.#resolution * 1000);
  }
}
