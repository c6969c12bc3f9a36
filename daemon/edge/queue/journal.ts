// The journal of the purge queue: records that are on disk before they are acknowledged. One file grows; when most of it
// is about entries that are gone, a compacted one replaces it by a rename. A failed write leaves the file as it was: no part
// of it can appear later.
//
// A record is the length and the CRC-32 of a JSON text, and the text, so that whatever a crash or a full disk leaves at the
// end of a file (half a record, zeros) is detected and cut off. Files have mode 0600; symbolic links are not followed.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { takeLock } from '../../../protocol/files/lock-file.ts';
import { turns } from '../../turns/turns.ts';

export interface JournalOptions {
  readonly directory: string;
  /** `group`: records of some milliseconds share a sync. In both modes a record is synced before its append
   * resolves. */
  readonly fsync: 'always' | 'group';
  /** The initial contents of a new file: the records at the time of the call, read over several turns of the event
   * loop. Their contents may change meanwhile: a relevant change has its own record, which follows. */
  snapshot(): Iterable<unknown>;
  readonly files?: JournalFiles;
  /** Bytes from which a file is compacted. */
  readonly compactAt?: number;
}

interface Waiting {
  readonly bytes: Buffer;
  done(): void;
  failed(cause: unknown): void;
}

const GROUP_MS = 5;
const COMPACT_AT = 1 << 20;
/** Bytes per write of a new file (chosen). */
const PIECE = 1 << 20;
const NAME = /^journal\.(\d{1,10})$/;
const DRAFT = /^journal\.\d{1,10}\.new$/;

export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles;
  readonly #unlock: () => void;
  #file: JournalFile;
  #number: number;
  /** Bytes of complete, synced records. */
  #length: number;
  /** There may be bytes after them. */
  #dirty = false;
  /** Why nothing can be written any more; null otherwise. */
  #lost: unknown = null;
  #compactAt: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;

  private constructor(
    options: JournalOptions,
    file: JournalFile,
    number: number,
    length: number,
    unlock: () => void,
  ) {
    this.#options = options;
    this.#files = options.files ?? realFiles;
    this.#file = file;
    this.#number = number;
    this.#length = length;
    this.#unlock = unlock;
    this.#compactAt = Math.max(options.compactAt ?? COMPACT_AT, 2 * length);
  }

  /** Opens or creates the journal; returns its contents. Rejects with the problem of the directory. */
  static async open(options: JournalOptions): Promise<{ journal: Journal; records: readonly unknown[] }> {
    const { directory } = options;
    const files = options.files ?? realFiles;
    await files.makeDirectory(directory);
    const { release: unlock, holder } = takeLock(join(directory, 'lock'));
    if (unlock === undefined) throw new Error(`${directory} is in use by process ${holder}`);
    let file: JournalFile | null = null;
    try {
      const names = await files.list(directory);
      const numbers = names.flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
      const number = Math.max(0, ...numbers);
      for (const name of names) {
        const old = NAME.exec(name);
        if (DRAFT.test(name) || (old !== null && Number(old[1]) !== number))
          await files.unlink(join(directory, name));
      }
      const path = join(directory, `journal.${number}`);
      file = await files.open(path, numbers.length === 0);
      const { records, length } = (await turns.through(decoding(await file.read()))) as DecodedRecords;
      await file.truncate(length);
      await file.sync();
      await files.syncDirectory(directory);
      return { journal: new Journal(options, file, number, length, unlock), records };
    } catch (cause) {
      await file?.close().catch(() => undefined);
      unlock();
      throw cause;
    }
  }

  /** Resolves when the records are on disk, all with one sync; rejects if none of them is or will be. */
  append(...values: readonly unknown[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ bytes: Buffer.concat(values.map(encodeRecord)), done, failed });
      this.#writing ??= this.#write();
    });
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    this.#lost = new Error('it is closed');
    try {
      await this.#file.close();
    } finally {
      this.#unlock();
    }
  }

  async #write(): Promise<void> {
    // Deferred, so that all appends of this turn are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      if (this.#options.fsync === 'group') await new Promise((go) => setTimeout(go, GROUP_MS));
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#put(Buffer.concat(batch.map(({ bytes }) => bytes)));
        for (const one of batch) one.done();
      } catch (cause) {
        for (const one of batch) one.failed(cause);
      }
      if (this.#length < this.#compactAt) continue;
      // After the callers have handled it, including all consequences: the new file is made from their state.
      await new Promise((go) => setImmediate(go));
      if (this.#waiting.length === 0) await this.#compact();
    }
    this.#writing = null;
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
    if (this.#dirty) await this.#clean();
    this.#dirty = true;
    try {
      await this.#file.write(bytes, this.#length);
      await this.#file.sync();
    } catch (cause) {
      await this.#clean().catch(() => undefined);
      throw cause;
    }
    this.#length += bytes.length;
    this.#dirty = false;
  }

  async #clean(): Promise<void> {
    await this.#file.truncate(this.#length);
    await this.#file.sync();
    this.#dirty = false;
  }

  /** If it fails, the old file is kept. */
  async #compact(): Promise<void> {
    const { directory } = this.#options;
    const number = this.#number + 1;
    const path = join(directory, `journal.${number}`);
    const draft = `${path}.new`;
    const records = this.#options.snapshot();
    let length = 0;
    let file: JournalFile | null = null;
    let renamed = false;
    try {
      file = await this.#files.open(draft, true);
      for await (const piece of pieces(records)) {
        await file.write(piece, length);
        length += piece.length;
      }
      await file.sync();
      await this.#files.rename(draft, path);
      renamed = true;
      await this.#files.syncDirectory(directory);
    } catch {
      this.#compactAt *= 2;
      await file?.close().catch(() => undefined);
      // With two complete files it would be ambiguous which one is valid.
      await this.#files.unlink(renamed ? path : draft).catch((cause: unknown) => {
        if (renamed) this.#lost = cause;
      });
      return;
    }
    const former = this.#file;
    this.#file = file;
    this.#number = number;
    this.#length = length;
    this.#dirty = false;
    this.#compactAt = Math.max(this.#options.compactAt ?? COMPACT_AT, 2 * length);
    await former.close().catch(() => undefined);
    await this.#files.unlink(join(directory, `journal.${number - 1}`)).catch(() => undefined);
  }
}

/** Encodes records over several turns. */
async function* pieces(records: Iterable<unknown>): AsyncGenerator<Buffer> {
  let piece: Buffer[] = [];
  let bytes = 0;
  for (const record of records) {
    const encoded = encodeRecord(record);
    piece.push(encoded);
    bytes += encoded.length;
    if (bytes >= PIECE) {
      yield Buffer.concat(piece, bytes);
      piece = [];
      bytes = 0;
    }
    if (!turns.mayContinue()) await turns.next();
  }
  if (bytes > 0) yield Buffer.concat(piece, bytes);
}

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
  /** `fresh`: fails if the file exists. */
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

const HEAD = 8;
/** Chosen: a rule or a URL with its texts has a few kilobytes. */
const MAX_RECORD = 1 << 20;

export function encodeRecord(value: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  const record = Buffer.allocUnsafe(HEAD + text.length);
  record.writeUInt32LE(text.length, 0);
  record.writeUInt32LE(crc32(text), 4);
  text.copy(record, HEAD);
  return record;
}

export interface DecodedRecords {
  readonly records: readonly unknown[];
  /** Bytes of complete records: the rest is torn. */
  readonly length: number;
}

/** The records of a file, in steps. */
export function* decoding(bytes: Buffer): Generator<undefined, DecodedRecords> {
  const records: unknown[] = [];
  let at = 0;
  while (at + HEAD <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const end = at + HEAD + length;
    if (length === 0 || length > MAX_RECORD || end > bytes.length) break;
    const text = bytes.subarray(at + HEAD, end);
    if (crc32(text) !== bytes.readUInt32LE(at + 4)) break;
    records.push(JSON.parse(text.toString()));
    at = end;
    yield;
  }
  return { records, length: at };
}
