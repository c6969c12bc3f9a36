// The history of counters at one resolution: files of six hundred samples each in one directory. A file starts with a
// whole sample and does not depend on others, so that the oldest can be removed and a damaged one is dropped alone.
// Each sample is written within its second; after one that cannot be written a new file is begun.

import {
  closeSync,
  ftruncateSync,
  readdirSync,
  readFileSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createOwn, openRegular } from '../../protocol/files/own-file.ts';
import { decodeHistory, HistoryEncoder, type HistorySample, spanOfHistory } from './history-frames.ts';

/** Samples per file (chosen): names take little of it, and the excess over the time to keep is a sixth at most. */
const SAMPLES = 600;
/** Free bytes that are left on the file system (chosen): the counters file needs some when its set changes. */
const RESERVE = 2 << 20;
/** A clock set back by less than this is waited out. */
const PATIENCE_MS = 60_000;

export interface LevelShape {
  /** Seconds between two samples. */
  step: number;
  /** Seconds to keep, and most bytes: beyond them the oldest file is removed. */
  keep: number;
  bytes: number;
}

interface Chunk {
  readonly path: string;
  /** Milliseconds of the epoch. */
  readonly from: number;
  to: number;
  bytes: number;
  samples: number;
}

export class HistoryLevel {
  readonly shape: LevelShape;
  private readonly directory: string;
  private readonly warn: (text: string) => void;
  private readonly free: () => number;
  private readonly encoder = new HistoryEncoder();
  /** Oldest first. */
  private chunks: Chunk[] = [];
  /** Descriptor of the last file while it is written; -1 when the next sample begins a new one. */
  private fd = -1;
  private names: readonly string[] = [];
  private values: bigint[] = [];
  private troubled = false;

  /** @param warn called for each damaged file, and once for failing writes @param free returns the free bytes */
  constructor(
    directory: string,
    shape: LevelShape,
    warn: (text: string) => void,
    free: () => number = () => freeBytes(directory),
  ) {
    this.directory = directory;
    this.shape = shape;
    this.warn = warn;
    this.free = free;
  }

  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  }

  /** Reads the files of an earlier manager. */
  open(): void {
    const mine = new RegExp(`^${this.shape.step}s-\\d+$`);
    const found: Chunk[] = [];
    for (const name of readdirSync(this.directory).filter((file) => mine.test(file))) {
      const path = join(this.directory, name);
      const chunk = this.inspect(path);
      if (chunk !== null) found.push(chunk);
    }
    this.chunks = found.sort((a, b) => a.from - b.from);
  }

  /** Appends a sample in steps, one at a time; the file changes in the last step. */
  *append(at: number, names: readonly string[], values: readonly bigint[]): Generator<void, void> {
    let last = this.chunks.at(-1);
    if (last !== undefined && at <= last.to) {
      if (last.to - at < PATIENCE_MS) return;
      this.warn('The clock went back: the history of counters starts over');
      this.clear();
      last = undefined;
    }
    try {
      this.makeRoom();
      last = this.chunks.at(-1);
      if (last === undefined || this.fd < 0 || last.samples >= SAMPLES || this.names !== names)
        this.begin(at, yield* this.encoder.whole({ at, names, values }));
      else this.add(last, yield* this.encoder.changes(at - last.to, this.values, values), at);
      this.names = names;
      this.values = values.slice();
      this.troubled = false;
    } catch (cause) {
      this.end();
      if (!this.troubled) this.warn(`The history of counters cannot be written: ${(cause as Error).message}`);
      this.troubled = true;
    }
  }

  /** Samples from `from` on, oldest first. One file is in memory at a time. */
  *samples(from: number): Generator<HistorySample> {
    for (const chunk of this.chunks.filter((each) => each.to >= from)) {
      // The file may have been removed meanwhile.
      const bytes = read(chunk.path);
      if (bytes === null) continue;
      for (const sample of decodeHistory(bytes)) if (sample.at >= from) yield sample;
    }
  }

  close(): void {
    this.end();
  }

  private begin(at: number, frame: Buffer): void {
    this.end();
    const path = join(this.directory, `${this.shape.step}s-${at}`);
    this.fd = createOwn(path, { mode: 0o600 });
    const chunk: Chunk = { path, from: at, to: at, bytes: 0, samples: 0 };
    this.chunks.push(chunk);
    this.add(chunk, frame, at);
    this.evict(at);
  }

  private add(chunk: Chunk, frame: Buffer, at: number): void {
    let written = 0;
    try {
      written = writeSync(this.fd, frame, 0, frame.length, chunk.bytes);
    } finally {
      // Half a frame would make the whole file count as damaged.
      if (written !== frame.length) ftruncateSync(this.fd, chunk.bytes);
    }
    if (written !== frame.length) throw new Error('no space');
    chunk.bytes += frame.length;
    chunk.samples++;
    chunk.to = at;
  }

  private evict(now: number): void {
    const { keep, bytes } = this.shape;
    while (this.chunks.length > 1) {
      const oldest = this.chunks[0] as Chunk;
      if (now - oldest.to <= keep * 1000 && this.bytes <= bytes) return;
      this.dropOldest();
    }
  }

  /** History does not use the last free space of a file system. */
  private makeRoom(): void {
    while (this.free() < RESERVE) {
      if (this.chunks.length <= 1) throw new Error('too little space is left');
      this.dropOldest();
    }
  }

  private dropOldest(): void {
    const oldest = this.chunks.shift();
    if (oldest !== undefined) remove(oldest.path);
  }

  private end(): void {
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private clear(): void {
    this.end();
    for (const chunk of this.chunks.splice(0)) remove(chunk.path);
  }

  /** Reads the extent of a file; a damaged one is removed, and null returned. */
  private inspect(path: string): Chunk | null {
    const bytes = read(path);
    if (bytes === null) return null;
    try {
      return { path, bytes: bytes.length, ...spanOfHistory(bytes) };
    } catch (cause) {
      this.warn(`History of counters refused: ${path} is damaged (${(cause as Error).message})`);
      remove(path);
      return null;
    }
  }
}

/** Null for anything but a regular file. */
function read(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch {
    return null;
  }
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function freeBytes(directory: string): number {
  const { bsize, blocks, bavail } = statfsSync(directory);
  // A file system without blocks has no limit.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
