// Objects on disk: stored behind memory, found by key, and held against every invalidation since their fetch began.
//
// Meant for a thread of its own: no call of it is on the way of a hit in memory. Whatever goes wrong is a miss and a figure,
// never an answer. Caution: a record is written only when the journal holds all that the record's `since` counts, so a
// journal that knows less than a record is one that has lost something, and the tier then begins empty.

import { KeyHash } from '../cache/key-hash.ts';
import type { DiskFiles } from './disk-files.ts';
import { DiskIndex, type IndexEntry } from './disk-index.ts';
import { DiskJournal, findJournal } from './disk-journal.ts';
import { type DiskFigures, type DiskOptions, noFigures } from './disk-options.ts';
import { type DiskMeta, type DiskObject, encodeRecord, RECORD_UNIT, recordLength } from './disk-record.ts';
import { DiskSegment, fits, type SegmentState, sealedBytes } from './disk-segment.ts';
import { type Concerns, type Invalidation, Invalidations } from './invalidations.ts';

export type PutAnswer = 'stored' | 'dropped' | 'invalidated' | 'failed';

/** An object found; done() is called once, when its reader has all it wants. */
export interface DiskHit {
  readonly meta: DiskMeta;
  /** What the finder still has to apply. */
  readonly concerns: NonNullable<Concerns>;
  /** A block of the body; null when it is damaged, cannot be read or is late. A damaged object is not found any more. */
  block(number: number): Promise<Buffer | null>;
  done(): Promise<void>;
}

/** How a directory was found. */
export type DiskStart = 'new' | 'whole' | 'damaged journal' | 'journal behind';

const SEGMENT_NAME = /^segment-(\d{1,10})$/;
const LAST_SEGMENT = 2 ** 32 - 1;

export class DiskStore {
  readonly figures: DiskFigures = noFigures();
  start: DiskStart = 'new';
  private readonly files: DiskFiles;
  private readonly options: DiskOptions;
  private readonly index: DiskIndex;
  /** By number, oldest first. */
  private readonly segments = new Map<number, DiskSegment>();
  private invalidations: Invalidations;
  private journal: DiskJournal | null = null;
  private origin = '';
  private hasher = new KeyHash(0, 0);
  private current: DiskSegment | null = null;
  private lastNumber = 0;
  private waitingBytes = 0;
  private reading = 0;
  /** The end of the line of those who write. */
  private line: Promise<unknown> = Promise.resolve();

  private constructor(files: DiskFiles, options: DiskOptions) {
    this.files = files;
    this.options = options;
    this.index = new DiskIndex(options.objects);
    this.invalidations = new Invalidations(options.invalidations);
  }

  /** Takes the directory over; fails when it cannot be read or written. */
  static async open(files: DiskFiles, options: DiskOptions): Promise<DiskStore> {
    const store = new DiskStore(files, options);
    await store.recover();
    return store;
  }

  /** Number of the newest invalidation: what a fetch that begins now carries as `since`. */
  get newest(): number {
    return this.invalidations.newest;
  }

  /** Objects that can be found. */
  get objects(): number {
    return this.index.live;
  }

  /** Invalidates what is on disk, from now on; resolves when that would survive a loss of power, and fails when it would not. */
  async invalidate(one: Omit<Invalidation, 'sequence'>): Promise<void> {
    await this.openJournal().add(one);
  }

  /** Whether there may be an object of this key. */
  mayHave(key: string): boolean {
    this.hasher.hash(key);
    return this.index.find(this.hasher.lo, this.hasher.hi).length > 0;
  }

  /** No object of this key that was stored so far is found any more, until the next start. */
  forgetKey(key: string): void {
    this.hasher.hash(key);
    for (const entry of this.index.find(this.hasher.lo, this.hasher.hi)) this.index.drop(entry);
  }

  /** Stores an object behind those that wait. An older one of its variant is not found meanwhile. */
  put(object: DiskObject): Promise<PutAnswer> {
    this.hide(object);
    const bytes = object.body.length + object.head.length;
    if (this.waitingBytes + bytes > this.options.waitingBytes) {
      this.hide(object);
      this.figures.dropped++;
      return Promise.resolve('dropped');
    }
    this.waitingBytes += bytes;
    const turn = this.line
      .then(() => this.write(object))
      .catch((): PutAnswer => {
        this.hide(object);
        this.figures.writeErrors++;
        return 'failed';
      })
      .finally(() => {
        this.waitingBytes -= bytes;
      });
    this.line = turn;
    return turn;
  }

  /**
   * The newest object of a key that nothing newer has invalidated and `accepts` takes.
   * @param now seconds since 1970: what has ended is not found
   * @param accepts whether it is the variant asked for
   */
  async find(key: string, now: number, accepts: (meta: DiskMeta) => boolean): Promise<DiskHit | null> {
    const { figures } = this;
    const isBusy = this.reading >= this.options.reads;
    if (isBusy) figures.busy++;
    const hit = isBusy
      ? null
      : await this.within(this.search(key, now, accepts), (late) => void late?.done());
    if (hit === null) figures.misses++;
    else figures.hits++;
    return hit;
  }

  /** Writes all that waits, seals the last segment, and closes the files. */
  async close(): Promise<void> {
    await this.line;
    await this.sealCurrent();
    for (const segment of this.segments.values()) await segment.leave();
    await this.openJournal().close();
  }

  private async search(
    key: string,
    now: number,
    accepts: (meta: DiskMeta) => boolean,
  ): Promise<DiskHit | null> {
    this.hasher.hash(key);
    for (const entry of this.index.find(this.hasher.lo, this.hasher.hi)) {
      if (entry.end <= now) continue;
      const hit = await this.read(entry, key, now, accepts);
      if (hit !== null) return hit;
    }
    return null;
  }

  /** The result of a read, which never fails; null when the deadline comes first. `late` gets what comes after it. */
  private within<T>(read: Promise<T | null>, late: (result: T | null) => void): Promise<T | null> {
    this.reading++;
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        this.figures.late++;
        resolve(null);
      }, this.options.deadline * 1000);
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
  ): Promise<DiskHit | null> {
    const segment = this.segments.get(entry.segment);
    if (segment === undefined) return null;
    const at = entry.at * RECORD_UNIT;
    segment.begin();
    let isTaken = false;
    try {
      const first = await segment.firstAt(at);
      const meta = await segment.metaAt(at, first);
      if (meta === null) {
        this.figures.damaged++;
        this.index.drop(entry);
        return null;
      }
      if (meta.key !== key) {
        this.figures.collisions++;
        return null;
      }
      if (meta.end <= now) return null;
      // Asked after the read: what came meanwhile counts.
      const concerns = this.invalidations.concerning(meta.since, key, meta.tags);
      if (concerns === null) {
        this.figures.invalidated++;
        this.index.drop(entry);
        return null;
      }
      if (!accepts(meta)) return null;
      isTaken = true;
      const block = (number: number): Promise<Buffer | null> =>
        this.within(this.readBlock(segment, entry, meta, number, first), () => undefined);
      return { meta, concerns, block, done: () => segment.done() };
    } catch {
      this.figures.readErrors++;
      return null;
    } finally {
      if (!isTaken) await segment.done();
    }
  }

  private async readBlock(
    segment: DiskSegment,
    entry: IndexEntry,
    meta: DiskMeta,
    number: number,
    first: Buffer,
  ): Promise<Buffer | null> {
    try {
      const bytes = await segment.blockAt(entry.at * RECORD_UNIT, meta, number, first);
      if (bytes !== null) return bytes;
      this.figures.damaged++;
    } catch {
      this.figures.readErrors++;
    }
    this.index.drop(entry);
    return null;
  }

  private async write(object: DiskObject): Promise<PutAnswer> {
    const isCurrent = (): boolean =>
      this.invalidations.concerning(object.since, object.key, object.tags) !== null;
    if (!isCurrent()) return 'invalidated';
    await this.openJournal().commit(object.since);
    const segment = await this.segmentFor(object);
    if (segment === null) {
      this.hide(object);
      this.figures.dropped++;
      return 'dropped';
    }
    const record = encodeRecord(object, segment.number);
    const at = segment.used;
    try {
      await segment.file.write(record, at);
    } catch (error) {
      // What is there now is unknown: nothing is appended behind it.
      this.current = null;
      if (segment.entries.length === 0) await this.forget(segment);
      throw error;
    }
    this.figures.written++;
    this.figures.writtenBytes += record.length;
    this.hasher.hash(object.key);
    const entry: IndexEntry = {
      low: this.hasher.lo,
      high: this.hasher.hi,
      variant: object.variant,
      segment: segment.number,
      at: at / RECORD_UNIT,
      end: object.end,
    };
    segment.added(entry, object.since, record.length);
    this.index.set(entry);
    return isCurrent() ? 'stored' : 'invalidated';
  }

  /** An older object of the variant is not found any more: the one that replaces it is not on disk. */
  private hide(object: DiskObject): void {
    this.hasher.hash(object.key);
    this.index.hideVariant(this.hasher.lo, this.hasher.hi, object.variant);
  }

  /** The segment to append an object to; null when it is too large for any. */
  private async segmentFor(object: DiskObject): Promise<DiskSegment | null> {
    const { segmentBytes, segments } = this.options;
    const length = recordLength(object);
    if (!fits(length, segmentBytes)) return null;
    const { current } = this;
    if (current !== null) {
      if (sealedBytes(current.used + length, current.entries.length + 1) <= segmentBytes) {
        if (!this.index.isFull) return current;
      }
      await this.sealCurrent();
    }
    while (this.segments.size >= segments || (this.index.isFull && this.segments.size > 0)) {
      await this.dropOldest();
    }
    if (this.lastNumber >= LAST_SEGMENT) return null;
    const number = ++this.lastNumber;
    const segment = new DiskSegment(number, await this.files.create(nameOf(number)));
    this.segments.set(number, segment);
    try {
      await segment.writeHead(this.origin);
    } catch (error) {
      await this.forget(segment);
      throw error;
    }
    this.current = segment;
    return segment;
  }

  private async sealCurrent(): Promise<void> {
    const { current } = this;
    this.current = null;
    if (current === null) return;
    await current.seal();
    await this.files.syncNames();
  }

  private async dropOldest(): Promise<void> {
    const [number, segment] = this.segments.entries().next().value as [number, DiskSegment];
    this.segments.delete(number);
    this.index.dropSegment(number);
    this.figures.segmentsDropped++;
    await this.files.remove(nameOf(number));
    await segment.leave();
  }

  private async recover(): Promise<void> {
    const { files, options } = this;
    const found = await findJournal(files);
    const numbers = await this.numbersOnDisk();
    this.lastNumber = numbers.at(-1) ?? 0;
    this.start = found.isDamaged ? 'damaged journal' : 'new';
    if (found.copy !== null) {
      const { beginning, newest, invalidations } = found.copy;
      this.invalidations = new Invalidations(options.invalidations, beginning.sequence);
      for (const one of invalidations) this.invalidations.add(one);
      this.invalidations.newest = Math.max(this.invalidations.newest, newest);
      this.setOrigin(beginning.text);
      this.start = (await this.loadAll(numbers)) ? 'whole' : 'journal behind';
    }
    const isWhole = this.start === 'whole';
    if (!isWhole) await this.beginEmpty();
    this.journal = await DiskJournal.begin(files, this.invalidations, this.origin, found.generation + 1);
    // Only now: with the new origin none of them is read again, whichever of them a loss of power leaves.
    if (!isWhole) for (const number of await this.numbersOnDisk()) await files.remove(nameOf(number));
  }

  private async numbersOnDisk(): Promise<number[]> {
    const names = (await this.files.names()).filter((name) => SEGMENT_NAME.test(name));
    return names.map((name) => Number(SEGMENT_NAME.exec(name)?.[1])).sort((a, b) => a - b);
  }

  /** Forgets the segments and what is known of invalidations. */
  private async beginEmpty(): Promise<void> {
    for (const [number, segment] of this.segments) {
      this.index.dropSegment(number);
      await segment.leave();
    }
    this.segments.clear();
    this.invalidations = new Invalidations(this.options.invalidations);
    this.setOrigin(this.options.seed().join(' '));
  }

  private setOrigin(origin: string): void {
    this.origin = origin;
    const [first = 0, second = 0] = origin.split(' ').map(Number);
    this.hasher = new KeyHash(first, second);
  }

  /** Loads all segments; false when one has seen an invalidation that the journal has not. */
  private async loadAll(numbers: readonly number[]): Promise<boolean> {
    for (const number of numbers) {
      const segment = new DiskSegment(number, await this.files.open(nameOf(number)));
      this.segments.set(number, segment);
      const state = await this.load(segment);
      if (segment.newest > this.invalidations.newest) return false;
      if (state === 'foreign' || segment.entries.length === 0) {
        this.figures.segmentsDropped++;
        await this.forget(segment);
        continue;
      }
      const entries = segment.entries;
      if (state === 'open') await segment.seal();
      segment.entries = [];
      for (const entry of entries) {
        // Without room the oldest go, never the newest: an older version would be found in its place.
        while (!this.index.set(entry) && this.segments.has(number)) await this.dropOldest();
        if (!this.segments.has(number)) break;
      }
    }
    while (this.segments.size > this.options.segments) await this.dropOldest();
    return true;
  }

  /** One that cannot be read is as good as another tier's. */
  private async load(segment: DiskSegment): Promise<SegmentState> {
    try {
      const state = await segment.load(this.origin);
      if (state === 'open') await this.scan(segment);
      return state;
    } catch {
      this.figures.readErrors++;
      return 'foreign';
    }
  }

  private async scan(segment: DiskSegment): Promise<void> {
    for await (const { at, meta } of segment.scan()) {
      this.hasher.hash(meta.key);
      const { lo, hi } = this.hasher;
      const place = { segment: segment.number, at: at / RECORD_UNIT };
      const entry = { low: lo, high: hi, variant: meta.variant, ...place, end: meta.end };
      segment.added(entry, meta.since, meta.length);
    }
  }

  private async forget(segment: DiskSegment): Promise<void> {
    this.segments.delete(segment.number);
    await this.files.remove(nameOf(segment.number));
    await segment.leave();
  }

  private openJournal(): DiskJournal {
    if (this.journal === null) throw new Error('the disk tier is not open');
    return this.journal;
  }
}

function nameOf(number: number): string {
  return `segment-${number}`;
}
