// Reads a secret: rejects an empty one, one writable by others, and anything but a file; warns if others can read it.
// The daemon also rejects a secret that another user owns or could replace; a tool may read that of its daemon's
// user, since a wrong secret merely fails to authenticate.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { checkWay, isTrustedOwner, kindOf, othersBits, Untrusted, userText } from './trust.ts';

const { O_RDONLY, O_NONBLOCK } = constants;
const LARGEST = 64 * 1024;

export interface SecretFile {
  bytes: Buffer;
  /** Warning for the operator, without the path; '' for none. */
  warning: string;
}

/** Throws Untrusted, or the system's error. `own`: only this user or root may own or replace it. */
export function readSecretFile(path: string, own: boolean): SecretFile {
  if (own) checkWay(path);
  // Do not wait for the writer of a FIFO.
  const fd = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Untrusted(`It is ${kindOf(stat)} and no file: name a file with the secret`);
    if (own && !isTrustedOwner(stat.uid)) {
      throw new Untrusted(`It belongs to ${userText(stat.uid)}: chown it to the daemon's user or to root`);
    }
    const others = othersBits(stat);
    if ((others & 0o022) !== 0)
      throw new Untrusted('Others may write to it: chmod go-w it, and change the secret');
    if (stat.size > LARGEST)
      throw new Untrusted(`It is larger than ${LARGEST} bytes: name a file with the secret`);
    const bytes = readFileSync(fd);
    if (bytes.toString('latin1').trim() === '') {
      throw new Untrusted('It is empty: write a secret into it, for example with openssl rand -hex 32');
    }
    return { bytes, warning: (others & 0o044) === 0 ? '' : 'Others may read it: chmod go-r it' };
  } finally {
    closeSync(fd);
  }
}
