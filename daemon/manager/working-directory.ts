// The working directory: made when missing, locked against a second daemon, left clean.
//
// The lock names a process and the moment it started, so that a lock left behind by a killed daemon is
// recognised even when its process id is in use again. Awkward: Node has no flock(2), so two daemons that
// start within the same instant are told apart by the exclusive creation of the file.

import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { OptionError } from './option-error.ts';

const MEMORY_FILESYSTEMS = [0x0102_1994, 0x8584_58f6];

/** Makes the directory, mode 0700, if it is not there. Throws OptionError. */
export function makeDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!statSync(dir).isDirectory()) throw new Error('not a directory');
  } catch (cause) {
    throw new OptionError(`Cannot create working directory '${dir}': ${reason(cause)}`, false);
  }
}

/** Whether files of the directory live in memory; null when that cannot be told. */
export function isMemoryBacked(dir: string): boolean | null {
  try {
    return MEMORY_FILESYSTEMS.includes(Number(statfsSync(dir).type) >>> 0);
  } catch {
    return null;
  }
}

/** Takes the directory for this process; returns what gives it back. Throws OptionError. */
export function lockDirectory(dir: string): () => void {
  const path = join(dir, WORKDIR_FILES.lock);
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const fd = openSync(path, 'wx', 0o600);
      writeSync(fd, `${process.pid} ${startOf(process.pid)}\n`);
      closeSync(fd);
      return () => removeFile(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new OptionError(`Cannot lock working directory '${dir}': ${reason(cause)}`, false);
      }
    }
    const owner = readOwner(path);
    if (owner !== null) {
      throw new OptionError(
        `Another daemon (process ${owner}) already uses working directory '${dir}' (give another one with -n)`,
        false,
      );
    }
    removeFile(path);
  }
  throw new OptionError(`Cannot lock working directory '${dir}'`, false);
}

/** The living process that holds a lock, or null. */
function readOwner(path: string): number | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  const [pid, start] = text.trim().split(' ');
  const id = Number(pid);
  if (!Number.isInteger(id) || id <= 0 || start === undefined) return null;
  const now = startOf(id);
  return now !== '' && now === start ? id : null;
}

/** When a process started, in ticks since the boot; '' when there is no such process. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain blanks; start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process that nobody has collected yet holds nothing any more.
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return pidAlive(pid) ? '?' : '';
  }
}

function pidAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}

/** Error text as operators read it elsewhere. */
export function reason(cause: unknown): string {
  const e = cause as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'No such file or directory',
    EACCES: 'Permission denied',
    EPERM: 'Operation not permitted',
    EEXIST: 'File exists',
    ENOTDIR: 'Not a directory',
    EISDIR: 'Is a directory',
    EROFS: 'Read-only file system',
    ENOSPC: 'No space left on device',
  };
  return known[e.code ?? ''] ?? e.message;
}
