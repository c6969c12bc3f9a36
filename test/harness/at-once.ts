// Whether a service is back at once, on a machine that may be busy with other things in any second: a pause that the
// product makes is there every time, one that the machine makes is not.

/** Rounds to play at most (chosen). */
const ROUNDS = 3;

/** Milliseconds in which a service is back that starts again at once: the goal is a second, of which most is its start. */
const atOnce = (starting: number): number => 1000 + 3 * starting;

/**
 * Plays rounds until one is over at once; throws if none of three is.
 * @param round returns the milliseconds in which a service was back
 * @param start returns those of a start here and now
 */
export async function backAtOnce(round: () => Promise<number>, start: () => Promise<number>): Promise<void> {
  const seen: string[] = [];
  while (seen.length < ROUNDS) {
    const took = await round();
    if (took < atOnce(0)) return;
    const starting = await start();
    if (took < atOnce(starting)) return;
    seen.push(`${Math.round(took)} ms, a start ${Math.round(starting)} ms`);
  }
  throw new Error(`not back at once in any round: ${seen.join('; ')}`);
}

/** Milliseconds that `act` takes. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}
