// Permanently drops root privileges, before a process handles external input or foreign code.
//
// It verifies the result afterwards, because a process that wrongly believes to have dropped its privileges is worse
// than one that fails. Never called by the manager, which binds ports for as long as it lives.

import { readFileSync } from 'node:fs';

/** The account that a process switches to: names and ids from the account files. */
export interface Account {
  user: string;
  uid: number;
  gid: number;
  /** A supplementary group in addition to the user's own. */
  extraGroup?: number;
}

/** Drops root privileges; throws if any remain. */
export function becomeUser({ user, uid, gid, extraGroup }: Account): void {
  try {
    // Missing in the typings.
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

/** The remaining privileges of an unprivileged process, '' for none. */
function rightsLeft(uid: number, gid: number): string {
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid) return "another user's rights";
  if (process.getgid?.() !== gid || process.getegid?.() !== gid) return "another group's rights";
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'latin1');
  } catch {
    // Without /proc nothing more can be verified.
    return '';
  }
  // Inheritable capabilities have no effect in a process without others that executes no marked program.
  const kept = ['CapPrm', 'CapEff', 'CapAmb'].filter((name) =>
    new RegExp(`^${name}:\\s*0*[1-9a-f]`, 'm').test(status),
  );
  return kept.length === 0 ? '' : `capabilities (${kept.join(', ')})`;
}
