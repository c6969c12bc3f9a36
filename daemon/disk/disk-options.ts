// How a disk tier is made, and what it counts.

import { SMD_COUNTERS, type SmdCounterName } from '../../protocol/tables/counters.ts';

/** When data reaches the device: invalidations before they are answered (group), each object as soon as it is written, too
 * (always), or neither (off). The choices of disk_sync, in its order. */
export const DISK_SYNC = ['group', 'always', 'off'] as const;
export type DiskSync = (typeof DISK_SYNC)[number];

export interface DiskOptions {
  readonly sync: () => DiskSync;
  /** Bytes of a segment, at most 2^30. */
  readonly segmentBytes: number;
  /** Segments at most; with one more the oldest goes. */
  readonly segments: number;
  /** Objects at most, those that others have replaced included. */
  readonly objects: number;
  /** Invalidations that are kept. */
  readonly invalidations: number;
  /** Bytes that may wait to be written; with more a copy is dropped. */
  readonly waitingBytes: number;
  /** Finds and blocks that may be read at once; with more a find is a miss. */
  readonly reads: number;
  /** Seconds after which a read that has not come back is a miss. */
  readonly deadline: number;
  /** Seconds since 1970. */
  readonly now: () => number;
  /** Two 32-bit numbers for the hash of keys of a directory that begins empty. */
  readonly seed: () => readonly [number, number];
}

const MOST_SEGMENT = 1 << 30;
/** Segments of a tier whose size is not too large for that. */
const SEGMENTS = 32;
/** Bytes of disk for which the index has room for an object. */
const BYTES_AN_OBJECT = 4096;
const MOST_OBJECTS = 1 << 24;
const READS = 32;
const INVALIDATIONS = 100_000;

/** The limits of a tier of `size` bytes. */
export function sizes(
  size: number,
): Pick<DiskOptions, 'segmentBytes' | 'segments' | 'objects' | 'invalidations' | 'reads'> {
  const segmentBytes = Math.min(MOST_SEGMENT, Math.floor(size / SEGMENTS));
  return {
    segmentBytes,
    segments: Math.floor(size / segmentBytes),
    objects: Math.min(MOST_OBJECTS, Math.floor(size / BYTES_AN_OBJECT)),
    invalidations: INVALIDATIONS,
    reads: READS,
  };
}

/** The SMD counters since the start; gauges as DiskStore.sample() has set them. */
export type DiskFigures = Record<SmdCounterName, number>;

export function noFigures(): DiskFigures {
  return Object.fromEntries(SMD_COUNTERS.map(({ name }) => [name, 0])) as DiskFigures;
}
