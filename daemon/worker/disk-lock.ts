// The lock of a disk tier's directory, held by the worker: a new manager's worker may start while one without a manager ends.

import { join } from 'node:path';
import { takeLock } from '../../protocol/files/lock-file.ts';

/** Milliseconds between attempts, and attempts (chosen): a worker that has lost its manager ends at once. */
const PAUSE = 50;
const TRIES = 100;

/** Locks a directory for this process; returns what releases it. Fails when another process holds it. */
export async function lockDisk(path: string): Promise<() => void> {
  for (let left = TRIES; ; left--) {
    const { holder, release } = takeLock(join(path, 'lock'));
    if (release !== undefined) return release;
    if (left === 0) throw new Error(`Process ${holder} already uses ${path}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}
