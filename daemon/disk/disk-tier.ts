// Disk behind the memory of a cache: keeps complete objects, gives them back after memory has lost them, and has every
// invalidation on disk. Of several threads one has it, and shared-tier.ts is between it and all of them.
//
// A body is read whole before a client sees a byte, so that a damaged one is a miss and not a cut, unless it is large: that one
// is sent from its first block on, as the body of a fetch. Caution: when the journal
// cannot be written, its files are removed, and with them all that is on disk: what was purged must not come back with the next
// start. If it was for want of room, the tier begins anew, empty, as soon as there is some.

import type { Cache } from '../cache/cache.ts';
import type { LookupQuery } from '../cache/lookup-query.ts';
import type { Oc } from '../cache/objcore.ts';
import type { NewObject, ObjectTier, TierLookups, TierOutcome } from '../cache/object-tier.ts';
import type { SoftPurge } from '../cache/soft-purge.ts';
import type { TierBody, TierEvents } from '../cache/tier-events.ts';
import { checkObjects, type DiskReport } from './disk-check.ts';
import type { DiskFiles } from './disk-files.ts';
import { removeJournals } from './disk-journal.ts';
import { readNote, writeNote } from './disk-note.ts';
import { type DiskSync, sizes } from './disk-options.ts';
import type { DiskHit } from './disk-reader.ts';
import type { DiskMeta } from './disk-record.ts';
import { type DiskReportParts, DiskReports } from './disk-reports.ts';
import { DiskStore } from './disk-store.ts';
import { isFull } from './full-device.ts';
import { KeptMarkers } from './kept-markers.ts';

const MEGABYTE = 1 << 20;
/** Bodies up to this size are copied to be written, and read whole before they are sent (chosen). */
const MOST_WHOLE = 8 * MEGABYTE;
/** Bytes that may wait to be written, and to be read. */
const MOST_WAITING = 64 * MEGABYTE;
/** Seconds. */
const DEADLINE = 1;
/** Seconds that a block of a body is waited for whose first is sent (chosen): half of between_bytes_timeout's default. */
const NEXT_BLOCK = 30;
/** Seconds that an answer waits for the journal (chosen): a device that takes longer may never answer. */
const SYNC_WAIT = 5;
/** Seconds from one attempt to begin anew to the next (chosen). */
const NEXT_ATTEMPT = 60;
const UNWRITTEN = 'write objects, they are in memory only';
const UNREAD = 'read objects, they are fetched again';

/** Changes of objects by other threads that this thread has not applied yet. */
export interface Underway {
  /** Whether it knows all invalidations. */
  isNone(): boolean;
  /** Resolves when it knows all that has happened until now. */
  received(): Promise<void>;
}

export interface DiskTierParts extends DiskReportParts {
  readonly cache: Cache;
  readonly sync: () => DiskSync;
  /** Name of the storage. */
  readonly name: string;
  readonly seed: () => readonly [number, number];
  /** Absent with one thread. */
  readonly underway?: Underway;
  /** Why the files are not to be touched: without their lock another process may write them. */
  readonly fault?: Error;
}

export class DiskTier implements TierEvents, TierLookups {
  /** Null when the directory could not be opened. */
  store: DiskStore | null = null;
  private readonly files: DiskFiles;
  private readonly objects: ObjectTier;
  private readonly parts: DiskTierParts;
  private readonly reports: DiskReports;
  /** Whether the newest invalidation will survive. */
  private newestSettled: Promise<boolean> = Promise.resolve(true);
  private isOpen = false;
  private isClosed = false;
  /** Why there is no store. */
  private failure = new Error('it is closed');
  private forgetting: Promise<boolean> | null = null;
  private readonly markers = new KeptMarkers();
  /** Journals that were begun in place of one that found no room. */
  private journals = 0;
  private isReturning = false;
  private nextAttempt: NodeJS.Timeout | null = null;
  private readingBytes = 0;
  /** The last failure of a read that was seen. */
  private readError: Error | null = null;

  private constructor(files: DiskFiles, parts: DiskTierParts) {
    this.files = files;
    this.parts = parts;
    this.objects = parts.cache.tier;
    this.reports = new DiskReports(parts);
  }

  /** Takes over a directory, which exists. One that cannot be opened is off, and memory serves alone; never fails. */
  static async over(files: DiskFiles, size: number, parts: DiskTierParts): Promise<DiskTier> {
    const tier = new DiskTier(files, parts);
    const { now, sync, seed } = parts;
    try {
      if (parts.fault !== undefined) throw parts.fault;
      tier.store = await DiskStore.open(
        files,
        { ...sizes(size), waitingBytes: MOST_WAITING, deadline: DEADLINE, now, sync, seed },
        parts.figures,
      );
      tier.isOpen = true;
      tier.reports.started(tier.store.objects);
    } catch (error) {
      // Its objects may be whole: they are given up with the first invalidation that they would miss.
      tier.failure = error as Error;
      parts.report(`The disk tier cannot be opened, memory serves alone: ${tier.failure.message}`);
    }
    if (parts.underway === undefined) parts.cache.tier.connect(tier);
    return tier;
  }

  get name(): string {
    return this.parts.name;
  }

  get newest(): number {
    return this.store?.newest ?? 0;
  }

  completed(oc: Oc): void {
    const object = this.objects.newObject(oc);
    if (object !== null) this.keep(oc, object);
  }

  /** Stores a complete object. @param oc 0 when it is not to be stored, and only hides older ones */
  keep(oc: Oc, object: NewObject): void {
    const { objects, store } = this;
    if (store === null) return;
    const { key } = object;
    const isMarker = oc !== 0 && objects.isMarker(oc);
    if (isMarker && this.markers.has(key, this.parts.now())) return;
    this.markers.forget(key);
    const record = this.isOpen && oc !== 0 ? objects.record(oc, object, MOST_WHOLE) : null;
    if (record !== null) {
      if (isMarker) {
        // It hides all variants, also one that was stored with another Vary.
        store.forgetKey(key);
        this.markers.add(key, this.parts.now(), record.end);
      }
      void store.put(record).then((answer) => {
        if (answer !== 'stored') this.markers.forget(key);
        if (answer === 'failed') this.reports.failure(UNWRITTEN, store.writeError);
        this.reports.room();
      });
      return;
    }
    // An older copy would outlive it.
    store.forgetKey(object.key);
  }

  /** @param at seconds since 1970 */
  invalidated(
    kind: 'key' | 'tag' | 'ban',
    text: string,
    soft: SoftPurge | null = null,
    at = this.parts.now(),
  ): void {
    if (kind === 'key') this.markers.forget(text);
    if (this.isClosed) {
      this.newestSettled = Promise.resolve(false);
      return;
    }
    if (this.store === null) {
      this.newestSettled = this.forgetAll(this.failure);
      return;
    }
    this.newestSettled = this.written(
      this.store.invalidate(
        soft === null || kind === 'ban'
          ? { kind, text, at, ttl: -1, grace: -1, keep: -1 }
          : { ...soft, kind: `soft-${kind}`, text, at },
      ),
    ).finally(() => this.reports.room());
  }

  /** Resolves when the invalidations so far would survive a loss of power: false when that is not so, or not within SYNC_WAIT. */
  settled(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), SYNC_WAIT * 1000);
      void this.newestSettled.then((isSettled) => {
        clearTimeout(timer);
        resolve(isSettled);
      });
    });
  }

  /** Whether it is worth asking for an object of this key. */
  mayHave(key: string): boolean {
    if (!this.isOpen || this.store === null) return false;
    const isThere = this.store.mayHave(key);
    this.reports.lookedFor(isThere, this.store.objects);
    return isThere;
  }

  /**
   * Fills a busy object with the one on disk; false, and the object is as it was, when there is none for this request. Never
   * fails.
   * @param isWanted whether the request still waits: the query is valid only as long
   * @param outcome gets "found", or why it is not used
   */
  async load(
    q: LookupQuery,
    busy: Oc,
    isWanted: () => boolean,
    outcome: TierOutcome = { text: '' },
  ): Promise<boolean> {
    const { figures } = this.parts;
    let hit: DiskHit | null = null;
    let isFilled = false;
    let rest: Promise<void> | null = null;
    try {
      const accepts = (meta: DiskMeta): boolean => isWanted() && this.objects.isVariant(meta, q);
      hit = (await this.store?.find(q.key, this.parts.now(), accepts, outcome)) ?? null;
      const record = hit !== null && isWanted() ? this.recordOf(hit, q) : null;
      if (hit !== null && isWanted() && record === null) outcome.text = 'invalidated';
      else if (hit !== null && record !== null) {
        // Unless a read fails.
        outcome.text = 'no room in memory';
        const current = this.whileCurrent(hit, record, q, isWanted, outcome);
        if (hit.meta.bodyLength <= MOST_WHOLE) isFilled = await this.fill(hit, busy, current);
        else if (!this.parts.cache.storages.couldHold(this.name, hit.meta.bodyLength)) {
          // Memory is smaller than when it was stored.
          outcome.text = 'larger than memory';
        } else {
          isFilled = await this.begin(hit, busy, current);
          if (isFilled) rest = this.stream(hit, busy);
        }
      }
      if (isFilled) outcome.text = 'found';
      return isFilled;
    } catch (error) {
      this.parts.report(`An object on disk could not be used: ${(error as Error).message}`);
      return false;
    } finally {
      const { readError = null } = this.store ?? {};
      if (readError !== this.readError) this.reports.failure(UNREAD, readError);
      this.readError = readError;
      if (isFilled) figures.c_promote++;
      else if (hit !== null) figures.c_promote_fail++;
      void (rest ?? Promise.resolve()).then(() => hit?.done()).catch(() => undefined);
    }
  }

  /** The record of a hit, which is valid now, as long as it is, and is wanted: a forced miss may have replaced it since. */
  private whileCurrent(
    hit: DiskHit,
    record: DiskMeta,
    q: LookupQuery,
    isWanted: () => boolean,
    outcome: TierOutcome,
  ): () => DiskMeta | null {
    const { meta, entry } = hit;
    const { newest } = this;
    return () => {
      const { store } = this;
      if (!isWanted() || !this.isOpen || store === null) return null;
      const concerns = store.invalidations.concerning(meta.since, meta.key, meta.tags);
      const isThere = (this.parts.underway?.isNone() ?? true) && store.index.has(entry) && concerns !== null;
      const current = isThere
        ? newest === this.newest
          ? record
          : this.recordOf({ meta, concerns }, q)
        : null;
      if (current === null) outcome.text = 'invalidated';
      return current;
    };
  }

  /** The record as invalidations have left it; null when it is not valid any more. */
  private recordOf({ meta, concerns }: Pick<DiskHit, 'meta' | 'concerns'>, q: LookupQuery): DiskMeta | null {
    const now = this.parts.now();
    const bans = concerns.bans.map(({ text }) => text);
    return this.objects.isBanned(meta, bans, q, now) ? null : this.objects.softened(meta, concerns.soft, now);
  }

  private async fill(hit: DiskHit, busy: Oc, current: () => DiskMeta | null): Promise<boolean> {
    const blocks = await this.blocksOf(hit, this.parts.now() + DEADLINE);
    if (blocks === null) return false;
    await this.parts.underway?.received();
    if (!this.objects.fill(busy, current, blocks)) return false;
    this.renew(hit, () => Buffer.concat(blocks));
    return true;
  }

  /** Makes an object visible with the first block of its body. */
  private async begin(hit: DiskHit, busy: Oc, current: () => DiskMeta | null): Promise<boolean> {
    const first = await hit.block(0, DEADLINE);
    if (first === null) return false;
    await this.parts.underway?.received();
    return this.objects.begin(busy, current, hit.meta.bodyLength, first);
  }

  /** Reads the rest of a body that is being sent. */
  private async stream(hit: DiskHit, oc: Oc): Promise<void> {
    const { objects } = this;
    const { meta } = hit;
    objects.ref(oc);
    try {
      for (let number = 1; number < meta.sums.length; number++) {
        const block = await hit.block(number, NEXT_BLOCK);
        if (block === null) throw new Error('a block is damaged or late');
        // The next request fetches it: memory has no room for it now, and may have none then.
        if (!objects.append(oc, block)) throw new Error('no room in memory');
      }
      objects.finish(oc);
      this.renew(hit, () => objects.bodyOf(oc));
    } catch (error) {
      this.store?.index.drop(hit.entry);
      objects.fail(oc);
      this.parts.log(`disk: a body was cut: ${(error as Error).message}`);
    } finally {
      objects.deref(oc);
    }
  }

  /** Writes an object again whose segment is among those that go next. */
  private renew(hit: DiskHit, body: () => Uint8Array | TierBody): void {
    if (this.store?.isAging(hit.entry.segment) !== true) return;
    void this.store.putAgain(hit, body()).then((answer) => {
      if (answer === 'stored') this.parts.figures.c_write_again++;
    });
  }

  /** Reads all objects; null when there is no store. */
  async check(): Promise<DiskReport | null> {
    return this.store === null ? null : checkObjects(this.store, this.parts.figures);
  }

  /** Removes all objects from the disk; false when that may not survive. */
  async empty(): Promise<boolean> {
    this.markers.clear();
    if (this.store === null) return this.forgetAll(this.failure);
    return this.written(this.store.empty());
  }

  /** A text that was kept beside the objects; null when it is lost, and "" when nothing is on disk that it could be about. */
  async note(): Promise<string | null> {
    return this.store?.start === 'whole' ? readNote(this.files) : '';
  }

  /** Keeps a text beside the objects, once all invalidations so far would survive a loss of power. */
  async keepNote(text: string): Promise<void> {
    if ((await this.settled()) && this.isOpen) await writeNote(this.files, text);
  }

  /** For storage.<name>.*; bytes. */
  space(): { freeSpace: number; usedSpace: number; happy: boolean } {
    this.sample();
    const { g_space, g_bytes } = this.parts.figures;
    return { freeSpace: g_space, usedSpace: g_bytes, happy: this.isOpen };
  }

  /** Brings the gauges up to date. */
  sample(): void {
    this.store?.sample(this.parts.now());
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    this.isOpen = false;
    this.isClosed = true;
    if (this.nextAttempt !== null) clearTimeout(this.nextAttempt);
    await this.store?.close();
  }

  /** All blocks of a body; null when one is damaged or late. */
  private async blocksOf(hit: DiskHit, until: number): Promise<Buffer[] | null> {
    const { meta } = hit;
    if (this.readingBytes + meta.bodyLength > MOST_WAITING) return null;
    this.readingBytes += meta.bodyLength;
    try {
      const blocks: Buffer[] = [];
      for (let number = 0; number < meta.sums.length; number++) {
        const block = this.parts.now() > until ? null : await hit.block(number, DEADLINE);
        if (block === null) return null;
        blocks.push(block);
      }
      return blocks;
    } finally {
      this.readingBytes -= meta.bodyLength;
    }
  }

  /** Whether what this writes into the journal will survive. */
  private written(write: Promise<void>): Promise<boolean> {
    const { journals } = this;
    // An invalidation that is missing in a journal given up since is about objects that are gone with it.
    return write.then(
      () => true,
      (error: Error) => journals !== this.journals || this.forgetAll(error),
    );
  }

  /** Nobody knows which invalidations the next start would find: it must find no objects. True when it will not. */
  private forgetAll(error: Error): Promise<boolean> {
    this.isOpen = false;
    this.forgetting ??= this.removeJournal(error);
    return this.forgetting;
  }

  private async removeJournal(error: Error): Promise<boolean> {
    const { files } = this;
    const { report } = this.parts;
    const mayReturn = this.store !== null && isFull(error);
    try {
      await removeJournals(files);
      if (mayReturn) this.tryLater();
      // Not with each attempt.
      if (!mayReturn || !this.isReturning)
        report(
          `The disk tier is off, and begins empty ${mayReturn ? 'once there is room' : 'with the next worker'}: ${error.message}`,
        );
      return true;
    } catch (second) {
      report(
        `The disk tier is off: ${error.message}. Remove its files before the next start, or what is purged now may come back: ${(second as Error).message}`,
      );
      return false;
    }
  }

  private tryLater(): void {
    this.nextAttempt = setTimeout(() => void this.beginAgain(), NEXT_ATTEMPT * 1000);
    this.nextAttempt.unref();
  }

  private async beginAgain(): Promise<void> {
    const { store } = this;
    if (this.isClosed || store === null) return;
    this.isReturning = true;
    let isReplaced = false;
    try {
      await store.beginAgain(() => {
        this.journals++;
        this.markers.clear();
        this.forgetting = null;
        isReplaced = true;
      });
    } catch (error) {
      if (isReplaced) await this.forgetAll(error as Error);
      else this.tryLater();
      return;
    } finally {
      this.isReturning = false;
    }
    if (this.isClosed || this.forgetting !== null) return;
    this.isOpen = true;
    this.parts.report('The disk tier has room for its journal and is on again, empty');
  }
}
