// The reason why no daemon answers, in a sentence with what was found there and the remedy.

import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { userText } from '../../protocol/files/trust.ts';
import type { ConnectError } from './client.ts';
import { findDaemon } from './find-daemon.ts';

const NOBODY = 'Could not get hold of proxyd, is it running?';

/** @param name as -n gave it */
export function whyUnreachable(name: string | undefined, error: ConnectError): string {
  const { dir, socket, places } = findDaemon(name);
  // The message lists the places.
  if (places.length > 1 && codeOf(error) !== 'EACCES') return `${NOBODY}\n(${error.message})`;
  const found = codeAt(dir);
  if (found === 'ENOENT') return `${NOBODY}\n(there is no directory ${dir}: name the daemon's with -n)`;
  if (found === 'EACCES') return denied(dir, dirname(dir));
  if (found === 'ENOTDIR') return `${dir} is not a directory: name the daemon's working directory with -n`;
  if (found !== '')
    return `${dir} cannot be examined (${found}): name the daemon's working directory with -n`;
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return denied(socket, codeAt(socket) === 'EACCES' ? dir : socket);
    case 'ECONNREFUSED':
      return `${NOBODY}\n(${socket} was left by a daemon that is gone: start it again)`;
    case 'ENOENT':
      return `${NOBODY}\n(no daemon works in ${dir}: start one there, or name another directory with -n)`;
    default:
      return `${NOBODY}\n(${error.message})`;
  }
}

function denied(what: string, owned: string): string {
  const owner = lstatSync(owned, { throwIfNoEntry: false })?.uid;
  const as =
    owner === undefined
      ? 'the user of the daemon, as root'
      : owner === 0
        ? 'root'
        : `${userText(owner)}, as root`;
  return `${what}: permission denied: run this as ${as}, or be a member of the group of the daemon's --read-group`;
}

function codeOf(error: ConnectError): string {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** Why a path cannot be used as a directory or looked at; '' when it can. */
function codeAt(path: string): string {
  try {
    const stat = statSync(path);
    return stat.isDirectory() || stat.isSocket() ? '' : 'ENOTDIR';
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? 'ENOENT';
  }
}
