// The segments of a disk tier, oldest first: the one that objects are appended to, those that go when the disk or the index is
// full, and loading all of them at the start. An object that is larger than a segment has one for itself, which counts as
// several. Callers take turns: no two calls that write overlap.

import { KeyHash } from '../cache/key-hash.ts';
import { turns } from '../turns/turns.ts';
import type { DiskFiles } from './disk-files.ts';
import type { DiskIndex } from './disk-index.ts';
import type { DiskFigures, DiskOptions } from './disk-options.ts';
import { type DiskObject, RECORD_UNIT, recordLength } from './disk-record.ts';
import { DiskSegment, ownSegment, type SegmentState, sealedBytes } from './disk-segment.ts';
import { isFull } from './full-device.ts';

const SEGMENT_NAME = /^segment-(\d{1,10})$/;
const LAST_SEGMENT = 2 ** 32 - 1;
/** The part of the disk that one object may take (chosen): as many as this fit, and each replaces no more than the oldest of that size. */
const LARGEST = 8;

export class DiskSegments {
  /** By number. */
  readonly all = new Map<number, DiskSegment>();
  /** Segments that another version of the layout has written, removed at the start. */
  ofOtherVersion = 0;
  /** The text that marks the tier's own segments, and seeds the hash of keys. */
  origin = '';
  hasher = new KeyHash(0, 0);
  private readonly files: DiskFiles;
  private readonly options: DiskOptions;
  private readonly figures: DiskFigures;
  private readonly index: DiskIndex;
  private current: DiskSegment | null = null;
  private lastNumber = 0;
  /** Segments that large ones count as, beyond themselves. */
  private beyond = 0;

  constructor(files: DiskFiles, options: DiskOptions, figures: DiskFigures, index: DiskIndex) {
    this.files = files;
    this.options = options;
    this.figures = figures;
    this.index = index;
  }

  setOrigin(origin: string): void {
    this.origin = origin;
    this.hasher = hasherOf(origin);
  }

  /** Whether a segment is among the older half of a disk that is full, or was: then it is smaller than it should be. */
  isAging(segment: number): boolean {
    const { size } = this.all;
    const isFull = size + this.beyond + 1 >= this.options.segments || this.figures.c_full_drop > 0;
    return isFull && this.lastNumber - segment >= size / 2;
  }

  /** The segment to append an object to; null when it is too large for any. */
  async segmentFor(object: DiskObject): Promise<DiskSegment | null> {
    const { segmentBytes, segments } = this.options;
    const length = recordLength(object);
    const need = unitsOf(ownSegment(length), segmentBytes);
    if (need > Math.max(1, segments / LARGEST)) return null;
    const { current } = this;
    if (current !== null) {
      if (sealedBytes(current.used + length, current.entries.length + 1) <= segmentBytes) {
        if (!this.index.isFull) return current;
      }
      await this.sealCurrent();
    }
    while (this.all.size + this.beyond + need > segments || (this.index.isFull && this.all.size > 0)) {
      await this.dropOldest();
    }
    if (this.lastNumber >= LAST_SEGMENT) return null;
    const number = ++this.lastNumber;
    const segment = new DiskSegment(number, await this.files.create(nameOf(number)));
    this.add(segment, need);
    this.current = segment;
    try {
      await segment.writeHead(this.origin, this.options.now());
    } catch (error) {
      this.current = null;
      await this.forget(segment);
      throw error;
    }
    return segment;
  }

  private async sealCurrent(): Promise<void> {
    const { current } = this;
    if (current === null) return;
    try {
      await current.seal();
      await this.files.syncNames();
    } catch (error) {
      // Its records are whole, and are compared at the next start.
      if (!isFull(error)) throw error;
      current.entries = [];
    } finally {
      this.current = null;
    }
  }

  private dropOldest(): Promise<void> {
    return this.drop(this.all.values().next().value as DiskSegment);
  }

  /** Removes the oldest segment that nothing is appended to; its bytes, 0 when there is none. */
  async dropForRoom(): Promise<number> {
    for (const segment of this.all.values()) {
      if (segment === this.current) continue;
      await this.drop(segment);
      return segment.used;
    }
    return 0;
  }

  private add(segment: DiskSegment, units: number): void {
    this.all.set(segment.number, segment);
    segment.units = units;
    this.beyond += units - 1;
  }

  private take({ number, units }: DiskSegment): void {
    if (this.all.delete(number)) this.beyond -= units - 1;
  }

  private async drop(segment: DiskSegment): Promise<void> {
    const { number } = segment;
    this.take(segment);
    await this.index.dropSegment(number);
    this.figures.c_segment_drop++;
    await this.files.remove(nameOf(number));
    await segment.leave();
  }

  /** After a failed write nothing is appended to a segment: a part of a record may be there, and what follows it is not to be
   * taken for one. Its contents are unknown unless the device was full. */
  async abandon(segment: DiskSegment, error: unknown): Promise<void> {
    if (!segment.isEmpty && isFull(error)) await this.sealCurrent();
    this.current = null;
    if (segment.isEmpty) await this.forget(segment);
  }

  async dropAll(): Promise<void> {
    this.current = null;
    while (this.all.size > 0) await this.dropOldest();
  }

  /** Seals the last segment and closes the files. */
  async close(): Promise<void> {
    await this.sealCurrent();
    for (const segment of this.all.values()) await segment.leave();
  }

  /** Loads all segments; false when one has seen an invalidation that the journal has not.
   * @param newest number of the newest invalidation in the journal */
  async loadAll(newest: number): Promise<boolean> {
    for (const number of await this.numbersOnDisk()) {
      this.lastNumber = number;
      const segment = new DiskSegment(number, await this.files.open(nameOf(number)));
      const state = await this.load(segment);
      this.add(segment, unitsOf(segment.used, this.options.segmentBytes));
      if (segment.newest > newest) return false;
      if (state === 'foreign' || state === 'other version' || segment.entries.length === 0) {
        this.figures.c_segment_drop++;
        await this.forget(segment);
        continue;
      }
      const entries = segment.entries;
      if (state === 'open') await this.sealFound(segment);
      segment.entries = [];
      for (const entry of entries) {
        // Without room the oldest go, never the newest: an older version would be found in its place.
        while (!this.index.set(entry) && this.all.has(number)) await this.dropOldest();
        if (!this.all.has(number)) break;
        if (!turns.mayContinue()) await turns.next();
      }
    }
    while (this.all.size + this.beyond > this.options.segments) await this.dropOldest();
    return true;
  }

  /** On a full device it stays without a seal, and is compared again at the next start. */
  private async sealFound(segment: DiskSegment): Promise<void> {
    try {
      await segment.seal();
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  /** One that cannot be read is as good as another tier's. */
  private async load(segment: DiskSegment): Promise<SegmentState> {
    try {
      const state = await segment.load(this.origin);
      if (state === 'other version') this.ofOtherVersion++;
      if (state === 'open') await this.scan(segment);
      return state;
    } catch {
      this.figures.c_read_fail++;
      return 'foreign';
    }
  }

  private async scan(segment: DiskSegment): Promise<void> {
    for await (const { at, meta } of segment.scan()) {
      this.hasher.hash(meta.key);
      const { lo, hi } = this.hasher;
      const place = { segment: segment.number, at: at / RECORD_UNIT };
      const entry = { low: lo, high: hi, variant: meta.variant, ...place, end: meta.end, bytes: meta.length };
      segment.added(entry, meta.since, meta.length);
    }
  }

  private async forget(segment: DiskSegment): Promise<void> {
    this.take(segment);
    await this.files.remove(nameOf(segment.number));
    await segment.leave();
  }

  /** Forgets all segments, and keeps their files. */
  async forgetAll(): Promise<void> {
    for (const [number, segment] of this.all) {
      await this.index.dropSegment(number);
      await segment.leave();
    }
    this.all.clear();
    this.beyond = 0;
  }

  /** Removes the files of all segments, whether they are known or not. */
  async removeFiles(): Promise<void> {
    for (const number of await this.numbersOnDisk()) {
      this.lastNumber = Math.max(this.lastNumber, number);
      await this.files.remove(nameOf(number));
    }
  }

  private async numbersOnDisk(): Promise<number[]> {
    const names = (await this.files.names()).filter((name) => SEGMENT_NAME.test(name));
    return names.map((name) => Number(SEGMENT_NAME.exec(name)?.[1])).sort((a, b) => a - b);
  }
}

/** Segments that one with records up to this byte counts as. */
function unitsOf(used: number, segmentBytes: number): number {
  return used === Number.POSITIVE_INFINITY ? used : Math.max(1, Math.ceil(used / segmentBytes));
}

/** The hash of keys in a directory. */
export function hasherOf(origin: string): KeyHash {
  const [first = 0, second = 0] = origin.split(' ').map(Number);
  return new KeyHash(first, second);
}

function nameOf(number: number): string {
  return `segment-${number}`;
}
