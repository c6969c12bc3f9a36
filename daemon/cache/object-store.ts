// The bytes of objects: heads and bodies in the stevedores' memory, named by objcore handles.
//
// Makes room by evicting the least recently used objects that nobody reads, at most so many for one object.
// Knows nothing of keys and lookups: what an eviction means for the index is the owner's `evict`. Awkward: a
// body in transit to its only reader is given back while it is written; a shared one never is.

import { parseLength } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { StorageSpec } from '../link.ts';
import type { CacheCounters } from './counters.ts';
import { headBytes, readHead, varyStart, writeHead } from './head-codec.ts';
import { Live } from './live.ts';
import { LiveTable } from './live-table.ts';
import {
  BATCH,
  BODY_LENGTH,
  EXTENT,
  HEAD_BLOCK,
  INLINE_AT,
  KEY_NEXT,
  META,
  type Oc,
  OF_HAS_VARY,
  OF_MARKER,
  OF_PRIVATE,
  REFS,
  storageIn,
  withStorage,
} from './objcore.ts';
import type { Rows } from './rows.ts';
import { appendBody, BodyCursor, consumeBody, freeBody, trimBody } from './storage/body.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { makeStevedores, type Stevedore, TRANSIENT } from './storage/stevedore.ts';
import type { VaryKey } from './vary.ts';

/** Bodies up to this size are put behind their head, in one block. */
const INLINE_MAX = 32 * 1024;
/** Where bodies begin in memory. Bytes of shared memory are copied eight at a time only between places that lie
 * alike, and one by one otherwise, which costs a small hit a tenth of its time; whoever copies a body chooses its
 * place accordingly. */
export const BODY_ALIGN = 8;
/** Bodies beyond this are not freed at once when their object goes, but so many extents a step. */
const LARGE_BODY = 4 << 20;
const EXTENTS_A_STEP = 64;
const ALL = Number.POSITIVE_INFINITY;
/** Objects in use that one search for a victim passes over. */
const VICTIM_SEARCH = 200;

export class ObjectStore {
  readonly rows: Rows;
  readonly stevedores: Stevedore[];
  /** By handle, while the object is being made or is private. */
  readonly live = new LiveTable();
  private readonly counters: CacheCounters;
  private readonly evict: (oc: Oc, by: Oc) => void;
  private readonly noVictim: (by: Oc) => void;
  private readonly nukeLimit: () => number;
  private turn = -1;
  /** Gone objects whose large bodies are still to be freed, linked by KEY_NEXT. */
  private discarded: Oc = 0;
  /** Scratch of discardAll(). */
  private readonly blocks = new Uint32Array(BATCH);
  private readonly cursors: { oc: Oc; cursor: BodyCursor }[];

  constructor(o: {
    rows: Rows;
    storages: readonly StorageSpec[];
    counters: CacheCounters;
    nukeLimit: () => number;
    evict: (oc: Oc, by: Oc) => void;
    noVictim: (by: Oc) => void;
  }) {
    this.rows = o.rows;
    this.stevedores = makeStevedores(o.storages, o.rows);
    this.counters = o.counters;
    this.nukeLimit = o.nukeLimit;
    this.evict = o.evict;
    this.noVictim = o.noVictim;
    this.cursors = Array.from({ length: 64 }, () => ({ oc: 0, cursor: new BodyCursor() }));
  }

  /** The number of that storage; for null of the one whose turn it is. Null when there is no such name. */
  pick(name: string | null): number | null {
    if (name === null) return this.nextTurn();
    const at = this.stevedores.findIndex((stevedore) => stevedore.name === name);
    return at < 0 ? null : at;
  }

  /** Each storage but Transient in turn. */
  nextTurn(): number {
    for (let tries = this.stevedores.length; tries > 0; tries--) {
      this.turn = (this.turn + 1) % this.stevedores.length;
      if ((this.stevedores[this.turn] as Stevedore).name !== TRANSIENT) return this.turn;
    }
    return 0;
  }

  stevedoreOf(oc: Oc): Stevedore {
    return this.stevedores[storageIn(this.rows.get(oc, META))] as Stevedore;
  }

  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean {
    const bytes = headBytes(msg, vary);
    const number = this.pick(storage);
    if (bytes < 0 || number === null) return false;
    this.freeBytes(oc);
    const live = this.liveOf(oc);
    const declared = msg.get('content-length');
    live.expected = declared === null ? -1 : parseLength(declared);
    const { rows } = this;
    rows.set(oc, META, withStorage(rows.get(oc, META), number) & ~OF_HAS_VARY);
    const slab = (this.stevedores[number] as Stevedore).slab;
    // A body behind its head begins at a multiple of 8: see BODY_ALIGN.
    const bodyAt = (bytes + BODY_ALIGN - 1) & -BODY_ALIGN;
    const both = bodyAt + live.expected;
    const inline =
      live.expected > 0 &&
      both <= Math.min(INLINE_MAX, slab.classes.pageSize) &&
      (both < 1024 || !slab.classes.wasteful(both));
    let block = inline ? this.room(oc, live, both, both) : 0;
    const whole = block !== 0;
    if (!whole) block = this.room(oc, live, bytes, bytes);
    if (block === 0) return false;
    rows.set(oc, HEAD_BLOCK, block);
    rows.set(oc, INLINE_AT, whole ? bodyAt : 0);
    if (vary !== null) rows.set(oc, META, rows.get(oc, META) | OF_HAS_VARY);
    if (this.inTransitOnly(oc)) live.head = msg;
    // Most private objects have come and gone before anybody looks at more than what is lent.
    live.unwritten = vary === null && (rows.get(oc, META) & OF_PRIVATE) !== 0;
    if (!live.unwritten) writeHead(msg, vary, slab.chunk(block), slab.offset(block));
    this.counters.n_object++;
    return true;
  }

  append(oc: Oc, buf: Uint8Array, start: number, end: number): boolean {
    const live = this.liveOf(oc);
    const { slab, mostOfBody } = this.stevedoreOf(oc);
    if (mostOfBody > 0) {
      // What can never fit must not push out everything else first.
      if (!this.inTransitOnly(oc) && Math.max(live.expected, end - start) > mostOfBody) return false;
      if (this.rows.getDouble(oc, BODY_LENGTH) - live.base + end - start > mostOfBody) return false;
    }
    const room = (wanted: number, least: number): number => this.room(oc, live, wanted, least);
    const stored = appendBody(this.rows, slab, oc, live, buf, start, end, room);
    live.notify();
    return stored;
  }

  /** Whether the body is for one reader, so that what was read can go. */
  inTransitOnly(oc: Oc): boolean {
    return (this.rows.get(oc, META) & (OF_PRIVATE | OF_MARKER)) !== 0;
  }

  consume(oc: Oc, upTo: number): void {
    const live = this.live.get(oc);
    if (live === undefined || !this.inTransitOnly(oc)) return;
    this.forgetCursor(oc);
    consumeBody(this.rows, this.stevedoreOf(oc).slab, oc, live, upTo);
    live.onConsume?.();
  }

  trim(oc: Oc): void {
    if (this.rows.get(oc, HEAD_BLOCK) === 0) return;
    this.forgetCursor(oc);
    trimBody(this.rows, this.stevedoreOf(oc).slab, oc);
  }

  /** Frees the body of an object that stays as a marker only. */
  dropBody(oc: Oc): void {
    if (this.rows.get(oc, HEAD_BLOCK) === 0) return;
    this.forgetCursor(oc);
    freeBody(this.rows, this.stevedoreOf(oc).slab, oc, ALL);
    this.live.delete(oc);
  }

  /** Whether the head is its fetch's message so far, and perhaps nowhere else. */
  isLent(oc: Oc): boolean {
    return this.live.size > 0 && (this.live.get(oc)?.head ?? null) !== null;
  }

  head(oc: Oc, into: HttpMessage): void {
    const lent = this.live.get(oc)?.head;
    if (lent !== undefined && lent !== null) {
      into.copyFrom(lent);
      if (lent.raw !== null) into.borrow(lent, lent.rawLines);
      return;
    }
    const block = this.rows.get(oc, HEAD_BLOCK) >>> 0;
    const { slab } = this.stevedoreOf(oc);
    readHead(slab.chunk(block), slab.offset(block), into);
  }

  /** Whoever has stored a head will change it now; those who stay will find it stored. */
  takeBackHead(oc: Oc): void {
    const live = this.live.get(oc);
    if (live === undefined) return;
    if (live.unwritten && this.rows.get(oc, REFS) > 1) this.writeLent(oc);
    live.head = null;
  }

  /** Encodes a head that was only lent so far. */
  private writeLent(oc: Oc): void {
    const live = this.live.get(oc);
    if (live === undefined || !live.unwritten || live.head === null) return;
    live.unwritten = false;
    writeHead(live.head, null, this.headChunk(oc), this.headAt(oc));
  }

  /** Memory that holds the encoded head, from headAt(oc) on. */
  headChunk(oc: Oc): ChunkBytes {
    if ((this.rows.get(oc, META) & OF_PRIVATE) !== 0) this.writeLent(oc);
    return this.stevedoreOf(oc).slab.chunk(this.rows.get(oc, HEAD_BLOCK) >>> 0);
  }

  headAt(oc: Oc): number {
    return this.stevedoreOf(oc).slab.offset(this.rows.get(oc, HEAD_BLOCK) >>> 0);
  }

  /** Position of the variant's key in headChunk(oc). */
  varyAt(oc: Oc): number {
    return varyStart(this.headChunk(oc), this.headAt(oc));
  }

  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    const cursor = this.cursorFor(oc);
    const { slab } = this.stevedoreOf(oc);
    const base = this.live.get(oc)?.base ?? 0;
    cursor.at = from;
    let copied = 0;
    while (copied < max) {
      const count = cursor.locate(this.rows, slab, oc, base, max - copied);
      if (count === 0) break;
      const at = cursor.from;
      dst.set((cursor.chunk as ChunkBytes).subarray(at, at + count), dstAt + copied);
      cursor.at += count;
      copied += count;
    }
    return copied;
  }

  /** A view of stored body bytes from `from` on, at most `max`; empty when there are none (yet). */
  slice(oc: Oc, from: number, max: number): Buffer {
    const cursor = this.cursorFor(oc);
    cursor.at = from;
    const base = this.live.get(oc)?.base ?? 0;
    const count = cursor.locate(this.rows, this.stevedoreOf(oc).slab, oc, base, max);
    if (count === 0) return EMPTY;
    return (cursor.chunk as ChunkBytes).subarray(cursor.from, cursor.from + count);
  }

  liveOf(oc: Oc): Live {
    let live = this.live.get(oc);
    if (live === undefined) {
      live = new Live(this.nukeLimit());
      this.live.set(oc, live);
    }
    return live;
  }

  /** Gives the object's memory back; the handle stays. */
  freeBytes(oc: Oc): void {
    const { rows } = this;
    this.forgetCursor(oc);
    const block = rows.get(oc, HEAD_BLOCK) >>> 0;
    if (block === 0) return;
    const { slab } = this.stevedoreOf(oc);
    freeBody(rows, slab, oc, ALL);
    slab.free(block);
    rows.set(oc, HEAD_BLOCK, 0);
    rows.set(oc, INLINE_AT, 0);
    rows.set(oc, EXTENT, 0);
    rows.setDouble(oc, BODY_LENGTH, 0);
    const live = this.live.get(oc);
    if (live !== undefined) {
      live.head = null;
      live.unwritten = false;
      live.tail = 0;
      live.base = 0;
    }
    this.counters.n_object--;
  }

  /** Gives back memory and row of an object that is gone: a large body's later, by reclaim(). */
  discard(oc: Oc): void {
    const freed = this.live.get(oc)?.base ?? 0;
    this.live.delete(oc);
    if (this.rows.getDouble(oc, BODY_LENGTH) - freed > LARGE_BODY) {
      this.forgetCursor(oc);
      this.rows.set(oc, KEY_NEXT, this.discarded);
      this.discarded = oc;
      return;
    }
    this.freeBytes(oc);
    this.rows.give(oc);
  }

  /** The same for many, without a reader and none of them private. */
  discardAll(ocs: Int32Array, count: number): void {
    const { rows, live, blocks } = this;
    let stevedore = this.stevedores[0] as Stevedore;
    let freed = 0;
    let given = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      if (rows.get(oc, EXTENT) !== 0 || (live.size > 0 && live.get(oc) !== undefined)) {
        this.discard(oc);
        continue;
      }
      this.forgetCursor(oc);
      const own = this.stevedoreOf(oc);
      if (own !== stevedore) {
        stevedore.slab.freeAll(blocks, freed);
        freed = 0;
        stevedore = own;
      }
      const block = rows.get(oc, HEAD_BLOCK);
      if (block !== 0) {
        blocks[freed++] = block;
        this.counters.n_object--;
      }
      ocs[given++] = oc;
    }
    stevedore.slab.freeAll(blocks, freed);
    rows.giveAll(ocs, given);
  }

  get hasDiscarded(): boolean {
    return this.discarded !== 0;
  }

  /** Frees one piece of what discard() left. */
  reclaim(): void {
    const { rows } = this;
    const oc = this.discarded;
    if (oc === 0 || !freeBody(rows, this.stevedoreOf(oc).slab, oc, EXTENTS_A_STEP)) return;
    this.discarded = rows.get(oc, KEY_NEXT);
    this.freeBytes(oc);
    rows.give(oc);
  }

  /** A block of `wanted` bytes, or of less but at least `least`, evicting when the storage is full. */
  private room(oc: Oc, live: Live, wanted: number, least: number): number {
    const { slab, lru } = this.stevedoreOf(oc);
    for (;;) {
      const block = slab.alloc(wanted, least);
      if (block !== 0) return block;
      if (this.discarded !== 0) {
        this.reclaim();
        continue;
      }
      if (live.nukesLeft <= 0) {
        this.counters.n_lru_limited++;
        return 0;
      }
      let victim = lru.oldest;
      for (let i = 0; victim !== 0 && i < VICTIM_SEARCH; i++) {
        if (this.rows.get(victim, REFS) === 1 && victim !== oc) break;
        victim = lru.younger(victim);
      }
      if (victim === 0 || this.rows.get(victim, REFS) !== 1) {
        this.noVictim(oc);
        return 0;
      }
      live.nukesLeft--;
      this.counters.n_lru_nuked++;
      this.evict(victim, oc);
    }
  }

  private cursorFor(oc: Oc): BodyCursor {
    const entry = this.cursors[oc & 63] as { oc: Oc; cursor: BodyCursor };
    if (entry.oc !== oc) {
      entry.oc = oc;
      entry.cursor.start();
    }
    return entry.cursor;
  }

  private forgetCursor(oc: Oc): void {
    const entry = this.cursors[oc & 63] as { oc: Oc; cursor: BodyCursor };
    if (entry.oc === oc) entry.oc = 0;
  }
}

const EMPTY = Buffer.alloc(0);
