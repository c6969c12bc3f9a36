// Equal pieces of shared memory, by number. The more there are, the more of them share a mapping: the system uses huge pages
// only within a mapping, and with millions of objects those halve the time of a random read.
//
// The mapping and offset of a piece follow from its number alone, so that threads need not agree on them. Pages of a mapping
// are committed as its pieces are used, so that a large mapping costs nothing up front; with one thread it is dropped when
// all its pieces are freed.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';

export interface Piece {
  readonly memory: SharedArrayBuffer;
  /** Byte where the piece begins. */
  readonly at: number;
}

/** Bytes of the largest mapping, unless its user says otherwise. */
const LARGEST = 32 << 20;

export class Regions {
  private readonly pieceBytes: number;
  private readonly memory: MemoryPart;
  private readonly largest: number;
  /** Number of the first piece of each mapping, and the number after the last. */
  private readonly starts = [0];
  /** Pieces in use, by mapping. */
  private readonly used: number[] = [];

  /** @param largest bytes of the largest mapping */
  constructor(pieceBytes: number, memory: MemoryPart = ownMemory(), largest = LARGEST) {
    this.pieceBytes = pieceBytes;
    this.memory = memory;
    this.largest = largest;
  }

  /** The piece of this number, created if necessary: all zero, unless it was freed before. */
  take(number: number): Piece {
    const region = this.regionOf(number);
    this.used[region] = (this.used[region] ?? 0) + 1;
    const memory = this.memory.piece(String(region), this.bytesOf(region));
    return { memory, at: (number - (this.starts[region] as number)) * this.pieceBytes };
  }

  /** The pieces from this number on, in mappings that any thread has made. */
  *made(from: number): IterableIterator<Piece> {
    for (let number = from; ; ) {
      const region = this.regionOf(number);
      const memory = this.memory.find(String(region));
      if (memory === undefined) return;
      const first = this.starts[region] as number;
      const end = this.starts[region + 1] as number;
      for (; number < end; number++) yield { memory, at: (number - first) * this.pieceBytes };
    }
  }

  /** Frees a piece. */
  give(number: number): void {
    const region = this.regionOf(number);
    this.used[region] = (this.used[region] as number) - 1;
    if (this.used[region] === 0) this.memory.drop(String(region));
  }

  private regionOf(number: number): number {
    const { starts } = this;
    while ((starts.at(-1) as number) <= number) this.plan();
    let low = 0;
    for (let high = starts.length - 1; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] as number) <= number) low = middle;
      else high = middle;
    }
    return low;
  }

  private bytesOf(region: number): number {
    return ((this.starts[region + 1] as number) - (this.starts[region] as number)) * this.pieceBytes;
  }

  private plan(): void {
    const total = (this.starts.at(-1) as number) * this.pieceBytes;
    let bytes = this.pieceBytes;
    while (bytes * 2 <= Math.min(this.largest, total / 2)) bytes *= 2;
    this.starts.push((total + bytes) / this.pieceBytes);
  }
}
