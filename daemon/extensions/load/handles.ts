// Handles: frozen objects that an outside extension holds in place of ours. Only this module knows the value behind
// each, so that handles cannot be forged.

import type { Director } from '../../contract/context.ts';
import type { OutsideBackend } from './interface.ts';

/** Values by handle. */
export const STANDS_FOR = new WeakMap<object, unknown>();

/** A frozen handle for a value of the program. */
export function handle<T extends object>(value: T, meant: unknown): T {
  STANDS_FOR.set(value, meant);
  return Object.freeze(value);
}

/** The same director always gets the same handle, so that an extension can compare and store them. */
const BACKENDS = new WeakMap<Director, OutsideBackend>();

export function backendHandle(d: Director): OutsideBackend {
  let known = BACKENDS.get(d);
  if (known === undefined) {
    known = handle({ name: d.vclName, healthy: (now: number) => d.healthy(now) }, d);
    BACKENDS.set(d, known);
  }
  return known;
}
