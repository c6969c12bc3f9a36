// Work that comes in steps, done at once.

/** What the steps return. */
export function drained<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
