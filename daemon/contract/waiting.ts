// Calls of extensions that have to wait, such as std.cache_req_body for the body. A sub with such a call is generated
// as a JavaScript generator, which yields the result of the call: the value if it is available, else a Waiting.
// Programs without such calls are plain functions without extra cost.
//
// A transaction can wait in every state of a client request or a fetch except vcl_hash. vcl_init and vcl_fini run while
// the worker loads or discards a program, and extensions call SUB values within their own code: there the functions
// must return at once. A long vcl_init is a generator nevertheless: it yields nothing where it may be interrupted.

import { ExtensionError, VclFailure } from './failure.ts';
import type { ReturnCode } from './program.ts';

/** States (`places` of a row) in which a call may wait. */
export const WAITING_PLACES =
  'recv pipe pass purge miss hit deliver synth backend_fetch backend_response backend_error';

/** Seconds that a function of an extension may take unless its row says otherwise. */
export const CALL_TIMEOUT = 5;

type Answered = (value: unknown) => void;
type Failed = (error: unknown) => void;

/** A pending result. */
export class Waiting {
  /** Starts to wait; one of the callbacks is called once, possibly before this returns. */
  readonly start: (answered: Answered, failed: Failed) => void;

  constructor(start: (answered: Answered, failed: Failed) => void) {
    this.start = start;
  }
}

/**
 * Waits for a promise.
 * @param label the function that returned it, for messages
 * @param seconds after which the call fails; a later result is ignored
 */
export function awaited(label: string, promise: PromiseLike<unknown>, seconds: number): Waiting {
  const settled = Promise.resolve(promise);
  // If nothing waits for it, its rejection must not be unhandled.
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

/** A state or sub that may wait, in the form of a plain function. */
export interface WaitingState<Context> {
  (ctx: Context): ReturnCode;
  readonly steps: Steps<Context>;
}

/** For generated code: converts a generator function to a plain function. */
export function waiting<Context>(steps: Steps<Context>): WaitingState<Context> {
  const atOnce = (ctx: Context): ReturnCode => {
    for (const running = withoutWaiting(steps(ctx)); ; ) {
      const { done, value } = running.next();
      if (done === true) return value;
    }
  };
  return Object.assign(atOnce, { steps });
}

/** Feeds each yielded value back to the generator; a pending result fails it. */
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
