// A pid file. One written by a process that is still running is not replaced, since signals would reach the wrong
// process. A process with that pid that started after the file was written is a different one.

import { lstatSync, readFileSync } from 'node:fs';
import { startOf } from './lock-file.ts';
import { stranger, writeOwn } from './own-file.ts';

/** Clock ticks per second in /proc: the same on all Linux systems. */
const TICKS = 100;
/** Tolerance in seconds between clock and file system (chosen). */
const SLACK = 2;

/** Returns a function that removes it. Throws if it cannot be written, or its process is running. */
export function writePidFile(path: string): () => void {
  const writer = runningWriter(path);
  if (writer !== null) throw new Error(`Process ${writer}, which wrote it, is still running`);
  return writeOwn(path, `${process.pid}\n`, 0o644);
}

function runningWriter(path: string): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stranger(stat) !== null) return null;
  let pid: number;
  let began: number;
  try {
    pid = Number(readFileSync(path, 'utf8').trim());
    if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return null;
    const ticks = Number(startOf(pid) || Number.NaN);
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    began = Date.now() / 1000 - uptime + ticks / TICKS;
  } catch {
    return null;
  }
  return began <= stat.mtimeMs / 1000 + SLACK ? pid : null;
}
