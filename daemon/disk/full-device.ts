// A device without room: the oldest segment goes, and the write is tried again. Its objects would be the next to go anyway.
//
// Another program may take the room as fast as segments make it. So objects take a second segment only once they have
// filled a good part of the first, or after a while: until then they are not written, and what is on disk stays. The journal
// takes as many as it needs, since all objects are lost when a purge cannot be written.

import type { DiskFigures } from './disk-options.ts';

/** Seconds after which objects may take another segment whose room they did not get (chosen). */
const PAUSE = 60;

/** The segments of which the oldest may go. */
interface Yielding {
  /** Removes the oldest segment that nothing is appended to; its bytes, 0 when there is none. */
  dropForRoom(): Promise<number>;
}

export class FullDevice {
  private readonly segments: Yielding;
  private readonly figures: DiskFigures;
  /** Seconds since 1970. */
  private readonly now: () => number;
  /** Bytes of the last segment that went for objects, those written for objects until then, and when. */
  private freed = 0;
  private writtenBefore = 0;
  private freedAt = Number.NEGATIVE_INFINITY;

  constructor(segments: Yielding, figures: DiskFigures, now: () => number) {
    this.segments = segments;
    this.figures = figures;
    this.now = now;
  }

  /** Does a write of objects, again from its beginning once there may be room for these bytes; fails when there is none. */
  async forObjects<T>(bytes: number, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error) || !this.mayTake()) throw error;
      await this.take(bytes);
      return write();
    }
  }

  /** Does a write of the journal, again from its beginning while there is no room and segments can go. */
  async forJournal<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!isFull(error) || (await this.drop()) === 0) throw error;
      }
    }
  }

  private mayTake(): boolean {
    const written = this.figures.c_write_bytes - this.writtenBefore;
    return written * 2 >= this.freed || this.now() - this.freedAt >= PAUSE;
  }

  private async take(bytes: number): Promise<void> {
    this.freedAt = this.now();
    this.writtenBefore = this.figures.c_write_bytes;
    this.freed = 0;
    for (let more = 1; more > 0 && this.freed < bytes; this.freed += more) more = await this.drop();
  }

  private async drop(): Promise<number> {
    const bytes = await this.segments.dropForRoom();
    if (bytes > 0) this.figures.c_full_drop++;
    return bytes;
  }
}

/** Whether a write failed because the device, or the quota of its user, has no room. */
export function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
