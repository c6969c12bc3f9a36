// Copies files into a directory of an operator: never over what is there, never through a link below the root that was
// given, and whole or not at all.

import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemText } from '../../protocol/system-text.ts';

export interface FileToInstall {
  /** Full name in the package. */
  readonly source: string;
  /** As the running system will know it, from "/" on. */
  readonly destination: string;
  readonly mode: number;
}

/** `done`: it is there now. */
export type Installed = 'Success' | 'Skipped (exists)';

/**
 * @param root what stands before the destination (DESTDIR); '' for none. Its own way may lead through links
 * @throws Error that says what could not be made, and why
 */
export function installFile({ source, destination, mode }: FileToInstall, root: string): Installed {
  const path = join(root === '' ? '/' : root, destination);
  makeDirectories(root, dirname(destination));
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return 'Skipped (exists)';
  // Nobody else's name: what is removed below is ours.
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeDraft(draft, readFileSync(source), mode);
    return putInPlace(draft, path);
  } catch (cause) {
    throw new Error(`${path}: ${systemText(cause)}`, { cause });
  } finally {
    remove(draft);
  }
}

function writeDraft(draft: string, bytes: Buffer, mode: number): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    // The mode that was asked for, whatever the umask.
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function putInPlace(draft: string, path: string): Installed {
  try {
    // Fails where a name has come into being meanwhile, as a rename would not.
    linkSync(draft, path);
    return 'Success';
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return 'Skipped (exists)';
    throw cause;
  }
}

/** Each directory is looked at: a link on the way may lead anywhere. */
function makeDirectories(root: string, directory: string): void {
  let path = root === '' ? '/' : root;
  try {
    mkdirSync(path, { recursive: true });
    for (const part of directory.split('/').filter((each) => each !== '')) {
      path = join(path, part);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) {
        mkdirSync(path, 0o755);
        chmodSync(path, 0o755);
      } else if (!stat.isDirectory())
        throw new Error('it is there and no directory: remove it, or choose another one');
    }
  } catch (cause) {
    throw new Error(`${path}: ${systemText(cause)}`, { cause });
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
}
