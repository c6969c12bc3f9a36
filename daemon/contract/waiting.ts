// Calls of extensions that have to wait: std.cache_req_body is answered when the body is there. A sub that makes
// such a call is generated as a JavaScript generator, which yields what the call gave; a call that has its answer
// gives it, one that has not gives a Waiting. Programs without such calls are generated as ever and pay nothing.
//
// Only vcl_recv can wait. In every other state the functions must give their answer at once.

import type { VclContext } from './context.ts';
import { VclFailure } from './failure.ts';
import type { ReturnCode } from './program.ts';

/** An answer that is still to come. */
export class Waiting {
  /** Begins to wait; `done` is called once, perhaps before this returns. */
  readonly start: (done: (value: unknown) => void) => void;

  constructor(start: (done: (value: unknown) => void) => void) {
    this.start = start;
  }
}

export type StateSteps = (ctx: VclContext) => Generator<unknown, ReturnCode, unknown>;

/** A state or sub that may wait, as a function that does not. */
export interface WaitingState {
  (ctx: VclContext): ReturnCode;
  readonly steps: StateSteps;
}

/** For generated code: makes an ordinary function of a generator. */
export function waiting(steps: StateSteps): WaitingState {
  const atOnce = (ctx: VclContext): ReturnCode => {
    const running = steps(ctx);
    let value: unknown;
    for (;;) {
      const step = running.next(value);
      if (step.done === true) return step.value;
      if (step.value instanceof Waiting)
        throw new VclFailure('A call that has to wait is not possible here', true);
      value = step.value;
    }
  };
  return Object.assign(atOnce, { steps });
}
