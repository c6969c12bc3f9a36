// Which users could change a path: the rules by which daemon and tools trust a directory, a symlink or a file. This
// process's user and root are trusted. No other user may own a component of the path or replace one: a world-writable
// directory is only accepted with the sticky bit, as /tmp and /dev/shm have it. Special case: a symlink in the path
// is trusted like its owner, and its target is checked as well.

import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A path that is not trusted: `message` has the reason and advice, without the path. */
export class Untrusted extends Error {}

const MOST_LINKS = 40;
const STICKY = 0o1000;

export function ownUid(): number {
  return process.geteuid?.() ?? 0;
}

export function isTrustedOwner(uid: number): boolean {
  return uid === 0 || uid === ownUid();
}

/** `user nobody` or `user 1234`. */
export function userText(uid: number): string {
  const line = accountLines('/etc/passwd').find((fields) => fields[2] === String(uid));
  return `user ${line?.[0] ?? uid}`;
}

/** Permission bits (of rwxrwxrwx) granted to others, and to the group if it has members besides the owner. */
export function othersBits({ mode, uid, gid }: Stats): number {
  return mode & (isPrivateGroup(gid, uid) ? 0o007 : 0o077);
}

/** Has a group no other member than this user, or root? */
function isPrivateGroup(gid: number, uid: number): boolean {
  if (gid === 0) return true;
  const users = accountLines('/etc/passwd');
  const name = users.find((fields) => fields[2] === String(uid))?.[0];
  const others = users.filter((fields) => fields[3] === String(gid) && fields[2] !== String(uid));
  const members = accountLines('/etc/group').find((fields) => fields[2] === String(gid))?.[3] ?? '';
  const known = users.some((fields) => fields[3] === String(gid) && fields[2] === String(uid));
  return known && others.length === 0 && (members === '' || members === name);
}

function accountLines(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch {
    return [];
  }
}

/** Throws Untrusted if another user could replace `path`: checks every directory above it and every symlink on the
 * way, including a final one. A missing file is not an error. */
export function checkWay(path: string): void {
  let rest = resolve(path)
    .split('/')
    .filter((part) => part !== '');
  let at = '/';
  for (let links = 0; rest.length > 0; ) {
    const next = join(at, rest[0] as string);
    rest = rest.slice(1);
    const stat = lstatSync(next, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isSymbolicLink()) {
      if (++links > MOST_LINKS) throw new Untrusted('Too many symbolic links lead there');
      if (!isTrustedOwner(stat.uid)) {
        throw new Untrusted(
          `${next} is a symbolic link of ${userText(stat.uid)}: remove it or take another path`,
        );
      }
      const target = resolve(at, readlinkSync(next));
      rest = [...target.split('/').filter((part) => part !== ''), ...rest];
      at = '/';
      continue;
    }
    if (rest.length > 0) checkDirectoryAbove(next, stat);
    at = next;
  }
}

function checkDirectoryAbove(path: string, stat: Stats): void {
  if (!stat.isDirectory()) return;
  if (!isTrustedOwner(stat.uid)) {
    throw new Untrusted(
      `${path} belongs to ${userText(stat.uid)}, who could put something else there: take a path of your own or root's`,
    );
  }
  if ((stat.mode & 0o002) !== 0 && (stat.mode & STICKY) === 0) {
    throw new Untrusted(`${path} can be written by any user: chmod o-w ${path}, or take another path`);
  }
}

/** Can only this user or root have created this symlink and its target? */
export function isTrustedLink(path: string): boolean {
  const parent = lstatSync(dirname(resolve(path)), { throwIfNoEntry: false });
  if (parent === undefined || (parent.mode & 0o022) !== 0 || !isTrustedOwner(parent.uid)) return false;
  try {
    checkWay(path);
    return true;
  } catch {
    return false;
  }
}

/** The kind of a file, for a message. */
export function kindOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (stat.isDirectory()) return 'a directory';
  if (stat.isFIFO()) return 'a FIFO';
  if (stat.isSocket()) return 'a socket';
  return stat.isFile() ? 'a file' : 'a device';
}
