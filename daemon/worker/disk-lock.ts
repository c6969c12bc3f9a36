// The lock of a disk tier's directory, held by the worker: a new manager's worker may start while one without a manager ends.

import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../protocol/files/lock-file.ts';

/** Milliseconds between attempts, and attempts (chosen): a worker that has lost its manager ends at once. */
const PAUSE = 50;
const TRIES = 100;

/** The lock, or the file system's error if there is none: memory can serve alone then. */
export interface DiskLock {
  readonly release: () => void;
  readonly fault: Error | null;
}

/** Locks a directory for this process. Fails when another process holds it. */
export async function lockDisk(path: string): Promise<DiskLock> {
  for (let left = TRIES; ; left--) {
    let lock: ReturnType<typeof takeLock>;
    try {
      lock = takeLock(join(path, 'lock'));
    } catch (error) {
      // A full disk has no room for it, one with errors cannot be read.
      return { release: () => undefined, fault: error as Error };
    }
    if (lock.release !== undefined) return { release: lock.release, fault: null };
    if (left === 0)
      throw new Error(`Process ${lock.holder} already uses the disk tier's directory '${nameOf(path)}'`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** The worker knows the directory as a descriptor. */
function nameOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return path;
  }
}
