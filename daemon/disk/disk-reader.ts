// Finds objects on disk: records and blocks are read where the index says, compared with their checksums, and held against
// every newer invalidation. Whatever goes wrong, or comes too late, is a miss and a figure.

import type { TierOutcome } from '../cache/object-tier.ts';
import type { DiskIndex, IndexEntry } from './disk-index.ts';
import type { DiskFigures, DiskOptions } from './disk-options.ts';
import { type DiskMeta, RECORD_UNIT } from './disk-record.ts';
import { type DiskSegment, firstBytes } from './disk-segment.ts';
import type { Concerns, Invalidations } from './invalidations.ts';
import { ReadBuffers } from './read-buffers.ts';

const DAMAGED = 'a checksum is wrong';

/** An object found; done() is called once, when its reader has all it wants. Caution: the bytes of `meta` and of the blocks are
 * lent until then, and others' after it. */
export interface DiskHit {
  readonly meta: DiskMeta;
  /** Invalidations that the caller still has to apply. */
  readonly concerns: NonNullable<Concerns>;
  readonly entry: IndexEntry;
  /** A block of the body; null when it is damaged, cannot be read, or takes longer than these seconds. A damaged object is not found
   * any more. */
  block(number: number, seconds?: number): Promise<Buffer | null>;
  done(): Promise<void>;
}

/** The parts of a store that a find needs; the invalidations are others once the store was found damaged. */
export interface DiskSource {
  readonly index: DiskIndex;
  readonly segments: ReadonlyMap<number, DiskSegment>;
  readonly invalidations: Invalidations;
}

export class DiskReader {
  private readonly source: DiskSource;
  private readonly figures: DiskFigures;
  private readonly options: Pick<DiskOptions, 'reads' | 'deadline'>;
  private readonly buffers = new ReadBuffers();
  /** Why the last read failed. */
  error: Error | null = null;
  private reading = 0;

  constructor(source: DiskSource, figures: DiskFigures, options: Pick<DiskOptions, 'reads' | 'deadline'>) {
    this.source = source;
    this.figures = figures;
    this.options = options;
  }

  /**
   * The newest object of a key that nothing newer has invalidated and `accepts` takes.
   * @param low half of the key's hash, as `high`
   * @param now seconds since 1970: what has ended is not found
   * @param accepts whether it is the variant asked for
   * @param outcome set to the reason when nothing is found
   */
  async find(
    low: number,
    high: number,
    key: string,
    now: number,
    accepts: (meta: DiskMeta) => boolean,
    outcome: TierOutcome = { text: '' },
  ): Promise<DiskHit | null> {
    const { figures } = this;
    outcome.text = 'not found';
    const isBusy = this.reading >= this.options.reads;
    if (isBusy) {
      figures.c_busy++;
      outcome.text = 'too many reads at once';
    }
    const hit = isBusy
      ? null
      : await this.within(
          this.search(this.source.index.find(low, high), key, now, accepts, outcome),
          (late) => void late?.done(),
          outcome,
        );
    if (hit === null) figures.c_miss++;
    else figures.c_hit++;
    return hit;
  }

  private async search(
    entries: readonly IndexEntry[],
    key: string,
    now: number,
    accepts: (meta: DiskMeta) => boolean,
    outcome: TierOutcome,
  ): Promise<DiskHit | null> {
    for (const entry of entries) {
      if (entry.end <= now) continue;
      const hit = await this.read(entry, key, now, accepts, outcome);
      if (hit !== null) return hit;
    }
    return null;
  }

  /** The result of a read, which never fails; null when the deadline comes first. `late` gets what comes after it. */
  private within<T>(
    read: Promise<T | null>,
    late: (result: T | null) => void,
    outcome: TierOutcome,
    seconds = this.options.deadline,
  ): Promise<T | null> {
    this.reading++;
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        this.figures.c_late++;
        outcome.text = 'a read took too long';
        resolve(null);
      }, seconds * 1000);
      void read.then((result) => {
        this.reading--;
        clearTimeout(timer);
        if (isLate) late(result);
        else resolve(result);
      });
    });
  }

  private async read(
    entry: IndexEntry,
    key: string,
    now: number,
    accepts: (meta: DiskMeta) => boolean,
    outcome: TierOutcome,
  ): Promise<DiskHit | null> {
    const segment = this.source.segments.get(entry.segment);
    if (segment === undefined) return null;
    const at = entry.at * RECORD_UNIT;
    segment.begin();
    const buffer = this.buffers.lend(firstBytes(entry.bytes));
    const done = (): Promise<void> => {
      this.buffers.give(buffer);
      return segment.done();
    };
    let isTaken = false;
    try {
      const first = await segment.firstAt(at, entry.bytes, buffer);
      const meta = await segment.metaAt(at, first);
      if (meta === null) {
        this.figures.c_checksum++;
        outcome.text = DAMAGED;
        this.source.index.drop(entry);
        return null;
      }
      if (meta.key !== key) {
        this.figures.c_collision++;
        return null;
      }
      if (meta.end <= now) return null;
      // Asked after the read: what came meanwhile counts.
      const concerns = this.source.invalidations.concerning(meta.since, key, meta.tags);
      if (concerns === null) {
        this.figures.c_invalid++;
        outcome.text = 'invalidated';
        this.source.index.drop(entry);
        return null;
      }
      if (!accepts(meta)) {
        outcome.text = 'other variants alone';
        return null;
      }
      isTaken = true;
      const block = (number: number, seconds = this.options.deadline): Promise<Buffer | null> => {
        const bytes = this.readBlock(segment, entry, meta, number, first, outcome);
        return first.length >= meta.length ? bytes : this.within(bytes, () => undefined, outcome, seconds);
      };
      return { meta, concerns, entry, block, done };
    } catch (error) {
      this.failed(error as Error, outcome);
      return null;
    } finally {
      if (!isTaken) await done();
    }
  }

  private async readBlock(
    segment: DiskSegment,
    entry: IndexEntry,
    meta: DiskMeta,
    number: number,
    first: Buffer,
    outcome: TierOutcome,
  ): Promise<Buffer | null> {
    try {
      const bytes = await segment.blockAt(entry.at * RECORD_UNIT, meta, number, first);
      if (bytes !== null) return bytes;
      this.figures.c_checksum++;
      outcome.text = DAMAGED;
    } catch (error) {
      this.failed(error as Error, outcome);
    }
    this.source.index.drop(entry);
    return null;
  }

  private failed(error: Error, outcome: TierOutcome): void {
    this.figures.c_read_fail++;
    outcome.text = 'it cannot be read';
    this.error = error;
  }
}
