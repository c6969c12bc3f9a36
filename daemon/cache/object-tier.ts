// Storage behind memory that outlives the process: what the cache reports to it, and objects as records for it.
//
// The cache decides alone what a request gets. The tier keeps complete objects, and is notified of every invalidation, those of
// keys without objects in memory included; what it gives back becomes an object like one that was fetched.

import type { LentBytes } from '../http1/lent-bytes.ts';
import { type BanExpression, banMatches, parseBan, parseBanText } from './ban/ban-expression.ts';
import type { BanSource } from './ban/ban-list.ts';
import type { CacheState } from './cache-state.ts';
import { StoredHead, varyStart } from './head-codec.ts';
import type { LookupQuery } from './lookup-query.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import type { ObjectFilling } from './object-filling.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import { type Lives, type SoftPurge, softened } from './soft-purge.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { TRANSIENT } from './storage/stevedores.ts';
import type { TierBody, TierEvents, TierRecord } from './tier-events.ts';
import { matchesStored, storedBytes } from './vary.ts';

/** The tier as lookups use it. */
export interface TierLookups {
  mayHave(key: string): boolean;
  load(q: LookupQuery, busy: Oc, isWanted: () => boolean, outcome?: TierOutcome): Promise<boolean>;
}

/** The result of a load, as text for the log. */
export interface TierOutcome {
  text: string;
}

/** A complete object that is to be stored. */
export interface NewObject {
  readonly key: string;
  /** As in TierRecord. */
  readonly since: number;
  readonly tags: readonly string[];
}

/** The layout of the facts: doubles, then flags and the id of the fetch. */
const FACTS = 40;
/** Flags that a record keeps. */
const KEPT =
  row.OF_MARKER |
  row.OF_GZIPPED |
  row.OF_UNSTREAMED |
  row.OF_ESI |
  row.OF_PLAIN |
  row.OF_RECODED |
  row.OF_PART |
  row.OF_HAS_VARY;
/** Objects that are not kept: failures and what is not for everybody. */
const NOT_KEPT = row.OF_FOR_WAITERS | row.OF_UNCACHEABLE | row.OF_FAILURE | row.OF_HEAD_ALONE;
const EMPTY = Buffer.alloc(0);
/** Bans that a record may have to be tested against (chosen): with more it is not used. */
const MOST_BANS = 100;
const UNLIMITED = 2 ** 30;
/** Parsed bans that are remembered. */
const MOST_PARSED = 1000;

export class ObjectTier {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly filling: ObjectFilling;
  private readonly life: ObjectLife;
  private readonly storedHead = new StoredHead();
  private readonly parsed = new Map<string, BanExpression | null>();

  constructor(state: CacheState, store: ObjectStore, filling: ObjectFilling, life: ObjectLife) {
    this.life = life;
    this.state = state;
    this.store = store;
    this.filling = filling;
  }

  /** Connects the tier; objects whose fetches began earlier are not kept. */
  connect(tier: TierEvents): void {
    this.state.tier = tier;
  }

  /** Runs `work` while nothing is invalidated or completed. */
  hold<T>(work: () => T): T {
    return this.state.lock.hold(work);
  }

  /** Runs something as soon as this thread does not hold the lock. */
  after(run: () => void): void {
    this.state.lock.after(run);
  }

  /** For TierEvents.completed() only: null of an object of which the tier need not know, which it has stored or whose fetch began
   * before the tier was connected. */
  newObject(oc: Oc): NewObject | null {
    const { transfers, objcores, objheads } = this.state;
    const transfer = transfers.get(oc);
    const oh = objcores.get(oc, row.OBJHEAD);
    if (transfer === undefined || transfer.since < 0 || oh === 0) return null;
    return { key: objheads.keyOf(oh), since: transfer.since, tags: transfer.tags ?? [] };
  }

  /** Whether an object only says that the origin's response must not be shared. */
  isMarker(oc: Oc): boolean {
    return this.state.lock.hold(() => (this.state.objcores.get(oc, row.META) & row.OF_MARKER) !== 0);
  }

  /** Bytes of a complete object's body. */
  bodyBytes(oc: Oc): number {
    return this.state.objcores.getDouble(oc, row.BODY_LENGTH);
  }

  /** A complete object; null when it is not one to keep. The caller holds a reference. Its body is copied up to `most` bytes; a
   * larger one stays where it is until it is released. */
  record(oc: Oc, of: NewObject, most: number): (TierRecord & { readonly body: Buffer | TierBody }) | null {
    const record = this.state.lock.hold(() => this.recordOf(oc, of));
    if (record === null) return null;
    // The body that came with it was for one client.
    if ((flagsOf(record) & row.OF_MARKER) !== 0) return { ...record, body: EMPTY };
    const body = this.bodyBytes(oc) <= most ? this.copyOf(oc) : this.bodyOf(oc);
    return body === null ? null : { ...record, body };
  }

  private recordOf(oc: Oc, { key, since, tags }: NewObject): TierRecord | null {
    const { objcores } = this.state;
    const { store } = this;
    const meta = objcores.get(oc, row.META);
    const ttl = objcores.getDouble(oc, row.TTL);
    if (ttl <= 0) return null;
    if ((meta & NOT_KEPT) !== 0) return null;
    if ((meta & row.OF_MARKER) === 0 && this.state.stevedores.of(oc).name === TRANSIENT) return null;
    const lives = {
      tOrigin: objcores.getDouble(oc, row.T_ORIGIN),
      ttl,
      grace: objcores.getDouble(oc, row.GRACE),
      keep: objcores.getDouble(oc, row.KEEP),
    };
    const facts = Buffer.alloc(FACTS);
    writeLives(facts, lives);
    facts.writeUInt32LE((meta & KEPT) >>> 0, 32);
    facts.writeUInt32LE(objcores.get(oc, row.VXID) >>> 0, 36);
    const chunk = store.headChunk(oc);
    const from = store.headAt(oc);
    const vary = varyStart(chunk, from);
    const varies = (meta & row.OF_HAS_VARY) !== 0;
    const end = varies ? vary + storedBytes(chunk, vary) : vary;
    const head = Buffer.from(chunk.subarray(from, end));
    return {
      key,
      variant: varies ? hashOf(head.subarray(vary - from)) : 0,
      since,
      end: endOf(lives),
      tags,
      facts,
      head,
      annex: Buffer.from(store.annex(oc) ?? EMPTY),
    };
  }

  private copyOf(oc: Oc): Buffer | null {
    const body = Buffer.allocUnsafe(this.bodyBytes(oc));
    return this.store.copyBody(oc, 0, body, 0, body.length) === body.length ? body : null;
  }

  /** Takes a reference to an object. */
  ref(oc: Oc): void {
    this.life.ref(oc);
  }

  /** Gives one back, which another thread may have taken. */
  deref(oc: Oc): void {
    this.life.deref(oc);
  }

  /** Leaves a busy object that was not filled to the thread that fetches it. */
  leave(oc: Oc): void {
    this.state.transfers.delete(oc);
  }

  private held(oc: Oc): { release(): void } {
    this.life.ref(oc);
    return { release: () => this.life.deref(oc) };
  }

  /** The body of a complete object, which is not evicted until it is released. */
  bodyOf(oc: Oc): TierBody {
    const copy = (at: number, into: Uint8Array): boolean =>
      this.store.copyBody(oc, at, into, 0, into.length) === into.length;
    return { length: this.bodyBytes(oc), copy, ...this.held(oc) };
  }

  /** Whether a record is of the variant that a request wants. */
  isVariant(record: TierRecord, q: LookupQuery): boolean {
    if (record.facts.length !== FACTS) return false;
    if ((flagsOf(record) & row.OF_HAS_VARY) === 0 || q.hashIgnoreVary) return true;
    const head = record.head as ChunkBytes;
    const { gzipSupport, normaliseVary } = this.state.limits;
    return matchesStored(head, varyStart(head, 0), q.http, gzipSupport, normaliseVary);
  }

  /** Whether one of these bans, sources as JSON, is true for a record and a request. Also when nobody can say. */
  isBanned(record: TierRecord, bans: readonly string[], q: LookupQuery, now: number): boolean {
    if (bans.length > MOST_BANS) return true;
    const { tOrigin, ttl, grace, keep } = livesIn(record.facts as Buffer);
    const flags = flagsOf(record);
    this.storedHead.pointTo(record.head as ChunkBytes, 0);
    const age = now - tOrigin;
    const subject = {
      http: this.storedHead,
      age,
      unused: age,
      ttl: ttl - age,
      grace,
      keep,
      hitMiss: (flags & row.OF_HIT_MISS) !== 0,
      hitPass: (flags & row.OF_HIT_PASS) !== 0,
    };
    return bans.some((text) => {
      const ban = this.parse(text);
      // The time of the ban is not that of the test: a ban on ages may hold for more than it did.
      return ban === null || ban.usesTime || banMatches(ban, subject, q.http);
    });
  }

  /** A record as soft purges have left it, oldest first; null when it is of no use any more. @param now seconds since 1970 */
  softened<R extends TierRecord>(
    record: R,
    purges: readonly (SoftPurge & { readonly at: number })[],
    now: number,
  ): R | null {
    if (purges.length === 0) return record;
    let lives = livesIn(record.facts as Buffer);
    const end = endOf(lives);
    for (const soft of purges) lives = softened(lives, soft, soft.at);
    // As in memory, it expires no later than before.
    const surplus = Math.max(0, endOf(lives) - end);
    const keep = Math.max(0, lives.keep - surplus);
    const grace = Math.max(0, lives.grace - (surplus - (lives.keep - keep)));
    if (lives.ttl <= 0 || endOf({ ...lives, grace, keep }) <= now) return null;
    const facts = Buffer.from(record.facts);
    writeLives(facts, { ...lives, grace, keep });
    return { ...record, facts };
  }

  /** Fills a busy object with a record and its body, and makes it visible; false, and the object is busy as before, when there
   * is no room. @param current the record as it is by now, or null; called while nothing is invalidated */
  fill(oc: Oc, current: () => TierRecord | null, blocks: readonly Uint8Array[]): boolean {
    return this.state.lock.hold(() => {
      const record = current();
      if (record === null) return false;
      const length = blocks.reduce((sum, block) => sum + block.length, 0);
      if (!this.storeRecord(oc, record, length, blocks)) return false;
      this.filling.finish(oc);
      return true;
    });
  }

  /** As fill(), with the first block of the body alone: the rest comes as that of a fetch, by append(), then finish() or fail().
   * The caller holds a reference until then. */
  begin(oc: Oc, current: () => TierRecord | null, length: number, first: Uint8Array): boolean {
    return this.state.lock.hold(() => {
      const record = current();
      if (record === null) return false;
      if (!this.storeRecord(oc, record, length, [first])) return false;
      // A body that is being sent is not cut for nuke_limit.
      this.store.transferOf(oc).nukesLeft = UNLIMITED;
      this.filling.unbusy(oc);
      return true;
    });
  }

  /** False when there is no room. */
  append(oc: Oc, block: Uint8Array): boolean {
    return this.filling.append(oc, block as LentBytes, 0, block.length);
  }

  finish(oc: Oc): void {
    this.filling.finish(oc);
  }

  fail(oc: Oc): void {
    this.filling.fail(oc);
  }

  /** Stores a record and some of its body in a busy object; false, and it has nothing, when there is no room. */
  private storeRecord(oc: Oc, record: TierRecord, length: number, blocks: readonly Uint8Array[]): boolean {
    const facts = record.facts as Buffer;
    const flags = flagsOf(record);
    if (!this.store.storeHeadBytes(oc, record.head, length, (flags & row.OF_HAS_VARY) !== 0)) return false;
    const transfer = this.store.transferOf(oc);
    const isWhole =
      blocks.every((block) => this.store.append(oc, block as LentBytes, 0, block.length)) &&
      (record.annex.length === 0 || this.store.setAnnex(oc, record.annex, 0));
    if (!isWhole) {
      this.store.freeBytes(oc);
      return false;
    }
    // It is on disk already.
    transfer.since = -1;
    transfer.tags = record.tags.length === 0 ? null : [...record.tags];
    this.filling.setAttributes(oc, {
      ...livesIn(facts),
      vxid: facts.readUInt32LE(36),
      flags: flags & row.OF_ATTRIBUTES,
    });
    return true;
  }

  private parse(text: string): BanExpression | null {
    const known = this.parsed.get(text);
    if (known !== undefined) return known;
    const source = JSON.parse(text) as BanSource;
    const { compileRegex } = this.state;
    const parsed =
      typeof source === 'string' ? parseBanText(source, compileRegex) : parseBan(source, compileRegex);
    if (this.parsed.size >= MOST_PARSED) this.parsed.clear();
    const ban = typeof parsed === 'string' ? null : parsed;
    this.parsed.set(text, ban);
    return ban;
  }
}

function flagsOf({ facts }: TierRecord): number {
  return (facts as Buffer).readUInt32LE(32);
}

function endOf({ tOrigin, ttl, grace, keep }: Lives): number {
  return tOrigin + ttl + grace + keep;
}

function livesIn(facts: Buffer): Lives {
  return {
    tOrigin: facts.readDoubleLE(0),
    ttl: facts.readDoubleLE(8),
    grace: facts.readDoubleLE(16),
    keep: facts.readDoubleLE(24),
  };
}

function writeLives(facts: Buffer, { tOrigin, ttl, grace, keep }: Lives): void {
  facts.writeDoubleLE(tOrigin, 0);
  facts.writeDoubleLE(ttl, 8);
  facts.writeDoubleLE(grace, 16);
  facts.writeDoubleLE(keep, 24);
}

/** FNV-1a, 32 bits, never 0. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0 || 1;
}
