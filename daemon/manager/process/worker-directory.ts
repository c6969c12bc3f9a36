// The worker's own directory inside the working directory: its user writes log and counters there and nowhere else,
// so that the rest stays the manager's. Made new for every daemon and removed at its end.
//
// Caution: it may belong to a user with fewer rights than the manager, who could swap names inside it at any moment.
// The manager removes names in it and reads files of it, and never writes to what it finds there.

import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileAccess } from '../../../protocol/files/own-file.ts';
import { isTrustedOwner, Untrusted, userText } from '../../../protocol/files/trust.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import { RING_FILE } from '../../log/ring-format.ts';
import type { Account } from '../../privileges.ts';
import { COUNTERS_FILE } from '../../stats/counters-format.ts';
import { THREAD_SOCKET } from '../../threads/thread-socket.ts';
import { OptionError } from '../options/option-error.ts';

export class WorkerDirectory {
  readonly path: string;
  /** Who may read the files in it. */
  readonly files: FileAccess;
  private readonly worker: Account | null;
  private readonly readers: number | null;

  /** `worker`: the user whose it is; null for this one. `readers`: a group that may read. */
  constructor(dir: string, worker: Account | null, readers: number | null) {
    this.path = join(dir, WORKDIR_FILES.worker);
    this.files = readers === null ? { mode: 0o600 } : { mode: 0o640, group: readers };
    this.worker = worker;
    this.readers = readers;
  }

  /** Makes it, in the place of what a daemon that was killed has left. Throws OptionError. */
  make(): void {
    const { path, worker, readers } = this;
    try {
      removeLeftOver(path, worker);
      mkdirSync(path, { mode: 0o700 });
      if (worker !== null || readers !== null)
        lchownSync(path, worker?.uid ?? -1, readers ?? worker?.gid ?? -1);
      // A worker that becomes another user is not in the group: what it makes gets it from the directory.
      if (readers !== null) chmodSync(path, worker === null ? 0o750 : 0o2750);
    } catch (cause) {
      throw new OptionError(`Cannot make the worker's directory '${path}': ${systemText(cause)}`, false);
    }
  }

  /** Makes it again for a new worker when a cleaner of old files has taken it away. Throws OptionError. */
  restore(): void {
    if (lstatSync(this.path, { throwIfNoEntry: false }) === undefined) this.make();
  }

  remove(): void {
    try {
      removeLeftOver(this.path, this.worker);
    } catch {
      // It stays, as what a killed daemon leaves does.
    }
  }
}

function removeLeftOver(path: string, worker: Account | null): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!isTrustedOwner(stat.uid) && stat.uid !== worker?.uid) {
    throw new Untrusted(`It is there and belongs to ${userText(stat.uid)}: remove it`);
  }
  // By name and one by one: whoever owns the directory can have put links in it, and those must not be followed.
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
