// The directory where accounts, keys and certificates outlive the daemon: 0700, its files 0600, one daemon at a time. A file
// is replaced whole: a draft is written and synced, renamed, and the directory synced, so that after a crash at any point
// there is the former text or the new one.

import { constants, lstatSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { takeLock } from '../../protocol/files/lock-file.ts';
import { stranger } from '../../protocol/files/own-file.ts';
import { checkWay, kindOf, ownUid, Untrusted, userText } from '../../protocol/files/trust.ts';

/** The calls of the file system, each of which a crash may precede or follow. */
export interface StateFiles {
  /** With the missing ones above it. */
  makeDirectory(path: string): Promise<void>;
  list(path: string): Promise<string[]>;
  /** Null if there is none. */
  read(path: string): Promise<string | null>;
  /** Creates a file; fails if there is one. */
  write(path: string, text: string): Promise<void>;
  /** Of a file or a directory. */
  sync(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
}

const DRAFT = '.new';
/** Bytes of a file that is read (chosen): a chain and a key have ten kilobytes. */
const LARGEST = 1 << 20;

export class StateDirectory {
  readonly path: string;
  private readonly files: StateFiles;
  private readonly unlock: () => void;
  private last: Promise<void> = Promise.resolve();

  private constructor(path: string, files: StateFiles, unlock: () => void) {
    this.path = path;
    this.files = files;
    this.unlock = unlock;
  }

  /** Opens or creates it. Rejects with what is wrong with it, and what to do. */
  static async open(path: string, files: StateFiles = realFiles): Promise<StateDirectory> {
    checkWay(path);
    await files.makeDirectory(path);
    checkOwn(path);
    const { release, holder } = takeLock(join(path, 'lock'));
    if (release === undefined)
      throw new Untrusted(
        `Another daemon (process ${holder}) uses it: give each a working directory of its own`,
      );
    try {
      for (const name of await files.list(path)) {
        if (name.endsWith(DRAFT) && !name.startsWith('lock')) await files.remove(join(path, name));
      }
    } catch (cause) {
      release();
      throw cause;
    }
    return new StateDirectory(path, files, release);
  }

  /** The names of its files. */
  list(): Promise<string[]> {
    return this.files.list(this.path);
  }

  /** Null if there is none. */
  read(name: string): Promise<string | null> {
    return this.files.read(join(this.path, name));
  }

  /** Resolves when the text is on the disk, in place of the former one. */
  write(name: string, text: string): Promise<void> {
    return this.inTurn(async () => {
      const { files } = this;
      const path = join(this.path, name);
      const draft = path + DRAFT;
      await files.remove(draft);
      await files.write(draft, text);
      await files.sync(draft);
      await files.rename(draft, path);
      await files.sync(this.path);
    });
  }

  /** Gives a file that cannot be understood another name, so that it is not overwritten. */
  setAside(name: string): Promise<void> {
    return this.inTurn(() => this.files.rename(join(this.path, name), join(this.path, `${name}.unreadable`)));
  }

  async close(): Promise<void> {
    await this.last;
    this.unlock();
  }

  private inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.last.then(run);
    this.last = done.catch(() => {});
    return done;
  }
}

/** Throws Untrusted unless the directory is this user's alone. */
function checkOwn(path: string): void {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw new Untrusted(`It is ${kindOf(stat)} and no directory`);
  if (stat.uid !== ownUid()) throw new Untrusted(`It belongs to ${userText(stat.uid)}`);
  if ((stat.mode & 0o077) !== 0)
    throw new Untrusted(
      `Others have access to it (mode ${(stat.mode & 0o777).toString(8)}): chmod 700 ${path}`,
    );
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export const realFiles: StateFiles = {
  async makeDirectory(path) {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // The umask may have taken bits away.
    await chmod(path, 0o700);
    await realFiles.sync(dirname(first));
  },
  list: (path) => readdir(path),
  async read(path) {
    try {
      const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stat = await handle.stat();
        const problem = stranger(stat);
        if (problem !== null) throw new Untrusted(`${path}: ${problem}`);
        if (stat.size > LARGEST) throw new Untrusted(`${path}: It is larger than ${LARGEST} bytes`);
        return await handle.readFile('utf8');
      } finally {
        await handle.close();
      }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw cause;
    }
  },
  async write(path, text) {
    const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
  },
  async sync(path) {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  rename,
  async remove(path) {
    try {
      await unlink(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    }
  },
};
