// A file with a process id, for whoever sends signals. One that a process which still runs has written is not replaced:
// signals would go to another than its reader thinks. What runs under that number and began after the file was written is
// another process.

import { lstatSync, readFileSync } from 'node:fs';
import { startOf } from './lock-file.ts';
import { stranger, writeOwn } from './own-file.ts';

/** Ticks a second in /proc: the same on all of Linux, whatever the kernel counts by. */
const TICKS = 100;
/** Seconds by which clock and file system may differ (chosen). */
const SLACK = 2;

/** Returns what removes it. Throws where it cannot be written, and where its process runs. */
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
