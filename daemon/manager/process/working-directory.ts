// The working directory: created if missing, refused if another user could change it, locked against a second daemon
// (protocol/files/lock-file.ts), and the process id files.

import { chmodSync, lstatSync, mkdirSync, type Stats, statfsSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Taken, takeLock } from '../../../protocol/files/lock-file.ts';
import { stranger, writeOwn } from '../../../protocol/files/own-file.ts';
import { writePidFile } from '../../../protocol/files/pid-file.ts';
import {
  checkWay,
  isTrustedLink,
  kindOf,
  othersBits,
  ownUid,
  Untrusted,
  userText,
} from '../../../protocol/files/trust.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import { OptionError } from '../options/option-error.ts';

const MEMORY_FILESYSTEMS = [0x0102_1994, 0x8584_58f6];

/** Modes: private, or searchable by other users. */
const PRIVATE = 0o700;
const SEARCHABLE = 0o711;

/**
 * Creates the directory if it is missing, and refuses one that another user could have filled or could change.
 * Throws OptionError.
 * @param parent the only directory above it that is created as well, with its ancestors: in a path given by the
 * operator a missing directory is a mistake
 * @param shared other users must reach files in it: the worker's user, or a group with read access
 */
export function makeDirectory(dir: string, parent: string | null, shared = false): void {
  const mode = shared ? SEARCHABLE : PRIVATE;
  try {
    checkWay(dir);
    try {
      if (parent !== null) mkdirSync(parent, { recursive: true, mode });
      mkdirSync(dir, { mode });
    } catch (cause) {
      if (lstatSync(dir, { throwIfNoEntry: false }) === undefined) {
        throw new Error(`It cannot be created (${systemText(cause)})`, { cause });
      }
    }
    // A link that only root or this user can have created is the operator's choice.
    const stat = isTrustedLink(dir) ? statSync(dir) : lstatSync(dir);
    if (!stat.isDirectory()) throw new Untrusted(`It is ${kindOf(stat)} and no directory`);
    if (stat.uid !== ownUid()) throw new Untrusted(`It belongs to ${userText(stat.uid)}`);
    if ((othersBits(stat) & 0o022) !== 0) {
      throw new Untrusted(
        `Others may write to it (mode ${(stat.mode & 0o777).toString(8)}): chmod go-w ${dir}`,
      );
    }
    // Again, because another user may have created a missing part meanwhile.
    checkWay(dir);
    checkEntries(dir);
    if ((stat.mode & mode) !== mode) chmodSync(dir, (stat.mode & 0o777) | mode);
  } catch (cause) {
    throw new OptionError(
      `Cannot use working directory '${dir}': ${systemText(cause)} (or give another one with -n)`,
      false,
    );
  }
}

/** Refuses entries with our names that are not ours: none of them is removed, followed or written to. */
function checkEntries(dir: string): void {
  for (const [what, name] of Object.entries(WORKDIR_FILES)) {
    const stat = lstatSync(join(dir, name), { throwIfNoEntry: false });
    // Entries of the worker's directory are removed by name before a worker starts.
    if (stat === undefined || what === 'log' || what === 'counters') continue;
    const problem = entryProblem(what as keyof typeof WORKDIR_FILES, stat);
    if (problem !== null) throw new Untrusted(`${name} in it is not the daemon's: ${problem}`);
  }
}

function entryProblem(what: keyof typeof WORKDIR_FILES, stat: Stats): string | null {
  const owner = `It belongs to ${userText(stat.uid)}: remove it`;
  switch (what) {
    case 'socket':
    case 'readSocket':
      if (!stat.isSocket()) return `It is ${kindOf(stat)} and no socket: remove it`;
      return stat.uid === ownUid() ? null : owner;
    case 'modules':
    case 'history':
      if (!stat.isDirectory()) return `It is ${kindOf(stat)} and no directory: remove it`;
      if (stat.uid !== ownUid()) return owner;
      return (othersBits(stat) & 0o022) === 0 ? null : 'Others may write to it: remove it';
    // Replaced, never written to: a second link is left by a daemon that was killed while it created the file.
    case 'lock':
      if (!stat.isFile()) return `It is ${kindOf(stat)} and no file: remove it`;
      return stat.uid === ownUid() ? null : owner;
    case 'worker':
      return stat.isDirectory() ? null : `It is ${kindOf(stat)} and no directory: remove it`;
    default:
      return stranger(stat);
  }
}

/** Whether files of the directory are kept in memory; null if unknown. */
export function isMemoryBacked(dir: string): boolean | null {
  try {
    return MEMORY_FILESYSTEMS.includes(Number(statfsSync(dir).type) >>> 0);
  } catch {
    return null;
  }
}

/** Locks the directory for this process; returns a function that releases it. Throws OptionError. */
export function lockDirectory(dir: string): () => void {
  let taken: Taken;
  try {
    taken = takeLock(join(dir, WORKDIR_FILES.lock));
  } catch (cause) {
    throw new OptionError(
      `Cannot lock working directory '${dir}': ${systemText(cause)} (free space there, or give another one with -n)`,
      false,
    );
  }
  if (taken.release !== undefined) return taken.release;
  throw new OptionError(
    `Another daemon (process ${taken.holder}) already uses working directory '${dir}' (give another one with -n)`,
    false,
  );
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}

/** Writes both pid files; returns a function that removes that of -P (null: none). Throws OptionError. */
export function writePidFiles(dir: string, pidFile: string | null): () => void {
  try {
    writeOwn(`${dir}/${WORKDIR_FILES.pid}`, `${process.pid}\n`, 0o644);
  } catch (cause) {
    throw new OptionError(
      `Cannot write ${WORKDIR_FILES.pid} in the working directory ${dir}: ${systemText(cause)}`,
      false,
    );
  }
  if (pidFile === null) return () => {};
  try {
    return writePidFile(pidFile);
  } catch (cause) {
    throw new OptionError(
      `Could not open pid-file (${pidFile}): ${systemText(cause)} (give another one with -P)`,
      false,
    );
  }
}
