// How a disk tier is made, and what it counts.

export interface DiskOptions {
  /** Bytes of a segment, at most 2^37. */
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
  /** Two 32-bit numbers for the hash of keys of a directory that begins empty. */
  readonly seed: () => readonly [number, number];
}

/** Figures since the start. */
export interface DiskFigures {
  hits: number;
  misses: number;
  /** Hashes that were another key's. */
  collisions: number;
  /** Objects found that an invalidation concerned. */
  invalidated: number;
  /** Records or blocks with a wrong bit. */
  damaged: number;
  readErrors: number;
  /** Reads that took longer than the deadline, and finds that were not begun as too many reads were under way. */
  late: number;
  busy: number;
  writeErrors: number;
  written: number;
  writtenBytes: number;
  /** Copies that were not written, as too many waited or they are too large. */
  dropped: number;
  segmentsDropped: number;
}

export function noFigures(): DiskFigures {
  return {
    hits: 0,
    misses: 0,
    collisions: 0,
    invalidated: 0,
    damaged: 0,
    readErrors: 0,
    late: 0,
    busy: 0,
    writeErrors: 0,
    written: 0,
    writtenBytes: 0,
    dropped: 0,
    segmentsDropped: 0,
  };
}
