// Where a daemon is: the working directory that -n means for the tools, and the socket in it that this user may use.
//
// A daemon takes the first place that its name may mean; a tool may be another user's, so it looks in each. A place
// that is not under /run counts only when it is this user's own: nobody else's daemon is found without being named.

import { accessSync, constants, lstatSync } from 'node:fs';
import { ownUid } from '../../protocol/files/trust.ts';
import { surroundings, WORKDIR_FILES, workdirPlaces } from '../../protocol/workdir.ts';

export interface FoundDaemon {
  dir: string;
  socket: string;
  /** The socket is that for readers: the daemon takes no command that changes anything. */
  readonly: boolean;
  /** Where it was looked for; more than one only where no directory was named. */
  places: readonly string[];
}

/** Looks for the daemon of `-n name`; the first place when it is in none. */
export function findDaemon(name: string | undefined): FoundDaemon {
  const places = workdirPlaces(name, surroundings());
  for (const dir of places) {
    if (places.length > 1 && !isOurPlace(dir)) continue;
    const own = `${dir}/${WORKDIR_FILES.socket}`;
    const read = `${dir}/${WORKDIR_FILES.readSocket}`;
    if (mayUse(own)) return { dir, socket: own, readonly: false, places };
    if (mayUse(read)) return { dir, socket: read, readonly: true, places };
    // It is there, and the system says what is in the way.
    if (exists(own)) return { dir, socket: own, readonly: false, places };
  }
  const dir = places[0] as string;
  return { dir, socket: `${dir}/${WORKDIR_FILES.socket}`, readonly: false, places };
}

function isOurPlace(dir: string): boolean {
  return dir.startsWith('/run/') || lstatSync(dir, { throwIfNoEntry: false })?.uid === ownUid();
}

function exists(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

function mayUse(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
