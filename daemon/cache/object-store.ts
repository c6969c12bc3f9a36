// The bytes of objects: heads and bodies in the stevedores' memory, named by objcore handles.
//
// Makes room by evicting the least recently used objects that nobody reads, at most so many for one object.
// Knows nothing of keys and lookups: `evict` takes an object out of the index. Caution: a
// body in transit to its only reader is given back while it is written; a shared one never is.

import { parseLength } from '../http1/framing.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { CacheState } from './cache-state.ts';
import { headBytes, readHead, varyStart, writeHead } from './head-codec.ts';
import {
  ANNEX,
  ANNOUNCED,
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
  STATE_BUSY,
  STATE_FINISHED,
  STATE_STREAM,
  stateIn,
  VXID,
  withStorage,
} from './objcore.ts';
import type { RowTable } from './row-table.ts';
import type { ChunkBytes, Slab } from './storage/slab.ts';
import type { Stevedore } from './storage/stevedores.ts';
import { appendBody, BodyCursor, consumeBody, freeBody, trimBody } from './storage/stored-body.ts';
import { Transfer } from './transfer.ts';
import type { TransferTable } from './transfer-table.ts';
import type { VaryKey } from './vary.ts';

/** Bodies up to this size are put after their head, in one block. */
const INLINE_MAX = 32 * 1024;
/** Bodies begin in memory at a multiple of this. Bytes of shared memory are copied eight at a time only between places
 * that lie alike, and one by one otherwise, which was measured to cost a small hit a tenth of its time: a copy of a
 * body is to begin at such a place, too. */
export const BODY_ALIGN = 8;
/** Bytes in the place of the head of what has none. */
const NO_HEAD = 8;
/** Bodies beyond this are not freed at once when their object goes, but so many extents a step: a step stays far below
 * a millisecond. */
const LARGE_BODY = 4 << 20;
const EXTENTS_A_STEP = 64;
const ALL = Number.POSITIVE_INFINITY;
/** Bytes before those of an annex: their number, and what it takes to begin at a multiple of 8. */
const ANNEX_HEADER = 8;
/** Bodies of which the place of the last read is remembered; a power of two. A guess at the bodies that are read in
 * turns. */
const CURSORS = 64;
/** Objects in use that one search for a victim passes over. A guess. */
const VICTIM_SEARCH = 200;

export class ObjectStore {
  private readonly state: CacheState;
  private readonly objcores: RowTable;
  private readonly transfers: TransferTable;
  private readonly evict: (oc: Oc, by: Oc) => void;
  /** One word: the first of the gone objects whose large bodies are still to be freed, linked by KEY_NEXT. */
  private readonly discarded: Int32Array;
  /** Scratch of discardAll(). */
  private readonly blocks = new Uint32Array(BATCH);
  private readonly cursors: KeptCursor[];

  /** @param evict takes the object `oc` out of the cache to make room for `by` */
  constructor(state: CacheState, evict: (oc: Oc, by: Oc) => void) {
    this.state = state;
    this.objcores = state.objcores;
    this.transfers = state.transfers;
    this.evict = evict;
    this.discarded = state.memory.part('discarded').words(1);
    this.cursors = Array.from({ length: CURSORS }, () => ({
      oc: 0,
      vxid: 0,
      kind: 0,
      cursor: new BodyCursor(),
    }));
  }

  private stevedoreOf(oc: Oc): Stevedore {
    return this.state.stevedores.of(oc);
  }

  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean {
    const bytes = headBytes(msg, vary);
    const declared = msg.get('content-length');
    if (bytes < 0 || !this.begin(oc, storage, bytes, declared === null ? -1 : parseLength(declared)))
      return false;
    const { objcores } = this;
    const transfer = this.transferOf(oc);
    if (vary !== null) objcores.set(oc, META, objcores.get(oc, META) | OF_HAS_VARY);
    if (this.inTransitOnly(oc)) transfer.head = msg;
    // Most private objects have come and gone before anybody looks at more than the message that is lent.
    transfer.unwritten = vary === null && (objcores.get(oc, META) & OF_PRIVATE) !== 0;
    if (!transfer.unwritten) writeHead(msg, vary, this.headChunk(oc), this.headAt(oc));
    return true;
  }

  beginBody(oc: Oc, storage: string, length: number): boolean {
    if (!this.begin(oc, storage, NO_HEAD, length)) return false;
    this.transferOf(oc).isKept = true;
    return true;
  }

  /** Room for a head of so many bytes in a storage, with the body in the same block where it is small; `length` is that of
   * the body, -1 when nobody knows it. */
  private begin(oc: Oc, storage: string | null, bytes: number, length: number): boolean {
    const number = this.state.stevedores.pick(storage);
    if (number === null) return false;
    this.freeBytes(oc);
    const transfer = this.transferOf(oc);
    transfer.expected = length;
    const { objcores } = this;
    objcores.setDouble(oc, ANNOUNCED, length);
    objcores.set(oc, META, withStorage(objcores.get(oc, META), number) & ~OF_HAS_VARY);
    const { slab } = this.state.stevedores.of(oc);
    // A body after its head begins at a multiple of 8: see BODY_ALIGN.
    const bodyAt = (bytes + BODY_ALIGN - 1) & -BODY_ALIGN;
    const both = bodyAt + length;
    const inline =
      length > 0 &&
      both <= Math.min(INLINE_MAX, slab.classes.pageSize) &&
      (both < 1024 || !slab.classes.wasteful(both));
    let block = inline ? this.room(oc, transfer, both, both) : 0;
    const whole = block !== 0;
    if (!whole) block = this.room(oc, transfer, bytes, bytes);
    if (block === 0) return false;
    objcores.set(oc, HEAD_BLOCK, block);
    objcores.set(oc, INLINE_AT, whole ? bodyAt : 0);
    this.state.counters.n_object++;
    return true;
  }

  append(oc: Oc, buf: LentBytes, start: number, end: number): boolean {
    const transfer = this.transferOf(oc);
    const { slab, mostOfBody } = this.stevedoreOf(oc);
    if (mostOfBody > 0 && !transfer.isKept) {
      // A body that can never fit must not push out everything else first.
      if (!this.inTransitOnly(oc) && Math.max(transfer.expected, end - start) > mostOfBody) return false;
      if (this.objcores.getDouble(oc, BODY_LENGTH) - transfer.base + end - start > mostOfBody) return false;
    }
    const room = (wanted: number, least: number): number => this.room(oc, transfer, wanted, least);
    const stored = appendBody(this.objcores, slab, oc, transfer, buf, start, end, room);
    this.state.memory.point();
    this.tellReaders(oc, transfer);
    return stored;
  }

  /** Those who read the object on this thread learn at once that there is more, or that it is settled, as far as the turn has
   * time for them, and those on other threads in a moment. */
  tellReaders(oc: Oc, transfer: Transfer | undefined): void {
    this.state.peers.progress(oc);
    if (transfer !== undefined) this.state.lock.after(() => transfer.notify(this.state.turns));
  }

  /** The length that the response announced, while its body comes in; -1 when unknown or no longer of interest. */
  announced(oc: Oc): number {
    const transfer = this.transfers.get(oc);
    if (transfer !== undefined) return transfer.expected;
    if (!this.state.memory.isShared || this.objcores.get(oc, HEAD_BLOCK) === 0) return -1;
    const announced = this.objcores.getDouble(oc, ANNOUNCED);
    // Its place serves the LRU once the object is finished.
    this.objcores.fence();
    const state = stateIn(this.objcores.get(oc, META));
    return state === STATE_STREAM || state === STATE_BUSY ? announced : -1;
  }

  /** Whether the body is for one reader, so that what was read can go. */
  inTransitOnly(oc: Oc): boolean {
    return (this.objcores.get(oc, META) & (OF_PRIVATE | OF_MARKER)) !== 0;
  }

  consume(oc: Oc, upTo: number): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined || !this.inTransitOnly(oc)) return;
    this.forgetCursor(oc);
    consumeBody(this.objcores, this.stevedoreOf(oc).slab, oc, transfer, upTo);
    if (transfer.onConsume !== null) this.state.lock.after(transfer.onConsume);
  }

  trim(oc: Oc): void {
    if (this.objcores.get(oc, HEAD_BLOCK) === 0) return;
    this.forgetCursor(oc);
    trimBody(this.objcores, this.stevedoreOf(oc).slab, oc);
  }

  /** Frees the body of an object that stays as a marker only. */
  dropBody(oc: Oc): void {
    if (this.objcores.get(oc, HEAD_BLOCK) === 0) return;
    this.forgetCursor(oc);
    const { slab } = this.stevedoreOf(oc);
    freeBody(this.objcores, slab, oc, ALL);
    this.freeAnnex(oc, slab);
    this.transfers.delete(oc);
  }

  /** Whether the head is its fetch's message so far, and perhaps nowhere else. */
  isLent(oc: Oc): boolean {
    return this.transfers.size > 0 && (this.transfers.get(oc)?.head ?? null) !== null;
  }

  head(oc: Oc, into: HttpMessage): void {
    const lent = this.transfers.get(oc)?.head;
    if (lent !== undefined && lent !== null) {
      into.copyFrom(lent);
      if (lent.raw !== null) into.borrow(lent, lent.rawLines);
      return;
    }
    const block = this.objcores.get(oc, HEAD_BLOCK) >>> 0;
    const { slab } = this.stevedoreOf(oc);
    readHead(slab.chunk(block), slab.offset(block), into);
  }

  /** The fetch that stored a head is about to change its message; readers that stay find the head stored. */
  takeBackHead(oc: Oc): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined) return;
    if (transfer.unwritten && this.objcores.get(oc, REFS) > 1) this.writeLent(oc);
    transfer.head = null;
  }

  /** Encodes a head that was only lent so far. */
  private writeLent(oc: Oc): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined || !transfer.unwritten || transfer.head === null) return;
    transfer.unwritten = false;
    writeHead(transfer.head, null, this.headChunk(oc), this.headAt(oc));
  }

  /** Memory that holds the encoded head, from headAt(oc) on. */
  headChunk(oc: Oc): ChunkBytes {
    if ((this.objcores.get(oc, META) & OF_PRIVATE) !== 0) this.writeLent(oc);
    return this.stevedoreOf(oc).slab.chunk(this.objcores.get(oc, HEAD_BLOCK) >>> 0);
  }

  headAt(oc: Oc): number {
    return this.stevedoreOf(oc).slab.offset(this.objcores.get(oc, HEAD_BLOCK) >>> 0);
  }

  /** Position of the variant's key in headChunk(oc). */
  varyAt(oc: Oc): number {
    return varyStart(this.headChunk(oc), this.headAt(oc));
  }

  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    const cursor = this.cursorFor(oc);
    const { slab } = this.stevedoreOf(oc);
    const base = this.transfers.get(oc)?.base ?? 0;
    const length = this.lengthInReach(oc);
    cursor.at = from;
    let copied = 0;
    while (copied < max) {
      const count = cursor.locate(this.objcores, slab, oc, base, length, max - copied);
      if (count === 0) break;
      const at = cursor.from;
      dst.set((cursor.chunk as ChunkBytes).subarray(at, at + count), dstAt + copied);
      cursor.at += count;
      copied += count;
    }
    return copied;
  }

  /** Bytes of the body so far, all of which this thread can read: it has taken in the memory they are in. */
  private lengthInReach(oc: Oc): number {
    const { objcores } = this;
    const { memory } = this.state;
    if (!memory.isShared) return objcores.getDouble(oc, BODY_LENGTH);
    const isGrowing = stateIn(objcores.load(oc, META)) !== STATE_FINISHED;
    const length = objcores.getDouble(oc, BODY_LENGTH);
    // What lies before the length was written before it, and is to be read after it.
    if (isGrowing) objcores.fence();
    memory.point();
    memory.sync();
    return length;
  }

  /** A view of stored body bytes from `from` on, at most `max`; empty when there are none (yet). */
  slice(oc: Oc, from: number, max: number, cursor: BodyCursor = this.cursorFor(oc)): Buffer {
    cursor.at = from;
    const length = this.lengthInReach(oc);
    const base = this.transfers.get(oc)?.base ?? 0;
    const count = cursor.locate(this.objcores, this.stevedoreOf(oc).slab, oc, base, length, max);
    if (count === 0) return EMPTY;
    return (cursor.chunk as ChunkBytes).subarray(cursor.from, cursor.from + count);
  }

  /** Keeps bytes beside the body, with flags of the object that say what they are; false when there is no room. Of a
   * finished object only into what is free. */
  setAnnex(oc: Oc, bytes: Uint8Array, flags: number): boolean {
    const { objcores } = this;
    const { slab } = this.stevedoreOf(oc);
    const size = bytes.length + ANNEX_HEADER;
    const transfer = this.transfers.get(oc);
    const block = transfer === undefined ? slab.alloc(size) : this.room(oc, transfer, size, size);
    if (block === 0) return false;
    this.freeAnnex(oc, slab);
    slab.chunkWords(block)[slab.offset(block) >>> 2] = bytes.length;
    slab.chunk(block).set(bytes, slab.offset(block) + ANNEX_HEADER);
    objcores.set(oc, ANNEX, block);
    objcores.publish(oc, META, objcores.get(oc, META) | flags);
    return true;
  }

  /** The bytes beside the body, as they lie in memory; null when there are none. */
  annex(oc: Oc): Buffer | null {
    // A flag of the object may have said that it is there.
    if (this.state.memory.isShared) this.objcores.fence();
    const block = this.objcores.get(oc, ANNEX) >>> 0;
    if (block === 0) return null;
    this.state.memory.sync();
    const { slab } = this.stevedoreOf(oc);
    const at = slab.offset(block);
    const length = slab.chunkWords(block)[at >>> 2] as number;
    return slab.chunk(block).subarray(at + ANNEX_HEADER, at + ANNEX_HEADER + length);
  }

  private freeAnnex(oc: Oc, slab: Slab): void {
    const block = this.objcores.get(oc, ANNEX) >>> 0;
    if (block === 0) return;
    slab.free(block);
    this.objcores.set(oc, ANNEX, 0);
  }

  transferOf(oc: Oc): Transfer {
    let transfer = this.transfers.get(oc);
    if (transfer === undefined) {
      transfer = new Transfer(this.state.limits.nukeLimit, this.objcores.get(oc, VXID));
      this.transfers.set(oc, transfer);
    }
    return transfer;
  }

  /** Gives the object's memory back; the handle stays. */
  freeBytes(oc: Oc): void {
    const { objcores } = this;
    this.forgetCursor(oc);
    const block = objcores.get(oc, HEAD_BLOCK) >>> 0;
    if (block === 0) return;
    const { slab } = this.stevedoreOf(oc);
    freeBody(objcores, slab, oc, ALL);
    this.freeAnnex(oc, slab);
    slab.free(block);
    objcores.set(oc, HEAD_BLOCK, 0);
    objcores.set(oc, INLINE_AT, 0);
    objcores.set(oc, EXTENT, 0);
    objcores.setDouble(oc, BODY_LENGTH, 0);
    const transfer = this.transfers.get(oc);
    if (transfer !== undefined) {
      transfer.head = null;
      transfer.unwritten = false;
      transfer.tail = 0;
      transfer.base = 0;
    }
    this.state.counters.n_object--;
  }

  /** Gives back memory and row of an object that is gone: a large body's later, by reclaim(). */
  discard(oc: Oc): void {
    const freed = this.transfers.get(oc)?.base ?? 0;
    this.transfers.delete(oc);
    if (this.objcores.getDouble(oc, BODY_LENGTH) - freed > LARGE_BODY) {
      this.forgetCursor(oc);
      this.objcores.set(oc, KEY_NEXT, this.discarded[0] as Oc);
      this.discarded[0] = oc;
      return;
    }
    this.freeBytes(oc);
    this.objcores.give(oc);
  }

  /** The same for many, without a reader and none of them private. */
  discardAll(ocs: Int32Array, count: number): void {
    const { objcores, transfers, blocks } = this;
    let stevedore: Stevedore | null = null;
    let freed = 0;
    let given = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      if (
        objcores.get(oc, EXTENT) !== 0 ||
        objcores.get(oc, ANNEX) !== 0 ||
        (transfers.size > 0 && transfers.get(oc) !== undefined)
      ) {
        this.discard(oc);
        continue;
      }
      this.forgetCursor(oc);
      const own = this.stevedoreOf(oc);
      if (own !== stevedore) {
        stevedore?.slab.freeAll(blocks, freed);
        freed = 0;
        stevedore = own;
      }
      const block = objcores.get(oc, HEAD_BLOCK);
      if (block !== 0) {
        blocks[freed++] = block;
        this.state.counters.n_object--;
      }
      ocs[given++] = oc;
    }
    stevedore?.slab.freeAll(blocks, freed);
    objcores.giveAll(ocs, given);
  }

  get hasDiscarded(): boolean {
    return this.discarded[0] !== 0;
  }

  /** Frees one piece of what discard() left. */
  reclaim(): void {
    const { objcores } = this;
    const oc = this.discarded[0] as Oc;
    if (oc === 0 || !freeBody(objcores, this.stevedoreOf(oc).slab, oc, EXTENTS_A_STEP)) return;
    this.discarded[0] = objcores.get(oc, KEY_NEXT);
    this.freeBytes(oc);
    objcores.give(oc);
  }

  /** A block of `wanted` bytes, or of less but at least `least`, evicting when the storage is full. */
  private room(oc: Oc, transfer: Transfer, wanted: number, least: number): number {
    const { lock } = this.state;
    lock.enter();
    try {
      return this.findRoom(oc, transfer, wanted, least);
    } finally {
      lock.leave();
    }
  }

  private findRoom(oc: Oc, transfer: Transfer, wanted: number, least: number): number {
    const { slab, lru } = this.stevedoreOf(oc);
    for (;;) {
      const block = slab.alloc(wanted, least);
      if (block !== 0) return block;
      if (this.discarded[0] !== 0) {
        this.reclaim();
        continue;
      }
      if (transfer.nukesLeft <= 0) {
        this.state.counters.n_lru_limited++;
        return 0;
      }
      let victim = lru.oldest;
      for (let i = 0; victim !== 0 && i < VICTIM_SEARCH; i++) {
        if (this.objcores.get(victim, REFS) === 1 && victim !== oc) break;
        victim = lru.younger(victim);
      }
      if (victim === 0 || this.objcores.get(victim, REFS) !== 1) {
        this.state.events.noVictim(oc);
        return 0;
      }
      transfer.nukesLeft--;
      this.state.counters.n_lru_nuked++;
      this.evict(victim, oc);
    }
  }

  private cursorFor(oc: Oc): BodyCursor {
    const { objcores } = this;
    const entry = this.cursors[oc & (CURSORS - 1)] as KeptCursor;
    const vxid = objcores.get(oc, VXID);
    const kind = objcores.get(oc, META);
    // Another thread may have shortened the body's last block, which its state and flags say, or given the row away.
    if (entry.oc !== oc || entry.vxid !== vxid || entry.kind !== kind) {
      entry.oc = oc;
      entry.vxid = vxid;
      entry.kind = kind;
      entry.cursor.start();
    }
    return entry.cursor;
  }

  private forgetCursor(oc: Oc): void {
    const entry = this.cursors[oc & (CURSORS - 1)] as KeptCursor;
    if (entry.oc === oc) entry.oc = 0;
  }
}

/** A place in a body, and what the object's row was like then. */
interface KeptCursor {
  oc: Oc;
  vxid: number;
  kind: number;
  readonly cursor: BodyCursor;
}

const EMPTY = Buffer.alloc(0);
