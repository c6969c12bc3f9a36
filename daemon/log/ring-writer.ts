// Writes the log ring. Records gather in a staging buffer and go out as one block with one positioned write
// an event-loop turn, or earlier when the staging buffer is full. It never waits for a reader and never checks
// on readers. A write that fails (an I/O error) loses that block: the failure is counted and logged, not thrown. All the
// space is reserved when the ring is made, so that the log still works on a disk that others fill (ring-file.ts).
//
// Special case: threads that write the same ring have a writer each and the place of the next block in common
// (ring-place.ts). The lock is held from the reservation of a block to the end of its write. With the write outside of
// it a block could stand after one that is not there yet: readers would wait at it, take what was written later for
// lost when the segment ends, and never get past one whose write failed. It is the innermost lock: nothing is called
// under it that takes another, so records may be written under any.

import { type Lock, NO_LOCK } from '../threads/shared-lock.ts';
import {
  B_BEFORE,
  B_BYTES,
  B_COUNT,
  B_GENERATION,
  B_MAGIC,
  B_POSITION,
  BLOCK_HEAD,
  BLOCK_MAGIC,
  BLOCK_TAIL,
} from './ring-format.ts';
import type { RingPlace } from './ring-place.ts';
import type { WriteTrouble } from './write-trouble.ts';

const STAGING = 256 * 1024;
/** Milliseconds that a last block waits for the lock (chosen): many times what all threads need to write theirs. */
const LAST_WAIT = 50;

/** A Buffer with the native method that its type leaves out; `write` costs a third more. */
export type StagingBuffer = Buffer & { latin1Write(text: string, at: number, length: number): number };

/** The counters of the writer; MainCounters fits. */
export interface RingCounters {
  shm_records: number;
  shm_writes: number;
  shm_flushes: number;
  shm_cycles: number;
}

export class RingWriter {
  /** The staging buffer: TxLog writes records at `pos` and advances it. */
  readonly bytes: StagingBuffer;
  readonly words: Uint32Array;
  /** The same bytes, for several of them at any place. */
  readonly view: DataView;
  /** Next free byte, a multiple of 4; records must end at or before `limit`. */
  pos = BLOCK_HEAD;
  readonly limit: number;
  /** Records in the staging buffer. */
  count = 0;
  scheduled = false;
  private readonly place: RingPlace;
  private readonly counters: RingCounters;
  private readonly trouble: WriteTrouble | null;
  private readonly lock: Lock;
  private readonly onTurn: () => void;
  private closed = false;

  /** @param lock of all writers of the ring */
  constructor(
    place: RingPlace,
    counters: RingCounters,
    trouble: WriteTrouble | null = null,
    lock: Lock = NO_LOCK,
  ) {
    this.place = place;
    this.counters = counters;
    this.trouble = trouble;
    this.lock = lock;
    const staging = new ArrayBuffer(Math.min(STAGING, place.segmentSize));
    this.bytes = Buffer.from(staging) as StagingBuffer;
    this.words = new Uint32Array(staging);
    this.view = new DataView(staging);
    this.limit = staging.byteLength - BLOCK_TAIL;
    this.words[B_MAGIC >> 2] = BLOCK_MAGIC;
    this.words[B_GENERATION >> 2] = place.generation;
    this.onTurn = () => this.flush();
  }

  /** Makes sure that the staging buffer is written at the end of this turn. */
  schedule(): void {
    this.scheduled = true;
    setImmediate(this.onTurn);
  }

  /** Empties a staging buffer that cannot take `need` more bytes; returns the new write position. */
  makeRoom(): number {
    this.counters.shm_flushes++;
    this.flush();
    return this.pos;
  }

  /** Writes the staging buffer. */
  flush(): void {
    this.scheduled = false;
    if (this.count === 0 || this.closed) return;
    this.lock.enter();
    this.writeBlock();
  }

  /** Before the process ends. The lock's thread may be dead, which must not keep the next worker waiting: records that
   * find it taken are lost after a moment. */
  flushAtEnd(): void {
    if (this.count === 0 || this.closed) return;
    for (const end = performance.now() + LAST_WAIT; !this.lock.tryEnter(); ) {
      if (performance.now() > end) return;
    }
    this.writeBlock();
  }

  close(): void {
    if (this.closed) return;
    this.flush();
    this.closed = true;
    this.place.close();
  }

  /** Under the lock, which it leaves. */
  private writeBlock(): void {
    const { counters, trouble, place } = this;
    const length = this.pos + BLOCK_TAIL;
    if (place.room(length)) counters.shm_cycles++;
    this.complete(place.position, place.before);
    const wrong = place.write(this.bytes, length, this.count);
    counters.shm_records += this.count;
    counters.shm_writes++;
    this.count = 0;
    this.pos = BLOCK_HEAD;
    this.lock.leave();
    // The log must never stop traffic. Readers see the gap in the count.
    if (wrong === null) trouble?.worked();
    else trouble?.failed(wrong);
  }

  /** The block's header and trailer. */
  private complete(position: number, before: number): void {
    const { words, pos } = this;
    const bytes = pos - BLOCK_HEAD;
    words[B_BYTES >> 2] = bytes;
    words[B_POSITION >> 2] = position;
    words[(B_POSITION >> 2) + 1] = Math.floor(position / 0x1_0000_0000);
    words[B_BEFORE >> 2] = before;
    words[(B_BEFORE >> 2) + 1] = Math.floor(before / 0x1_0000_0000);
    words[B_COUNT >> 2] = this.count;
    words[pos >> 2] = position;
    words[(pos >> 2) + 1] = bytes ^ BLOCK_MAGIC;
  }
}
