// Objects on disk: stored as a tier behind memory, found by key, and matched with every invalidation since their fetch began.
//
// Runs on the event loop of the first thread, so work as long as a segment takes many turns; a hit in memory never calls it. A
// failure is a miss and a counter, never an answer. Caution: a record is written only when the journal holds all that the
// record's `since` counts, so a journal that knows less than a record is one that has lost something, and the tier then begins
// empty.

import type { TierOutcome } from '../cache/object-tier.ts';
import type { TierBody } from '../cache/tier-events.ts';
import { turns } from '../turns/turns.ts';
import type { DiskFiles } from './disk-files.ts';
import { DiskIndex, type IndexEntry, type IndexMemory } from './disk-index.ts';
import { DiskJournal, type FoundJournal, findJournal, removeJournals } from './disk-journal.ts';
import { type DiskFigures, type DiskOptions, noFigures } from './disk-options.ts';
import { type DiskHit, DiskReader } from './disk-reader.ts';
import { type DiskMeta, type DiskObject, RECORD_UNIT, recordLength } from './disk-record.ts';
import type { DiskSegment } from './disk-segment.ts';
import { DiskSegments } from './disk-segments.ts';
import { FullDevice, isFull } from './full-device.ts';
import { type Invalidation, Invalidations } from './invalidations.ts';

export type PutAnswer = 'stored' | 'dropped' | 'invalidated' | 'replaced' | 'failed';

/** A put that waits for those before it; void once something newer of its key could not be stored. */
interface WaitingPut {
  isVoid: boolean;
}

/** The index as other threads look up keys in it. */
export interface IndexView {
  readonly most: number;
  readonly memory: IndexMemory;
  readonly origin: string;
}

/** How a directory was found. Of the last two it is not known what was invalidated since they were copied. */
export type DiskStart =
  | 'new'
  | 'whole'
  | 'damaged journal'
  | 'journal behind'
  | 'copied while in use'
  | 'an old copy';

/** Seconds since a stop within which a copy is used (chosen): time to copy a large disk, and less than the age of most backups. */
const RECENT = 86_400;

export class DiskStore {
  readonly figures: DiskFigures;
  start: DiskStart = 'new';
  /** The objects are from a copy of a directory. */
  isCopy = false;
  private readonly files: DiskFiles;
  private readonly options: DiskOptions;
  readonly index: DiskIndex;
  invalidations: Invalidations;
  private readonly reader: DiskReader;
  private journal: DiskJournal | null = null;
  private readonly log: DiskSegments;
  private readonly room: FullDevice;
  /** Why the last write failed. */
  writeError: Error | null = null;
  /** By key: puts whose records are not written yet. */
  private readonly waiting = new Map<string, Set<WaitingPut>>();
  /** The last write in the queue. */
  private line: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  private constructor(files: DiskFiles, options: DiskOptions, figures: DiskFigures) {
    this.files = files;
    this.options = options;
    this.figures = figures;
    this.index = new DiskIndex(options.objects);
    this.log = new DiskSegments(files, options, figures, this.index);
    this.room = new FullDevice(this.log, figures, options.now);
    this.invalidations = new Invalidations(options.invalidations);
    this.reader = new DiskReader(this, figures, options);
  }

  /** Takes the directory over; fails when it cannot be read or written. */
  static async open(files: DiskFiles, options: DiskOptions, figures = noFigures()): Promise<DiskStore> {
    const store = new DiskStore(files, options, figures);
    await store.recover();
    return store;
  }

  /** By number, oldest first. */
  get segments(): ReadonlyMap<number, DiskSegment> {
    return this.log.all;
  }

  /** Segments that another version of the layout has written, removed at the start. */
  get ofOtherVersion(): number {
    return this.log.ofOtherVersion;
  }

  /** Whether a segment is among the older half of a disk that is full. */
  isAging(segment: number): boolean {
    return this.log.isAging(segment);
  }

  /** Why the last read failed. */
  get readError(): Error | null {
    return this.reader.error;
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
    this.log.hasher.hash(key);
    return this.index.hasKey(this.log.hasher.lo, this.log.hasher.hi);
  }

  /** For other threads, which look for keys in the same index. */
  get view(): IndexView {
    return { most: this.options.objects, memory: this.index.memory, origin: this.log.origin };
  }

  /** No object of this key that was stored so far, or waits for it, is found any more, until the next start. */
  forgetKey(key: string): void {
    this.log.hasher.hash(key);
    for (const entry of this.index.find(this.log.hasher.lo, this.log.hasher.hi)) this.index.drop(entry);
    for (const put of this.waiting.get(key) ?? []) put.isVoid = true;
  }

  /** Queues an object to be written, and releases its body in any case. An older one of its variant is not found meanwhile. */
  put(object: DiskObject): Promise<PutAnswer> {
    this.hide(object);
    if (this.isFull(object)) {
      this.forgetKey(object.key);
      this.figures.c_write_drop++;
      return this.refused(object);
    }
    return this.inTurn(object, null);
  }

  /** Stores an object that was found again, since its segment is among those that go next; not once it was replaced.
   * @param body the caller's to keep, until the record is written */
  putAgain(hit: DiskHit, body: Uint8Array | TierBody): Promise<PutAnswer> {
    const { facts, head, annex } = hit.meta;
    // The record waits longer than the hit, whose bytes are lent.
    const own = { facts: Buffer.from(facts), head: Buffer.from(head), annex: Buffer.from(annex) };
    const object = { ...hit.meta, ...own, body };
    return this.isFull(object) ? this.refused(object) : this.inTurn(object, hit.entry);
  }

  /** One body that stays in memory until it is written may be as large as it is. */
  private isFull({ body, head }: DiskObject): boolean {
    const { g_waiting } = this.figures;
    if (!(body instanceof Uint8Array) && g_waiting === 0) return false;
    return g_waiting + body.length + head.length > this.options.waitingBytes;
  }

  private refused({ body }: DiskObject): Promise<PutAnswer> {
    release(body);
    return Promise.resolve('dropped');
  }

  private inTurn(object: DiskObject, again: IndexEntry | null): Promise<PutAnswer> {
    const { figures, waiting } = this;
    const bytes = object.body.length + object.head.length;
    const put: WaitingPut = { isVoid: false };
    const ofKey = waiting.get(object.key) ?? new Set();
    waiting.set(object.key, ofKey.add(put));
    figures.g_waiting += bytes;
    const isCurrent = (): boolean => !put.isVoid && (again === null || this.index.has(again));
    const answer = this.line
      .then(() => this.write(object, isCurrent))
      .catch((error: Error): PutAnswer => {
        if (again === null) this.hide(object);
        figures.c_write_fail++;
        this.writeError = error;
        return 'failed';
      })
      .finally(() => {
        release(object.body);
        figures.g_waiting -= bytes;
        ofKey.delete(put);
        if (ofKey.size === 0 && waiting.get(object.key) === ofKey) waiting.delete(object.key);
      });
    this.line = answer;
    return answer;
  }

  /** As DiskReader.find(). */
  find(
    key: string,
    now: number,
    accepts: (meta: DiskMeta) => boolean,
    outcome?: TierOutcome,
  ): Promise<DiskHit | null> {
    this.log.hasher.hash(key);
    return this.reader.find(this.log.hasher.lo, this.log.hasher.hi, key, now, accepts, outcome);
  }

  /** Removes all objects, and those whose fetch has begun are not stored; resolves when that would survive a loss of power. */
  async empty(): Promise<void> {
    await this.invalidate({ kind: 'all', text: '', at: 0, ttl: -1, grace: -1, keep: -1 });
    const turn = this.line.then(() => this.log.dropAll());
    this.line = turn.catch(() => undefined);
    await turn;
  }

  /**
   * Begins anew, empty, with another journal in place of one that has failed and was removed. No record that was written before
   * knows the invalidation that failed, so that none is found again, also if its file outlives a loss of power.
   * @param replaced called when invalidations go to the new journal, which may yet fail
   */
  async beginAgain(replaced: () => void): Promise<void> {
    const turn = this.line.then(() => this.log.dropAll());
    this.line = turn.catch(() => undefined);
    await turn;
    const { files, options, log, invalidations, room } = this;
    const former = this.openJournal();
    await former.close(options.now());
    if (this.isClosed) throw new Error('the disk tier is closed');
    invalidations.forgetOlder();
    const parts = { files, invalidations, origin: log.origin, sync: options.sync, room };
    const { journal, begun } = DiskJournal.beginning(parts, former.nextGeneration);
    this.journal = journal;
    replaced();
    await begun;
  }

  /** Brings the gauges up to date. @param now seconds since 1970 */
  sample(now: number): void {
    const { figures, options, segments } = this;
    let bytes = 0;
    for (const segment of segments.values()) bytes += segment.used;
    const oldest = segments.values().next().value?.made ?? 0;
    figures.g_objects = this.index.live;
    figures.g_bytes = bytes;
    figures.g_space = Math.max(0, options.segments * options.segmentBytes - bytes);
    figures.g_segments = segments.size;
    figures.g_oldest = oldest === 0 ? 0 : Math.max(0, Math.floor(now - oldest));
  }

  /** Writes all that waits, seals the last segment, and closes the files. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.line;
    try {
      await this.log.close();
    } finally {
      await this.openJournal().close(this.options.now());
    }
  }

  private async write(object: DiskObject, isCurrent: () => boolean): Promise<PutAnswer> {
    const { figures } = this;
    const isValid = (): boolean =>
      this.invalidations.concerning(object.since, object.key, object.tags) !== null;
    if (!isCurrent()) return 'replaced';
    if (!isValid()) return 'invalidated';
    await this.openJournal().commit(object.since);
    const bytes = recordLength(object);
    const segment = await this.room.forObjects(bytes, () => this.log.segmentFor(object));
    if (segment === null) {
      this.hide(object);
      figures.c_write_drop++;
      figures.c_write_large++;
      return 'dropped';
    }
    const at = segment.used;
    let length = 0;
    try {
      length = await this.room.forObjects(bytes, () => segment.write(object));
      if (this.options.sync() === 'always') await segment.file.sync();
    } catch (error) {
      await this.log.abandon(segment, error);
      throw error;
    }
    figures.c_write++;
    figures.c_write_bytes += length;
    figures.c_write_object_bytes += object.body.length + object.head.length;
    this.log.hasher.hash(object.key);
    const entry: IndexEntry = {
      low: this.log.hasher.lo,
      high: this.log.hasher.hi,
      variant: object.variant,
      segment: segment.number,
      at: at / RECORD_UNIT,
      end: object.end,
      bytes: length,
    };
    segment.added(entry, object.since, length);
    if (!isCurrent()) return 'replaced';
    this.index.set(entry);
    return isValid() ? 'stored' : 'invalidated';
  }

  /** An older object of the variant is not found any more: the one that replaces it is not on disk. */
  private hide(object: DiskObject): void {
    this.log.hasher.hash(object.key);
    this.index.hideVariant(this.log.hasher.lo, this.log.hasher.hi, object.variant);
  }

  private async recover(): Promise<void> {
    const { files, options, log } = this;
    const found = await findJournal(files);
    this.start = found.isDamaged ? 'damaged journal' : 'new';
    if (found.copy !== null) {
      const { beginning, newest, invalidations } = found.copy;
      this.invalidations = new Invalidations(options.invalidations, beginning.sequence);
      await turns.over(invalidations, (one) => this.invalidations.add(one));
      this.invalidations.newest = Math.max(this.invalidations.newest, newest);
      log.setOrigin(beginning.text);
      this.start = copyFault(found, options.now()) ?? (await this.loadAll());
      this.isCopy = found.isCopied && this.start === 'whole';
    }
    const isWhole = this.start === 'whole';
    if (!isWhole) {
      await log.forgetAll();
      this.invalidations = new Invalidations(options.invalidations);
      log.setOrigin(options.seed().join(' '));
    }
    const generation = found.generation + 1;
    const { room, invalidations } = this;
    const begin = (): Promise<DiskJournal> =>
      DiskJournal.begin({ files, invalidations, origin: log.origin, sync: options.sync, room }, generation);
    try {
      this.journal = await begin();
    } catch (error) {
      if (isWhole || !isFull(error)) throw error;
      // Without a journal no object is used, so that they can go before there is a new one.
      await removeJournals(files);
      await log.removeFiles();
      this.journal = await begin();
    }
    // Only now: with the new origin none of them is read again, whichever of them a loss of power leaves.
    if (!isWhole) await log.removeFiles();
  }

  private async loadAll(): Promise<DiskStart> {
    return (await this.log.loadAll(this.invalidations.newest)) ? 'whole' : 'journal behind';
  }

  private openJournal(): DiskJournal {
    if (this.journal === null) throw new Error('the disk tier is not open');
    return this.journal;
  }
}

/** Why a copy of a directory cannot be used; null if it can, or is none. */
function copyFault({ isCopied, copy }: FoundJournal, now: number): DiskStart | null {
  if (!isCopied || copy === null) return null;
  if (copy.closedAt === null) return 'copied while in use';
  return Math.abs(now - copy.closedAt) > RECENT ? 'an old copy' : null;
}

function release(body: Uint8Array | TierBody): void {
  if (!(body instanceof Uint8Array)) body.release();
}
