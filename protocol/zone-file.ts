// A file of the time zone database (TZif, RFC 8536): the changes of clocks with offsets and abbreviations, and the
// rule for later times. Other bytes give null, never an exception.

import { type LocalType, type PosixZone, parsePosixZone, posixTypeAt } from './posix-zone.ts';

const MAGIC = 'TZif';
const HEAD = 44;

export class ZoneFile {
  /** Epoch seconds at which the types in `indexes` begin. */
  private readonly times: readonly number[];
  private readonly indexes: Uint8Array;
  private readonly types: readonly LocalType[];
  private readonly first: LocalType;
  private readonly rule: PosixZone | null;

  private constructor(
    times: readonly number[],
    indexes: Uint8Array,
    types: readonly LocalType[],
    first: LocalType,
    rule: PosixZone | null,
  ) {
    this.times = times;
    this.indexes = indexes;
    this.types = types;
    this.first = first;
    this.rule = rule;
  }

  static read(file: Buffer): ZoneFile | null {
    const short = block(file, 0, 4);
    if (short === null) return null;
    // The second block has the same with 64-bit times, followed by a rule.
    const long = (file[4] as number) >= 0x32 ? block(file, short.end, 8) : null;
    const { times, indexes, types, first, end } = long ?? short;
    const footer = long === null ? '' : file.toString('latin1', end + 1, file.indexOf(10, end + 1));
    return new ZoneFile(times, indexes, types, first, parsePosixZone(footer));
  }

  at(seconds: number): LocalType {
    const { times } = this;
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((times[middle] as number) <= seconds) low = middle + 1;
      else high = middle;
    }
    if (low === times.length && this.rule !== null) return posixTypeAt(this.rule, seconds);
    return low === 0 ? this.first : (this.types[this.indexes[low - 1] as number] as LocalType);
  }
}

interface Block {
  readonly times: readonly number[];
  readonly indexes: Uint8Array;
  readonly types: readonly LocalType[];
  /** Before the first change. */
  readonly first: LocalType;
  readonly end: number;
}

/** One block, with times of `width` bytes. */
function block(file: Buffer, at: number, width: 4 | 8): Block | null {
  if (file.length < at + HEAD || file.toString('latin1', at, at + 4) !== MAGIC) return null;
  const count = (n: number): number => file.readUInt32BE(at + 20 + n * 4);
  const [utc, standard, leaps, changes, kinds, letters] = [0, 1, 2, 3, 4, 5].map(count) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  const timesAt = at + HEAD;
  const indexesAt = timesAt + changes * width;
  const typesAt = indexesAt + changes;
  const lettersAt = typesAt + kinds * 6;
  const end = lettersAt + letters + leaps * (width + 4) + standard + utc;
  if (end > file.length || kinds === 0) return null;
  const times = Array.from({ length: changes }, (_, i) =>
    width === 4 ? file.readInt32BE(timesAt + i * 4) : Number(file.readBigInt64BE(timesAt + i * 8)),
  );
  const isSummer: boolean[] = [];
  const types = Array.from({ length: kinds }, (_, i) => {
    const type = typesAt + i * 6;
    const name = lettersAt + (file[type + 5] as number);
    isSummer.push(file[type + 4] === 1);
    return { offset: file.readInt32BE(type), name: file.toString('latin1', name, file.indexOf(0, name)) };
  });
  const indexes = file.subarray(indexesAt, indexesAt + changes);
  if (indexes.some((index) => index >= kinds)) return null;
  const first = types[Math.max(0, isSummer.indexOf(false))] as LocalType;
  return { times, indexes, types, first, end };
}
