// The directory of a disk tier: created if missing, owned by the worker.

import { lchownSync, lstatSync, mkdirSync } from 'node:fs';
import { systemText } from '../../../protocol/system-text.ts';
import type { DiskSpec } from '../../link.ts';
import type { Account } from '../../privileges.ts';
import { OptionError } from '../options/option-error.ts';

/** `worker`: the owner; null for the present user. Throws OptionError. */
export function makeDiskDirectory({ path }: DiskSpec, worker: Account | null): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    if (worker !== null) lchownSync(path, worker.uid, worker.gid);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new OptionError(`Cannot create the disk tier's directory '${path}': ${systemText(cause)}`, false);
  }
  const { uid, mode } = lstatSync(path);
  const isDirectory = lstatSync(path).isDirectory();
  if (!isDirectory) throw new OptionError(`'${path}' of -s is not a directory`, false);
  const owner = worker?.uid ?? process.geteuid?.() ?? uid;
  if (uid !== owner || (mode & 0o022) !== 0)
    throw new OptionError(
      `The disk tier's directory '${path}' must belong to the worker's user (uid ${owner}), and nobody else may write to it: ` +
        `it belongs to uid ${uid}, with mode ${(mode & 0o777).toString(8)}`,
      false,
    );
}
