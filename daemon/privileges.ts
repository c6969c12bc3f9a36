// Becomes another user for good, in a process of root before it handles input or code from outside.
//
// Afterwards it checks that the system did so, because a process that wrongly believes to have given up
// its rights is worse than one that fails. Never called by the manager, which binds ports for as long as
// it lives.

import { readFileSync } from 'node:fs';

/** The user that a process becomes: names and numbers from the system's account files. */
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

/** The rights left in a process that should be a plain user, '' for none. */
function rightsLeft(uid: number, gid: number): string {
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid) return "another user's rights";
  if (process.getgid?.() !== gid || process.getegid?.() !== gid) return "another group's rights";
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'latin1');
  } catch {
    // Without /proc nothing more can be known.
    return '';
  }
  // Inheritable capabilities give nothing to a process that has no others and starts no marked program.
  const kept = ['CapPrm', 'CapEff', 'CapAmb'].filter((name) =>
    new RegExp(`^${name}:\\s*0*[1-9a-f]`, 'm').test(status),
  );
  return kept.length === 0 ? '' : `capabilities (${kept.join(', ')})`;
}
