// Objects that an outside extension holds in the place of ours: frozen, and only this side knows what each stands for,
// so that nobody can make one up.

import type { Director } from '../../contract/context.ts';
import type { OutsideBackend } from './interface.ts';

/** What an object that was handed out stands for. */
export const STANDS_FOR = new WeakMap<object, unknown>();

/** A frozen object that stands for a value of the program. */
export function handle<T extends object>(value: T, meant: unknown): T {
  STANDS_FOR.set(value, meant);
  return Object.freeze(value);
}

/** The same director gets the same object, so that an extension can compare and keep them. */
const BACKENDS = new WeakMap<Director, OutsideBackend>();

export function backendHandle(d: Director): OutsideBackend {
  let known = BACKENDS.get(d);
  if (known === undefined) {
    known = handle({ name: d.vclName, healthy: (now: number) => d.healthy(now) }, d);
    BACKENDS.set(d, known);
  }
  return known;
}
