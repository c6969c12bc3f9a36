// Becoming another user for good: what a process of root's does before it runs what came from outside.
//
// Afterwards it looks whether the system did as it was told, because a process that only believes to have given up
// its rights is worse than one that says it could not. Never called by the manager, which binds ports for as long as
// it lives.

import { readFileSync } from 'node:fs';

/** Whom a process becomes: names and numbers as the system's files of accounts have them. */
export interface Account {
  user: string;
  uid: number;
  gid: number;
  /** A group besides those that the user is in. */
  extraGroup?: number;
}

/** Gives up root's rights; throws when any is left. */
export function becomeUser({ user, uid, gid, extraGroup }: Account): void {
  try {
    // The typings leave it out.
    (process as { initgroups?: (user: string, group: number) => void }).initgroups?.(user, gid);
    if (extraGroup !== undefined) process.setgroups?.([...(process.getgroups?.() ?? [gid]), extraGroup]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (cause) {
    throw new Error(
      `Cannot become user ${user} (${(cause as Error).message}): start with CAP_SETUID and CAP_SETGID, or with -j none`,
      { cause },
    );
  }
  const left = rightsLeft(uid, gid);
  if (left !== '') throw new Error(`Still has ${left} as user ${user}: start without it, or with -j none`);
}

/** What a process that should be a plain user still has, '' for nothing. */
function rightsLeft(uid: number, gid: number): string {
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid) return "another user's rights";
  if (process.getgid?.() !== gid || process.getegid?.() !== gid) return "another group's rights";
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'latin1');
  } catch {
    // No such file system: there is nothing more to be known.
    return '';
  }
  // Inheritable ones give nothing to a process that has no others and starts no marked program.
  const kept = ['CapPrm', 'CapEff', 'CapAmb'].filter((name) =>
    new RegExp(`^${name}:\\s*0*[1-9a-f]`, 'm').test(status),
  );
  return kept.length === 0 ? '' : `capabilities (${kept.join(', ')})`;
}
