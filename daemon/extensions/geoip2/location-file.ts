// A MaxMind DB file in memory (https://maxmind.github.io/MaxMind-DB/), read by the library mmdb-lib. Programs of a thread
// that name the same unchanged file share it.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Reader, type Response } from 'mmdb-lib';

/** Bytes (chosen): the largest published files have some hundred megabytes. */
const LARGEST = 1 << 30;
/** A name may be that of a pipe: opening it must not wait for a writer. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;
/** Stands before the description of the file, which is in its last bytes. */
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const DESCRIPTION = 128 * 1024;
/** Values that are kept decoded (chosen): most addresses of a site share a few. */
const MOST_DECODED = 10_000;

/** A file that cannot be used; the message is the reason. */
export class FileProblem extends Error {}

export class LocationFile {
  readonly #reader: Reader<Response>;
  /** By their place in the file. Values refer to one another: within a lookup none may be dropped, or one that is referred
   * to by many would be decoded as often. */
  readonly #decoded = new Map<string | number, unknown>();

  /** @throws FileProblem */
  constructor(bytes: Buffer) {
    if (bytes.lastIndexOf(MARKER) < Math.max(0, bytes.length - DESCRIPTION))
      throw new FileProblem('it is not a MaxMind DB');
    try {
      const decoded = this.#decoded;
      this.#reader = new Reader<Response>(bytes, {
        cache: { get: (key) => decoded.get(key), set: (key, value) => void decoded.set(key, value) },
      });
    } catch (error) {
      throw new FileProblem(`it is damaged (${(error as Error).message})`);
    }
    const { binaryFormatMajorVersion, ipVersion, searchTreeSize } = this.#reader.metadata;
    if (binaryFormatMajorVersion !== 2)
      throw new FileProblem(`its format is ${binaryFormatMajorVersion}, not 2`);
    if ((ipVersion !== 4 && ipVersion !== 6) || !(searchTreeSize < bytes.length))
      throw new FileProblem('it is damaged (its description)');
  }

  /** Whether it has IPv4 addresses alone. */
  get isIpv4(): boolean {
    return this.#reader.metadata.ipVersion === 4;
  }

  /** The record of an address; null if there is none. Throws for a damaged one. */
  of(address: string): unknown {
    if (this.#decoded.size > MOST_DECODED) this.#decoded.clear();
    return this.#reader.get(address);
  }
}

/** Files in use, by name, time and size: as long as a program has one. */
const FILES = new Map<string, WeakRef<LocationFile>>();

/** @throws FileProblem, or the system's error */
export function openLocationFile(path: string): LocationFile {
  const fd = openSync(path, READ_WITHOUT_WAITING);
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile()) throw new FileProblem('it is not a regular file');
    if (stats.size > LARGEST) throw new FileProblem(`it has more than ${LARGEST} bytes`);
    const key = [path, stats.dev, stats.ino, stats.mtimeNs, stats.size].join();
    const known = FILES.get(key)?.deref();
    if (known !== undefined) return known;
    const file = new LocationFile(contentOf(fd, Number(stats.size)));
    for (const [other, ref] of FILES) if (ref.deref() === undefined) FILES.delete(other);
    FILES.set(key, new WeakRef(file));
    return file;
  } finally {
    closeSync(fd);
  }
}

/** The bytes of a file; fewer if it has become shorter. */
function contentOf(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for (let read = -1; read !== 0 && filled < size; filled += read)
    read = readSync(fd, bytes, filled, size - filled, filled);
  return bytes.subarray(0, filled);
}
