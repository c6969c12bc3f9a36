// Installs files into an operator's directory: never overwriting, never through symlinks below the given root, and
// atomically.

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
  /** Full path in the package. */
  readonly source: string;
  /** Path on the target system, from "/" on. */
  readonly destination: string;
  readonly mode: number;
}

/** `Success`: it was created. */
export type Installed = 'Success' | 'Skipped (exists)';

/**
 * @param root prefix of the destination (DESTDIR); '' for none. Symlinks in it are followed
 * @throws Error that names the path and the reason
 */
export function installFile({ source, destination, mode }: FileToInstall, root: string): Installed {
  const path = join(root === '' ? '/' : root, destination);
  makeDirectories(root, dirname(destination));
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return 'Skipped (exists)';
  // A unique name: the file removed below is certainly ours.
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
    // The requested mode, whatever the umask.
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function putInPlace(draft: string, path: string): Installed {
  try {
    // Fails if the name exists by now, unlike rename.
    linkSync(draft, path);
    return 'Success';
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return 'Skipped (exists)';
    throw cause;
  }
}

/** Each directory is checked: a symlink could lead anywhere. */
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
