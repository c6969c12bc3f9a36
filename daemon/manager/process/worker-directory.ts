// The directories that the worker's user writes to, and no others: one inside the working directory for log and counters,
// created by every daemon and removed at its exit, and that of a disk tier, which stays.
//
// Note: the first may belong to a less privileged user, who could replace entries in it at any moment. The manager unlinks
// entries and reads files in it, but never writes to existing ones.

import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileAccess } from '../../../protocol/files/own-file.ts';
import { isTrustedOwner, Untrusted, userText } from '../../../protocol/files/trust.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import type { DiskSpec } from '../../link.ts';
import { RING_FILE } from '../../log/ring-format.ts';
import type { Account } from '../../privileges.ts';
import { COUNTERS_FILE } from '../../stats/counters-format.ts';
import { THREAD_SOCKET } from '../../threads/thread-socket.ts';
import { OptionError } from '../options/option-error.ts';

export class WorkerDirectory {
  readonly path: string;
  /** Access rights of the files in it. */
  readonly files: FileAccess;
  private readonly worker: Account | null;
  private readonly readers: number | null;

  /** `worker`: the owner; null for the present user. `readers`: a group with read access. */
  constructor(dir: string, worker: Account | null, readers: number | null) {
    this.path = join(dir, WORKDIR_FILES.worker);
    this.files = readers === null ? { mode: 0o600 } : { mode: 0o640, group: readers };
    this.worker = worker;
    this.readers = readers;
  }

  /** Creates it, in place of a leftover of a killed daemon. Throws OptionError. */
  make(): void {
    const { path, worker, readers } = this;
    try {
      removeLeftOver(path, worker);
      mkdirSync(path, { mode: 0o700 });
      if (worker !== null || readers !== null)
        lchownSync(path, worker?.uid ?? -1, readers ?? worker?.gid ?? -1);
      // A worker that changes its user is not in the group: setgid lets new files inherit the group.
      if (readers !== null) chmodSync(path, worker === null ? 0o750 : 0o2750);
    } catch (cause) {
      throw new OptionError(`Cannot create the worker's directory '${path}': ${systemText(cause)}`, false);
    }
  }

  /** Creates it again for a new worker if a cleaner of old files has removed it. Throws OptionError. */
  restore(): void {
    if (lstatSync(this.path, { throwIfNoEntry: false }) === undefined) this.make();
  }

  remove(): void {
    try {
      removeLeftOver(this.path, this.worker);
    } catch {
      // A leftover is removed by the next daemon.
    }
  }
}

function removeLeftOver(path: string, worker: Account | null): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!isTrustedOwner(stat.uid) && stat.uid !== worker?.uid) {
    throw new Untrusted(`It exists and belongs to ${userText(stat.uid)}: remove it`);
  }
  // By name, one by one: the directory's owner may have placed links, which must not be followed.
  const files = [RING_FILE, COUNTERS_FILE].map(
    (name) => new RegExp(`^${name.replace('.', '\\.')}(\\.\\d+\\.new)?$`),
  );
  const ours = [...files, THREAD_SOCKET];
  const names = readdirSync(path);
  if (!names.every((name) => ours.some((pattern) => pattern.test(name)))) {
    throw new Untrusted('It holds files that are not the daemon’s: remove it');
  }
  for (const name of names) unlinkSync(join(path, name));
  rmdirSync(path);
}

/** Creates the directory of a disk tier if it is missing. `worker`: the owner; null for the present user. Throws
 * OptionError. */
export function makeDiskDirectory({ path }: DiskSpec, worker: Account | null): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    if (worker !== null) lchownSync(path, worker.uid, worker.gid);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new OptionError(`Cannot create the disk tier's directory '${path}': ${systemText(cause)}`, false);
  }
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw new OptionError(`'${path}' of -s is not a directory`, false);
  const { uid, mode } = stat;
  const owner = worker?.uid ?? process.geteuid?.() ?? uid;
  if (uid !== owner || (mode & 0o022) !== 0)
    throw new OptionError(
      `The disk tier's directory '${path}' must belong to the worker's user (uid ${owner}), and nobody else may write to it: ` +
        `it belongs to uid ${uid}, with mode ${(mode & 0o777).toString(8)}`,
      false,
    );
}
