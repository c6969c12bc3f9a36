// Work that comes in steps, done at once.

/** Results of the steps. */
export function drained<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
