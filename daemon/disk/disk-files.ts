// The files of a disk tier: one directory, flat, whose names the tier chooses itself. Everything above sees this interface
// alone, so that tests can put faults into every step (test/daemon/disk/faulty-files.ts).
//
// Files and the directory are the daemon's own: created exclusively with mode 0600, never followed (SAFETY rule 17).

import {
  type BigIntStats,
  close,
  constants,
  fdatasync,
  fstat,
  open as openCallback,
  read,
  write,
} from 'node:fs';
import { open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openFile: (path: string, flags: number, mode: number) => Promise<number> = promisify(openCallback);
const writeAt = promisify(write);
const syncData = promisify(fdatasync);
const statOf = promisify(fstat);
const factsOf: (fd: number, options: { bigint: true }) => Promise<BigIntStats> = promisify(fstat);
const closeFile = promisify(close);

export interface DiskFile {
  /** Fills `into` from byte `at`; returns how many bytes there were, fewer only at the file's end. */
  read(into: Uint8Array, at: number): Promise<number>;
  write(bytes: Uint8Array, at: number): Promise<void>;
  /** Resolves when all bytes written so far are on the device. */
  sync(): Promise<void>;
  size(): Promise<number>;
  /** A text that a copy of the file does not have. */
  identity(): Promise<string>;
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
    return new DescriptorFile(await openFile(join(this.path, name), flags | constants.O_NOFOLLOW, 0o600));
  }
}

/** With a descriptor, not one of the runtime's handles, whose reads cost twice as much. */
class DescriptorFile implements DiskFile {
  /** Negative once it is closed: the number may then be another file's. */
  private fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  read(into: Uint8Array, at: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const from = (done: number): void => {
        read(this.fd, into, done, into.length - done, at + done, (error, count) => {
          if (error !== null) reject(error);
          else if (count === 0 || done + count === into.length) resolve(done + count);
          else from(done + count);
        });
      };
      if (into.length === 0) resolve(0);
      else from(0);
    });
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await writeAt(this.fd, bytes, done, bytes.length - done, at + done);
      done += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return syncData(this.fd);
  }

  async size(): Promise<number> {
    return (await statOf(this.fd)).size;
  }

  /** Inode numbers are given again. The number of the device is left out: it may be another after a reboot. */
  async identity(): Promise<string> {
    const { ino, birthtimeNs } = await factsOf(this.fd, { bigint: true });
    return `${ino}-${birthtimeNs}`;
  }

  close(): Promise<void> {
    const { fd } = this;
    this.fd = -1;
    return fd < 0 ? Promise.resolve() : closeFile(fd);
  }
}
