// Writes the log ring. Records gather in a staging buffer and go out as one block with one positioned write per turn of
// the event loop, or earlier when the buffer is full. It never waits for readers or checks on them. A failed write (an
// I/O error) loses that block: the failure is counted and reported, not thrown. All space is reserved when the ring is
// created, so that the log still works on a disk that fills up (ring-file.ts).
//
// Special case: threads that write the same ring have a writer each, and share the place of the next block
// (ring-place.ts) and their staging buffers (thread-logs.ts), so that one can write records that must precede its own.
// The lock is held from the reservation of a block to the end of its write. With the write outside of it a block could
// follow one that does not exist yet: readers would wait there, count what was written later as lost when the segment
// ends, and never get past one whose write failed. It is the innermost lock: nothing that takes another one is called
// under it, so records may be written under any lock.

import { type Lock, NO_LOCK } from '../threads/shared-lock.ts';
import { BLOCK_HEAD, BLOCK_TAIL } from './ring-format.ts';
import type { RingPlace } from './ring-place.ts';
import type { Taken, ThreadLogs } from './thread-logs.ts';
import type { WriteTrouble } from './write-trouble.ts';

const STAGING = 256 * 1024;
/** Milliseconds that the last block waits for the lock (chosen): many times what all threads need to write theirs. */
const LAST_WAIT = 50;
/** Milliseconds that records wait for those of a response that was sent before theirs (chosen): a busy system may keep
 * a thread off the processor for a tenth of a second, and a reader of the log hardly notices. */
const LONGEST_WAIT = 250;

/** State that the writers of one ring share. */
export interface CommonRing {
  readonly lock: Lock;
  readonly logs: ThreadLogs;
}

/** A Buffer with the native method that its type omits; `write` costs a third more. */
export type StagingBuffer = Buffer & { latin1Write(text: string, at: number, length: number): number };

/** The counters of the writer; MainCounters fits. */
export interface RingCounters {
  shm_records: number;
  shm_writes: number;
  shm_flushes: number;
  shm_cycles: number;
  shm_bytes: number;
}

export class RingWriter {
  /** The staging buffer: TxLog writes records at `pos` and advances it. */
  readonly bytes: StagingBuffer;
  readonly words: Uint32Array;
  /** The same bytes, for unaligned access. */
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
  private readonly common: CommonRing | null;
  private readonly lock: Lock;
  /** Where the records of several threads are gathered. */
  private readonly block: Buffer;
  private readonly taken: Taken = { pos: BLOCK_HEAD, records: 0 };
  private readonly onTurn: () => void;
  private readonly onTimer: () => void;
  private isWaiting = false;
  private closed = false;
  /** Time since which records wait for another thread's; 0 when none do. */
  private waitingSince = 0;
  /** Ring cycles counted so far. */
  private cycles = 0;

  /** @param common null for the only writer of its ring */
  constructor(
    place: RingPlace,
    counters: RingCounters,
    trouble: WriteTrouble | null = null,
    common: CommonRing | null = null,
  ) {
    this.place = place;
    this.counters = counters;
    this.trouble = trouble;
    this.common = common;
    this.lock = common?.lock ?? NO_LOCK;
    const staging = common?.logs.own.memory ?? new ArrayBuffer(RingWriter.stagingFor(place));
    this.bytes = Buffer.from(staging) as StagingBuffer;
    this.words = new Uint32Array(staging);
    this.view = new DataView(staging);
    this.block = common === null ? this.bytes : Buffer.alloc(staging.byteLength);
    this.limit = staging.byteLength - BLOCK_TAIL;
    this.onTurn = () => this.flush();
    this.onTimer = () => {
      this.isWaiting = false;
      this.flush();
    };
  }

  /** Size of the largest block in bytes. */
  static stagingFor(place: RingPlace): number {
    return Math.min(STAGING, place.segmentSize);
  }

  /** Makes sure that the staging buffer is written at the end of this turn. */
  schedule(): void {
    this.scheduled = true;
    setImmediate(this.onTurn);
  }

  /** Empties a staging buffer that cannot take more; returns the new write position. */
  makeRoom(): number {
    this.counters.shm_flushes++;
    this.writeNow();
    return this.pos;
  }

  /** Call before a write to a client. */
  answering(): void {
    if (this.common === null) return;
    this.common.logs.answering();
    if (!this.scheduled) this.schedule();
  }

  /** Returns the value that a request which begins now passes to answered(). */
  begin(): number {
    return this.common === null ? 0 : this.common.logs.begin();
  }

  /** Call when a request whose response was sent has ended. @param isAll whether its fetch has ended, too */
  answered(began: number, isAll: boolean): void {
    if (this.common === null) return;
    this.common.logs.answered(began, this.pos, this.count, isAll);
    if (this.common.logs.own.isFull) this.makeRoom();
  }

  /** At the end of a turn: writes the staging buffer, after records of other threads that must precede it. */
  flush(): void {
    this.scheduled = false;
    const { common } = this;
    if (this.closed) return;
    if (common === null) {
      if (this.count > 0) this.leaveWith(this.writeOwn);
      return;
    }
    if (common.logs.turnEnded(this.pos, this.count)) this.schedule();
    if (this.count === 0) return;
    // The holder of the lock is writing; the next turn comes soon enough.
    if (!this.lock.tryEnter()) {
      if (!this.scheduled) this.schedule();
      return;
    }
    this.leaveWith(this.writeReady);
    if (this.count > 0 && !this.scheduled) this.waitForOthers();
    else this.waitingSince = 0;
  }

  /** Call before the process exits. The lock's holder may be dead, which must not delay the next worker: if the lock
   * stays taken, the records are lost after a moment. */
  flushAtEnd(): void {
    if (this.count === 0 || this.closed) return;
    for (const end = performance.now() + LAST_WAIT; !this.lock.tryEnter(); ) {
      if (performance.now() > end) return;
    }
    this.leaveWith(this.writeAll);
  }

  close(): void {
    if (this.closed) return;
    this.writeNow();
    this.closed = true;
    this.place.close();
  }

  /** Records of a response that was sent before one of these are not there yet. */
  private waitForOthers(): void {
    const now = performance.now();
    if (this.waitingSince === 0) this.waitingSince = now;
    else if (now - this.waitingSince > LONGEST_WAIT) {
      this.writeNow();
      return;
    }
    if (this.isWaiting) return;
    this.isWaiting = true;
    setTimeout(this.onTimer, 1);
  }

  /** Writes all of this thread's records, even those that others should precede. */
  private writeNow(): void {
    if (this.count === 0 || this.closed) return;
    this.lock.enter();
    this.leaveWith(this.writeAll);
    this.waitingSince = 0;
  }

  /** Works under the lock and leaves it in any case: all threads would wait for it. */
  private leaveWith(work: (this: this) => unknown): void {
    let wrong: unknown;
    try {
      wrong = work.call(this);
    } finally {
      this.lock.leave();
    }
    // The log must never stop traffic. Readers see the gap in the count.
    if (wrong === undefined) return;
    if (wrong === null) this.trouble?.worked();
    else this.trouble?.failed(wrong);
  }

  // The functions that work under the lock return the error of a write, null after a good one, undefined without one.

  private writeOwn(): unknown {
    const { pos, count } = this;
    this.startAgain();
    return this.write(this.bytes, pos, count);
  }

  private writeReady(): unknown {
    const { logs } = this.common as CommonRing;
    if (this.count === 0 || !logs.isOwnAlone || logs.own.addedTo !== this.pos)
      return this.gather(logs, false);
    logs.takeOwn();
    logs.own.startAgain();
    return this.writeOwn();
  }

  private writeAll(): unknown {
    const { common } = this;
    if (common === null) return this.writeOwn();
    common.logs.addAll(this.pos, this.count);
    return this.gather(common.logs, true);
  }

  private gather(logs: ThreadLogs, force: boolean): unknown {
    const { taken, block } = this;
    let wrong: unknown;
    for (let isMore = true; isMore; ) {
      isMore = logs.takeInto(block, this.limit, taken, force);
      if (taken.records > 0) wrong = this.write(block, taken.pos, taken.records) ?? wrong ?? null;
    }
    if (logs.own.takenTo === this.pos && this.pos > BLOCK_HEAD) {
      logs.own.startAgain();
      this.startAgain();
    }
    return wrong;
  }

  /** Frees the staging buffer for new records. */
  private startAgain(): void {
    this.pos = BLOCK_HEAD;
    this.count = 0;
  }

  private write(block: Buffer, pos: number, records: number): unknown {
    const { counters, place } = this;
    const wrong = place.write(block, pos, records);
    counters.shm_records += records;
    counters.shm_writes++;
    counters.shm_bytes += pos;
    counters.shm_cycles += place.cycles - this.cycles;
    this.cycles = place.cycles;
    return wrong;
  }
}
