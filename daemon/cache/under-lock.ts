// Has methods of an object run under a lock, for the parts of a cache that several threads serve. What needs the lock for
// a part of its work only, or not always, takes it by itself.

import type { Lock } from '../threads/shared-lock.ts';

type Method = (...args: unknown[]) => unknown;

/** The object itself where there is no lock to take: one thread pays nothing. */
export function underLock<T extends object>(target: T, lock: Lock | null, names: readonly (keyof T)[]): T {
  if (lock === null) return target;
  const locked = Object.create(target) as T;
  for (const name of names) {
    const method = target[name] as Method;
    Object.defineProperty(locked, name, {
      value: (...args: unknown[]) => {
        lock.enter();
        try {
          return method.apply(target, args);
        } finally {
          lock.leave();
        }
      },
    });
  }
  return locked;
}
