// Calls of extensions that have to wait: std.cache_req_body is answered when the body is there. A sub that makes
// such a call is generated as a JavaScript generator, which yields what the call gave; a call that has its answer
// gives it, one that has not gives a Waiting. Programs without such calls are plain functions and pay nothing.
//
// A transaction waits in every state of a client request or a fetch but vcl_hash. vcl_init and vcl_fini run while the
// worker loads or drops a program, and an extension calls a SUB value in the middle of its own code: there the
// functions must give their answer at once. A long vcl_init is a generator nevertheless: it yields nothing where it may be
// interrupted.

import { ExtensionError, VclFailure } from './failure.ts';
import type { ReturnCode } from './program.ts';

/** States (`places` of a row) in which a call may wait. */
export const WAITING_PLACES =
  'recv pipe pass purge miss hit deliver synth backend_fetch backend_response backend_error';

/** How long a function of an extension may take unless its row says otherwise, in seconds. */
export const CALL_TIMEOUT = 5;

type Answered = (value: unknown) => void;
type Failed = (error: unknown) => void;

/** An answer that is still to come. */
export class Waiting {
  /** Begins to wait; one of the two is called once, perhaps before this returns. */
  readonly start: (answered: Answered, failed: Failed) => void;

  constructor(start: (answered: Answered, failed: Failed) => void) {
    this.start = start;
  }
}

/**
 * Waits for a promise.
 * @param label function that gave it, for messages
 * @param seconds after which the call fails; the promise may then do what it likes
 */
export function awaited(label: string, promise: PromiseLike<unknown>, seconds: number): Waiting {
  const settled = Promise.resolve(promise);
  // Nobody may come to wait for it, and then its failure must not become the worker's.
  settled.catch(() => undefined);
  return new Waiting((answered, failed) => {
    let open = true;
    const once = (go: () => void): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      go();
    };
    const late = (): void => failed(new ExtensionError(`${label}() did not answer within ${seconds} s`));
    const timer = setTimeout(() => once(late), seconds * 1000);
    settled.then(
      (value) => once(() => answered(value)),
      (error) => once(() => failed(error)),
    );
  });
}

type Steps<Context> = (ctx: Context) => Generator<unknown, ReturnCode, unknown>;

/** A state or sub that may wait, as a function that does not. */
export interface WaitingState<Context> {
  (ctx: Context): ReturnCode;
  readonly steps: Steps<Context>;
}

/** For generated code: makes an ordinary function of a generator. */
export function waiting<Context>(steps: Steps<Context>): WaitingState<Context> {
  const atOnce = (ctx: Context): ReturnCode => {
    for (const running = withoutWaiting(steps(ctx)); ; ) {
      const { done, value } = running.next();
      if (done === true) return value;
    }
  };
  return Object.assign(atOnce, { steps });
}

/** What runs gets each value that it yields; an answer that is still to come fails it. */
export function* withoutWaiting(
  running: Generator<unknown, ReturnCode, unknown>,
): Generator<void, ReturnCode> {
  let value: unknown;
  for (;;) {
    const step = running.next(value);
    if (step.done === true) return step.value;
    if (step.value instanceof Waiting)
      throw new VclFailure('A call that has to wait is not possible here', true);
    value = step.value;
    yield;
  }
}
