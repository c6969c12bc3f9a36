// What the journal asks of the file system, so that tests can have each call fail. Files are 0600 and never followed
// through links.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';

export interface JournalFile {
  write(bytes: Buffer, at: number): Promise<void>;
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  read(): Promise<Buffer>;
  close(): Promise<void>;
}

export interface JournalFiles {
  makeDirectory(path: string): Promise<void>;
  list(path: string): Promise<string[]>;
  /** `fresh`: it must not be there. */
  open(path: string, fresh: boolean): Promise<JournalFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
}

export const realFiles: JournalFiles = {
  async makeDirectory(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  list: (path) => readdir(path),
  async open(path, fresh) {
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    return opened(await open(path, O_RDWR | O_NOFOLLOW | (fresh ? O_CREAT | O_EXCL : 0), 0o600));
  },
  rename,
  unlink,
  async syncDirectory(path) {
    const handle = await open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

function opened(handle: FileHandle): JournalFile {
  return {
    async write(bytes, at) {
      let done = 0;
      while (done < bytes.length) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
        if (bytesWritten === 0) throw Object.assign(new Error('nothing was written'), { code: 'EIO' });
        done += bytesWritten;
      }
    },
    sync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
    async read() {
      const { size } = await handle.stat();
      const bytes = Buffer.alloc(size);
      let done = 0;
      while (done < size) {
        const { bytesRead } = await handle.read(bytes, done, size - done, done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
    close: () => handle.close(),
  };
}
