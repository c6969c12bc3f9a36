// A counters file with one set of instances: their positions, and the values as last written. The file of a large set
// is made in steps, and appears only with the last one.

import { closeSync, fstatSync, renameSync, statSync, writeSync } from 'node:fs';
import { createOwn, type FileAccess } from '../../protocol/files/own-file.ts';
import type { CounterRow } from '../../protocol/tables/counters.ts';
import type { CounterSum } from './counter-sum.ts';
import { COUNTERS_HEAD, COUNTERS_MAGIC } from './counters-format.ts';
import { shareOf } from './publication-beat.ts';

/** Bytes of a value. */
const WORD = 8;
/** Instances per step (chosen: about five hundred names). */
const A_STEP = 32;

/** Instances with adjacent values, and the byte range of these. */
interface Part {
  readonly instances: readonly CounterSum[];
  readonly from: number;
  readonly to: number;
}

/** The instances to publish: the first and the last ones each time, the backends in shares. */
export interface Instances {
  readonly first: readonly CounterSum[];
  readonly backends: readonly CounterSum[];
  readonly last: readonly CounterSum[];
}

export class CountersLayout {
  private readonly path: string;
  private readonly fd: number;
  private readonly valuesAt: number;
  private readonly steady: readonly Part[];
  private readonly shares: readonly Part[];
  /** The values as last written, and the current ones. */
  private readonly last: Buffer;
  private readonly next: Buffer;
  private readonly words: Uint32Array;

  private constructor(path: string, fd: number, valuesAt: number, parts: readonly Part[]) {
    this.path = path;
    this.fd = fd;
    this.valuesAt = valuesAt;
    this.steady = [parts[0] as Part, parts.at(-1) as Part];
    this.shares = parts.slice(1, -1);
    const size = (parts.at(-1) as Part).to;
    this.next = Buffer.alloc(size);
    this.last = Buffer.alloc(size);
    this.words = new Uint32Array(this.next.buffer, this.next.byteOffset, size >> 2);
  }

  /**
   * Makes the file and puts it in place of the current one, in steps.
   * @param time milliseconds of the epoch up to which the values count everything; called before any is read
   */
  static *making(
    path: string,
    access: FileAccess,
    instances: Instances,
    time: () => number,
  ): Generator<void, CountersLayout> {
    const fresh = `${path}.${process.pid}.new`;
    const fd = createOwn(fresh, access);
    let isMade = false;
    try {
      const parts = partsOf(instances);
      const { count, bytes } = yield* writeNames(fd, parts);
      const padded = (bytes + 7) & ~7;
      writeAll(fd, Buffer.alloc(padded - bytes, '\n'), COUNTERS_HEAD + bytes);
      const head = Buffer.alloc(COUNTERS_HEAD);
      head.writeUInt32LE(COUNTERS_MAGIC, 0);
      head.writeUInt32LE(padded, 4);
      head.writeUInt32LE(count, 8);
      writeAll(fd, head, 0);
      const layout = new CountersLayout(path, fd, COUNTERS_HEAD + padded, parts);
      put(layout.words, 0, time());
      yield* layout.encodeAll(parts);
      layout.write(0, layout.next.length);
      renameSync(fresh, path);
      isMade = true;
      return layout;
    } finally {
      if (!isMade) closeSync(fd);
    }
  }

  /** Whether this is still the file at the path. */
  get isInPlace(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === fstatSync(this.fd).ino;
  }

  /**
   * Writes changed values, and then the time up to which they count everything: also without a change, so that a reader
   * need not wait for one.
   * @param beat selects the share of the backends
   */
  update(beat: number, time: number): void {
    const { shares } = this;
    const share = shares[beat % shares.length];
    const parts = share === undefined ? this.steady : [...this.steady, share];
    const changed = parts.filter((part) => {
      this.encode(part.instances, part.from);
      return this.last.compare(this.next, part.from, part.to, part.from, part.to) !== 0;
    });
    for (const { from, to } of changed) this.write(from, to);
    put(this.words, 0, time);
    this.write(0, WORD);
  }

  close(): void {
    closeSync(this.fd);
  }

  private write(from: number, to: number): void {
    writeAll(this.fd, this.next.subarray(from, to), this.valuesAt + from);
    this.next.copy(this.last, from, from, to);
  }

  private *encodeAll(parts: readonly Part[]): Generator<void, void> {
    for (const { instances, from } of parts) {
      let at = from;
      for (let i = 0; i < instances.length; i += A_STEP) {
        at = this.encode(instances.slice(i, i + A_STEP), at);
        yield;
      }
    }
  }

  /** Returns the position of the values of the next instance. */
  private encode(instances: readonly CounterSum[], from: number): number {
    const { words } = this;
    let at = from >> 2;
    for (const sum of instances) {
      const { rows, alone } = sum;
      for (let i = 0; i < rows.length; i++) {
        const { name } = rows[i] as CounterRow;
        put(words, at, alone === null ? sum.value(i) : (alone[name] as number | bigint));
        at += 2;
      }
    }
    return at << 2;
  }
}

function partsOf({ first, backends, last }: Instances): Part[] {
  const share = shareOf(backends.length);
  const groups = [first];
  for (let i = 0; i < backends.length; i += share) groups.push(backends.slice(i, i + share));
  groups.push(last);
  // The time comes first.
  let at = WORD;
  return groups.map((instances) => {
    const from = at;
    for (const { rows } of instances) at += WORD * rows.length;
    return { instances, from, to: at };
  });
}

/** Writes the names after the head, separated by newlines. */
function* writeNames(fd: number, parts: readonly Part[]): Generator<void, { count: number; bytes: number }> {
  let count = 0;
  let bytes = 0;
  for (const { instances } of parts) {
    for (let i = 0; i < instances.length; i += A_STEP) {
      const names = instances
        .slice(i, i + A_STEP)
        .flatMap(({ prefix, rows }) => rows.map((row) => `${prefix}.${row.name}`));
      const text = Buffer.from(`${count === 0 ? '' : '\n'}${names.join('\n')}`);
      writeAll(fd, text, COUNTERS_HEAD + bytes);
      count += names.length;
      bytes += text.length;
      yield;
    }
  }
  return { count, bytes };
}

/** A full disk may cut a write short: half a file must never replace a complete one. */
function writeAll(fd: number, data: Buffer, at: number): void {
  for (let done = 0; done < data.length; ) {
    done += writeSync(fd, data, done, data.length - done, at + done);
  }
}

/**
 * Writes one value. A gauge that dips below zero through a race of bookkeeping is published as 0.
 * @param at index of the lower half; words are little-endian wherever the ring is read
 */
function put(words: Uint32Array, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    words[at] = Number(BigInt.asUintN(32, value));
    words[at + 1] = Number(BigInt.asUintN(32, value >> 32n));
    return;
  }
  const v = value > 0 ? value : 0;
  words[at] = v;
  words[at + 1] = v / 0x1_0000_0000;
}
