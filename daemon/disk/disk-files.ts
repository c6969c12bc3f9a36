// The files of a disk tier: one directory, flat, whose names the tier chooses itself. Everything above sees this interface
// alone, so that tests can put faults into every step (test/daemon/disk/faulty-files.ts).
//
// Files and the directory are the daemon's own: created exclusively with mode 0600, never followed (SAFETY rule 17).

import { constants } from 'node:fs';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface DiskFile {
  /** Fills `into` from byte `at`; returns how many bytes there were, fewer only at the file's end. */
  read(into: Uint8Array, at: number): Promise<number>;
  write(bytes: Uint8Array, at: number): Promise<void>;
  /** What was written is on the device when it resolves. */
  sync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface DiskFiles {
  names(): Promise<string[]>;
  open(name: string): Promise<DiskFile>;
  /** Fails when there is a file of this name. */
  create(name: string): Promise<DiskFile>;
  /** A file that is open stays readable until it is closed. */
  remove(name: string): Promise<void>;
  /** Files created and removed so far stay so after a loss of power. */
  syncNames(): Promise<void>;
}

/** The files of a directory, which exists and is the daemon's own. */
export class DirectoryFiles implements DiskFiles {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  names(): Promise<string[]> {
    return readdir(this.path);
  }

  open(name: string): Promise<DiskFile> {
    return this.handle(name, constants.O_RDWR);
  }

  create(name: string): Promise<DiskFile> {
    return this.handle(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
  }

  remove(name: string): Promise<void> {
    return unlink(join(this.path, name));
  }

  async syncNames(): Promise<void> {
    const directory = await open(this.path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  private async handle(name: string, flags: number): Promise<DiskFile> {
    return new HandleFile(await open(join(this.path, name), flags | constants.O_NOFOLLOW, 0o600));
  }
}

class HandleFile implements DiskFile {
  private readonly handle: FileHandle;

  constructor(handle: FileHandle) {
    this.handle = handle;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    let done = 0;
    while (done < into.length) {
      const { bytesRead } = await this.handle.read(into, done, into.length - done, at + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.handle.write(bytes, done, bytes.length - done, at + done);
      done += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return this.handle.datasync();
  }

  async size(): Promise<number> {
    return (await this.handle.stat()).size;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
