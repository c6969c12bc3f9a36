// The folder of a demo: its daemon's working directory, program and settings. Folders left by killed demos are
// removed by the next one.

import { accessSync, chmodSync, constants, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownUid } from '../../protocol/files/trust.ts';

export interface DemoHome {
  path: string;
  remove(): void;
}

export function makeHome(): DemoHome {
  const parent = memoryBacked();
  sweep(parent);
  const path = mkdtempSync(join(parent, `proxyd-demo-${process.pid}-`));
  // The worker, which runs as another user if started by root, keeps its purge queue here.
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Removes folders of killed demos of the same user whose processes are gone. Those of other users are left alone:
 * symlinks in them could redirect the removal. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = Number(/^proxyd-demo-(\d+)-/.exec(name)?.[1] ?? 0);
    const folder = join(parent, name);
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (owner === 0 || exists(owner) || stat?.isDirectory() !== true || stat.uid !== ownUid()) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The log should be in memory; without a memory-backed folder any other works. */
function memoryBacked(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
