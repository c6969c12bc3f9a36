// The lock of a disk tier's directory, held by the worker: a new manager's worker may start while one without a manager ends.
//
// A device that has become full has no room for it, and only with it may segments be removed. So the directory has a file
// without contents of any worth, which goes then.

import { randomBytes } from 'node:crypto';
import { readlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../protocol/files/lock-file.ts';
import { isFull } from '../disk/full-device.ts';

/** Milliseconds between attempts, and attempts (chosen): a worker that has lost its manager ends at once. */
const PAUSE = 50;
const TRIES = 100;
const SPARE = 'spare';
/** Enough for the lock, and the first bytes of a journal, in units of any file system (chosen). */
const SPARE_BYTES = 64 * 1024;

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
      if (isFull(error) && takeSpare(path)) continue;
      // A full disk has no room for it, one with errors cannot be read.
      return { release: () => undefined, fault: error as Error };
    }
    if (lock.release !== undefined) return { release: lock.release, fault: null };
    if (left === 0)
      throw new Error(`Process ${lock.holder} already uses the disk tier's directory '${nameOf(path)}'`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** Leaves room for the lock of the next start, if there is room. For the holder of the lock. */
export function leaveSpare(path: string): void {
  try {
    // Nothing that a file system could pack.
    writeFileSync(join(path, SPARE), randomBytes(SPARE_BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Part of it may be there.
    if (isFull(error)) takeSpare(path);
  }
}

/** False if there was none. */
function takeSpare(path: string): boolean {
  try {
    unlinkSync(join(path, SPARE));
    return true;
  } catch {
    return false;
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
