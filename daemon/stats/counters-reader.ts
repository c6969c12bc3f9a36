// Reads the counters file and adds the manager's own counters, which makes the content of a counter subscription. It
// never writes and needs no running worker: the last values stay in the file. Without a file no worker ever ran in this
// directory, and only the manager's own counters are shown.
//
// There may be hundreds of thousands: a reading comes in steps, and costs the bytes of the file plus what has changed
// since the last one.

import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../protocol/files/own-file.ts';
import type { CounterInfo } from '../../protocol/messages.ts';
import { type CounterRow, MGT_COUNTERS } from '../../protocol/tables/counters.ts';
import type { MgtCounters } from './counter-fields.ts';
import { COUNTERS_HEAD, COUNTERS_MAGIC, counterRow } from './counters-format.ts';

/** Largest counters file (chosen): its writer may have fewer rights than its reader, so its size is not trusted. */
const LARGEST = 64 * 1024 * 1024;
/** Bytes read, and names described, in one step (chosen). */
const A_READ = 64 * 1024;
const A_STEP = 128;
/** Bytes of a value. */
const WORD = 8;
const NEWLINE = 0x0a;

const MGT_NAMES: readonly string[] = MGT_COUNTERS.map((row) => `MGT.${row.name}`);

/** Counters of the manager beside MGT, such as FLEET.*; whole numbers. */
export interface ManagerGroup {
  readonly prefix: string;
  readonly rows: readonly CounterRow[];
  readonly values: Readonly<Record<string, number>>;
}

export interface CounterSnapshot {
  /** The same array until the set of counters changes. */
  readonly info: readonly CounterInfo[];
  /** Made for this reading; never changes. */
  readonly values: readonly bigint[];
}

/** The content of a file: its names, and its values with the time of writing before them. */
interface Content {
  readonly names: Buffer;
  readonly words: Buffer;
}

const NOTHING: Content = { names: Buffer.alloc(0), words: Buffer.alloc(0) };

export class CountersReader {
  private readonly path: string;
  private readonly mgt: MgtCounters;
  private readonly refresh: (written: number) => void;
  private readonly groups: readonly ManagerGroup[];
  private readonly own: readonly string[];
  /** The latest reading. */
  private content = NOTHING;
  private snapshot: CounterSnapshot;

  /** @param refresh called before each reading to update `mgt` and `groups`, with the time the file was written in
   * milliseconds of the epoch, 0 without a file */
  constructor(
    path: string,
    mgt: MgtCounters,
    refresh: (written: number) => void = () => {},
    groups: readonly ManagerGroup[] = [],
  ) {
    this.path = path;
    this.mgt = mgt;
    this.refresh = refresh;
    this.groups = groups;
    const names = groups.flatMap(({ prefix, rows }) => rows.map((row) => `${prefix}.${row.name}`));
    this.own = [...MGT_NAMES, ...names];
    this.snapshot = { info: describeCounters(this.own), values: this.own.map(() => 0n) };
  }

  /** Reads all counters in steps; one reading at a time. The manager's own are sampled in the last step. */
  *reading(): Generator<void, CounterSnapshot> {
    const content = (yield* this.load()) ?? NOTHING;
    const before = this.content;
    const isSame = content.names === before.names && content.words.length === before.words.length;
    const info = isSame ? this.snapshot.info : yield* this.describe(content.names);
    const values = isSame ? this.snapshot.values.slice() : this.own.map(() => 0n);
    yield* takeWords(values, this.own.length, content.words, isSame ? before.words : NOTHING.words);
    this.refresh(content.words.length === 0 ? 0 : Number(content.words.readBigUInt64LE(0)));
    let at = 0;
    for (const row of MGT_COUNTERS) values[at++] = BigInt(Math.floor(this.mgt[row.name]));
    for (const { rows, values: counts } of this.groups) {
      for (const row of rows) values[at++] = BigInt(counts[row.name] ?? 0);
    }
    this.content = content;
    this.snapshot = { info, values };
    return this.snapshot;
  }

  /** Null for a file that is not a counters file. */
  private *load(): Generator<void, Content | null> {
    let fd: number;
    try {
      fd = openRegular(this.path);
    } catch {
      return null;
    }
    try {
      return yield* this.loadFrom(fd);
    } catch {
      return null;
    } finally {
      closeSync(fd);
    }
  }

  private *loadFrom(fd: number): Generator<void, Content | null> {
    const { size } = fstatSync(fd);
    const head = Buffer.alloc(COUNTERS_HEAD);
    if (size > LARGEST || readSync(fd, head, 0, COUNTERS_HEAD, 0) < COUNTERS_HEAD) return null;
    const bytes = head.readUInt32LE(4);
    const count = head.readUInt32LE(8);
    if (head.readUInt32LE(0) !== COUNTERS_MAGIC) return null;
    if (size < COUNTERS_HEAD + bytes + (count + 1) * WORD) return null;
    const names = Buffer.allocUnsafe(bytes);
    const words = Buffer.allocUnsafe((count + 1) * WORD);
    const known = this.content.names;
    let isKnown = known.length === bytes;
    for (let at = 0; at < bytes; at += A_READ) {
      const end = Math.min(at + A_READ, bytes);
      if (readSync(fd, names, at, end - at, COUNTERS_HEAD + at) < end - at) return null;
      isKnown &&= known.compare(names, at, end, at, end) === 0;
      yield;
    }
    for (let at = 0; at < words.length; at += A_READ) {
      const more = Math.min(A_READ, words.length - at);
      if (readSync(fd, words, at, more, COUNTERS_HEAD + bytes + at) < more) return null;
      yield;
    }
    return { names: isKnown ? known : names, words };
  }

  /** Describes the manager's own counters and those of the file. */
  private *describe(names: Buffer): Generator<void, CounterInfo[]> {
    const info = describeCounters(this.own);
    let end = names.length;
    while (names[end - 1] === NEWLINE) end--;
    for (let at = 0; at < end; ) {
      let stop = Math.min(at + A_READ, end);
      while (stop < end && names[stop] !== NEWLINE) stop++;
      const some = names.toString('utf8', at, stop).split('\n');
      yield;
      yield* describeInto(info, some);
      at = stop + 1;
    }
    return info;
  }
}

/** Takes over the values after the first word that differ from `before`, from the index `at` on. */
function* takeWords(values: bigint[], at: number, words: Buffer, before: Buffer): Generator<void, void> {
  for (let from = WORD; from < words.length; from += A_STEP * WORD) {
    const end = Math.min(from + A_STEP * WORD, words.length);
    if (before.length > 0 && words.compare(before, from, end, from, end) === 0) continue;
    for (let word = from; word < end; word += WORD) {
      const low = words.readUInt32LE(word);
      const high = words.readUInt32LE(word + 4);
      const value = high === 0 ? BigInt(low) : words.readBigUInt64LE(word);
      values[at + word / WORD - 1] = value;
    }
    yield;
  }
}

/** Describes counters from the tables. */
export function describeCounters(names: readonly string[]): CounterInfo[] {
  return names.map(describeCounter);
}

/** Appends further descriptions, in steps. */
export function* describeInto(info: CounterInfo[], names: readonly string[]): Generator<void, void> {
  for (const name of names) {
    info.push(describeCounter(name));
    if (info.length % A_STEP === 0) yield;
  }
}

function describeCounter(name: string): CounterInfo {
  const row = counterRow(name);
  return {
    name,
    flag: row?.flag ?? 'g',
    format: row?.format ?? 'i',
    level: row?.level ?? 'debug',
    description: row?.help ?? '',
  };
}
