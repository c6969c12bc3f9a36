// A time limit for a promise, which continues after it.

/** Resolves with the promise's value, or with null after so many milliseconds. Rejects as the promise does. */
export async function atMost<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
