import { Skipped } from './actor.ts';

/** Ends the test: it cannot be judged here. */
export function skip(reason: string): never {
  throw new Skipped(reason);
}
