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
    const { holder, release } = attempt(path);
    if (holder instanceof Error) return { release: () => undefined, fault: holder };
    if (release !== undefined) return { release, fault: null };
    if (left === 0)
      throw new Error(`Process ${holder} already uses the disk tier's directory '${nameOf(path)}'`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** A full disk has no room for the lock, one with errors does not read it. */
function attempt(path: string): { holder?: number | Error | undefined; release?: (() => void) | undefined } {
  try {
    return takeLock(join(path, 'lock'));
  } catch (error) {
    return { holder: error as Error };
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
