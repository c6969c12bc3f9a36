// Creates the files of daemon and tools safely in directories that others can write to. New files are created
// exclusively and never through symlinks; existing files of our own are replaced or, if the inode matters, opened and
// verified before they are changed. Anything else fails with Untrusted: symlinks are not followed, and other users'
// files are not written. Never creates directories.

import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {
  checkWay,
  isTrustedLink,
  isTrustedOwner,
  kindOf,
  othersBits,
  ownUid,
  Untrusted,
  userText,
} from './trust.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const REMEDY = 'remove it or take another name';

/** Why another user may have created a file; null if only this user can have. */
export function stranger(stat: Stats): string | null {
  if (!stat.isFile()) return `It is ${kindOf(stat)} and no file: ${REMEDY}`;
  if (stat.uid !== ownUid()) return `It belongs to ${userText(stat.uid)}: ${REMEDY}`;
  if (stat.nlink !== 1) return `It has ${stat.nlink} names (hard links): ${REMEDY}`;
  return null;
}

/** Opens a file of a less privileged user for reading; throws unless it is a regular file. */
export function openRegular(path: string): number {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stat = fstatSync(fd);
  if (stat.isFile()) return fd;
  closeSync(fd);
  throw new Untrusted(`It is ${kindOf(stat)} and no file: ${REMEDY}`);
}

/** Throws Untrusted if `path` exists and is not this user's file. */
function checkOwnFile(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const problem = stat === undefined ? null : stranger(stat);
  if (problem !== null) throw new Untrusted(problem);
}

/** The permissions of a file. */
export interface FileAccess {
  mode: number;
  /** A group of this process or of the directory; the system's default if absent. */
  group?: number;
}

/** Opens a new file for reading and writing; this user's own file at that path is removed first. */
export function createOwn(path: string, { mode, group }: FileAccess): number {
  checkOwnFile(path);
  removeName(path);
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    if (group !== undefined && fstatSync(fd).gid !== group) fchownSync(fd, ownUid(), group);
    return fd;
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}

/** Writes a new file in place of this user's; returns a function that removes it, unless it has been replaced. */
export function writeOwn(path: string, data: string | Uint8Array, mode: number): () => void {
  checkOwnFile(path);
  const fd = createOrReuse(path, mode);
  let made: Stats;
  try {
    writeAll(fd, typeof data === 'string' ? Buffer.from(data) : data);
    made = fstatSync(fd);
  } catch (cause) {
    // An incomplete file is worse than none. If the name cannot be removed either, the first error is thrown.
    try {
      removeName(path);
    } catch {}
    throw cause;
  } finally {
    closeSync(fd);
  }
  return () => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    if (now !== undefined && isSame(now, made)) removeName(path);
  };
}

/** Inode numbers are reused quickly. */
function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.birthtimeMs === b.birthtimeMs;
}

/** A full disk may cause a short write. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** A directory without write permission may still contain a file of ours, such as /run for a daemon not run by root. */
function createOrReuse(path: string, mode: number): number {
  try {
    return createOwn(path, { mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw cause;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw cause;
  }
  return openExisting(path, false);
}

function removeName(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
}

/** Opens a long-lived output file, as in -w: a new one with `mode`, or an existing one. An existing file must belong
 * to us or root and be writable by no one else; a device, a pipe or a symlink must have been created by us or root,
 * such as /dev/stdout. */
export function openOutput(path: string, mode: number, append: boolean): number {
  try {
    return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | (append ? O_APPEND : 0), mode);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
  return openExisting(path, append);
}

function openExisting(path: string, append: boolean): number {
  const there = lstatSync(path);
  const link = there.isSymbolicLink();
  if (link && !isTrustedLink(path)) {
    throw new Untrusted(`It is a symbolic link that others may have put there: ${REMEDY}`);
  }
  if (!link) checkWritable(there, false);
  checkWay(path);
  // Opening a pipe waits for its reader; a pipe that replaced the file must not block here.
  const blocking = there.isFIFO() ? 0 : O_NONBLOCK;
  const fd = openSync(path, O_WRONLY | (link ? 0 : O_NOFOLLOW | blocking) | (append ? O_APPEND : 0));
  try {
    const stat = fstatSync(fd);
    checkWritable(stat, link);
    if (!append && stat.isFile()) ftruncateSync(fd);
    return fd;
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}

/** A trusted symlink may lead to another user's non-file, such as a terminal. */
function checkWritable(stat: Stats, link: boolean): void {
  const refuse = (what: string): never => {
    throw new Untrusted(`${what}: ${REMEDY}`);
  };
  if (stat.isDirectory() || stat.isSocket()) refuse(`It is ${kindOf(stat)} and no file`);
  if (!isTrustedOwner(stat.uid) && !(link && !stat.isFile())) refuse(`It belongs to ${userText(stat.uid)}`);
  if (!stat.isFile()) return;
  if (stat.nlink !== 1) refuse(`It has ${stat.nlink} names (hard links)`);
  if ((othersBits(stat) & 0o002) !== 0) refuse('Everybody may write to it');
}
