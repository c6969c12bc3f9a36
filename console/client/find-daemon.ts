// Finds a daemon: the working directory that -n names, and the socket in it that this user may use. A daemon takes the
// first place that its name may mean; a tool may run as another user, so it tries each. A place outside of /run counts
// only if this user owns it: no daemon of another user is found unless it is named.

import { accessSync, constants, lstatSync } from 'node:fs';
import { ownUid } from '../../protocol/files/trust.ts';
import { surroundings, WORKDIR_FILES, workdirPlaces } from '../../protocol/workdir.ts';

export interface FoundDaemon {
  dir: string;
  socket: string;
  /** The socket is read-only: the daemon refuses commands that change something. */
  readonly: boolean;
  /** The places tried; several only where no directory was named. */
  places: readonly string[];
}

/** Finds the daemon of `-n name`; the first place if there is none. */
export function findDaemon(name: string | undefined): FoundDaemon {
  const places = workdirPlaces(name, surroundings());
  for (const dir of places) {
    if (places.length > 1 && !isOurPlace(dir)) continue;
    const own = `${dir}/${WORKDIR_FILES.socket}`;
    const read = `${dir}/${WORKDIR_FILES.readSocket}`;
    if (mayUse(own)) return { dir, socket: own, readonly: false, places };
    if (mayUse(read)) return { dir, socket: read, readonly: true, places };
    // It exists: connecting reports the reason.
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
