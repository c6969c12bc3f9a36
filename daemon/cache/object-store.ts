// The bytes of objects: heads and bodies in the memory of the stevedores, by objcore handle.
//
// Makes room by evicting the least recently used objects that have no readers, at most nuke_limit for one object. Knows nothing
// of keys and lookups: `evict` removes an object from the index. Caution: a body in transit to its only reader is freed while
// it is written; a shared one never is.

import { parseLength } from '../http1/framing.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { CacheState } from './cache-state.ts';
import { headBytes, readHead, varyStart, writeHead } from './head-codec.ts';
import type { Oc } from './objcore.ts';
import * as row from './objcore.ts';
import type { RowTable } from './row-table.ts';
import type { ChunkBytes, Slab } from './storage/slab.ts';
import type { Stevedore } from './storage/stevedores.ts';
import {
  appendBody,
  type BodyCursor,
  consumeBody,
  freeBody,
  KeptCursors,
  trimBody,
} from './storage/stored-body.ts';
import { Transfer, type TransferTable } from './transfers.ts';
import type { VaryKey } from './vary.ts';

/** Bodies up to this size are stored after their head, in one block. */
const INLINE_MAX = 32 * 1024;
/** Bodies begin at a multiple of this. Shared memory is copied eight bytes at a time only between addresses with the same
 * alignment, and byte by byte otherwise, which was measured to cost a small hit a tenth of its time: copies of a body
 * should be aligned as well. */
export const BODY_ALIGN = 8;
/** Bytes reserved instead of a head for bodies without one. */
const NO_HEAD = 8;
/** Larger bodies are freed in steps of EXTENTS_A_STEP when their object goes, so that a step stays far below a millisecond. */
const LARGE_BODY = 4 << 20;
const EXTENTS_A_STEP = 64;
const ALL = Number.POSITIVE_INFINITY;
/** Bytes before those of an annex: its length, padded to 8. */
const ANNEX_HEADER = 8;
/** Objects in use that one search for a victim skips. A guess. */
const VICTIM_SEARCH = 200;

export class ObjectStore {
  private readonly state: CacheState;
  private readonly objcores: RowTable;
  private readonly transfers: TransferTable;
  private readonly evict: (oc: Oc, by: Oc) => void;
  /** One word: the first removed object whose large body is not freed yet; linked by KEY_NEXT. */
  private readonly discarded: Int32Array;
  /** Scratch of discardAll(). */
  private readonly blocks = new Uint32Array(row.BATCH);
  private readonly cursors: KeptCursors;

  /** @param evict removes the object `oc` from the cache to make room for `by` */
  constructor(state: CacheState, evict: (oc: Oc, by: Oc) => void) {
    this.state = state;
    this.objcores = state.objcores;
    this.transfers = state.transfers;
    this.evict = evict;
    this.discarded = state.memory.part('discarded').words(1);
    this.cursors = new KeptCursors(state.objcores);
  }

  private stevedoreOf(oc: Oc): Stevedore {
    return this.state.stevedores.of(oc);
  }

  /** @param length of the body, where that is not what the head says */
  storeHead(
    oc: Oc,
    storage: string | null,
    msg: HttpMessage,
    vary: VaryKey | null,
    length = announcedBy(msg),
  ): boolean {
    const bytes = headBytes(msg, vary);
    if (bytes < 0 || !this.begin(oc, storage, bytes, length)) return false;
    const { objcores } = this;
    const transfer = this.transferOf(oc);
    if (vary !== null) objcores.set(oc, row.META, objcores.get(oc, row.META) | row.OF_HAS_VARY);
    if (this.inTransitOnly(oc)) transfer.head = msg;
    // Most private objects are gone before anything but the lent message is read.
    transfer.unwritten = vary === null && (objcores.get(oc, row.META) & row.OF_PRIVATE) !== 0;
    if (!transfer.unwritten) writeHead(msg, vary, this.headChunk(oc), this.headAt(oc));
    return true;
  }

  /** Stores a head that is encoded already, for a body of `length` bytes; false when there is no room. */
  storeHeadBytes(oc: Oc, head: Uint8Array, length: number, varies: boolean): boolean {
    if (!this.begin(oc, null, head.length, length)) return false;
    const { objcores } = this;
    if (varies) objcores.set(oc, row.META, objcores.get(oc, row.META) | row.OF_HAS_VARY);
    this.headChunk(oc).set(head, this.headAt(oc));
    return true;
  }

  beginBody(oc: Oc, storage: string, length: number): boolean {
    if (!this.begin(oc, storage, NO_HEAD, length)) return false;
    this.transferOf(oc).isKept = true;
    return true;
  }

  /** Allocates a head of `bytes` in a storage, with a small body in the same block; `length` is that of the body, -1 when
   * unknown. */
  private begin(oc: Oc, storage: string | null, bytes: number, length: number): boolean {
    const number = this.state.stevedores.pick(storage);
    if (number === null) return false;
    this.freeBytes(oc);
    const transfer = this.transferOf(oc);
    transfer.expected = length;
    const { objcores } = this;
    objcores.setDouble(oc, row.ANNOUNCED, length);
    objcores.set(oc, row.META, row.withStorage(objcores.get(oc, row.META), number) & ~row.OF_HAS_VARY);
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
    objcores.set(oc, row.HEAD_BLOCK, block);
    objcores.set(oc, row.INLINE_AT, whole ? bodyAt : 0);
    this.state.counters.n_object++;
    return true;
  }

  append(oc: Oc, buf: LentBytes, start: number, end: number): boolean {
    const transfer = this.transferOf(oc);
    const { slab, mostOfBody } = this.stevedoreOf(oc);
    if (mostOfBody > 0 && !transfer.isKept) {
      // A body that can never fit must not evict everything else first.
      if (!this.inTransitOnly(oc) && Math.max(transfer.expected, end - start) > mostOfBody) return false;
      if (this.objcores.getDouble(oc, row.BODY_LENGTH) - transfer.base + end - start > mostOfBody)
        return false;
    }
    const room = (wanted: number, least: number): number => this.room(oc, transfer, wanted, least);
    const stored = appendBody(this.objcores, slab, oc, transfer, buf, start, end, room);
    this.state.memory.point();
    this.notifyReaders(oc, transfer);
    return stored;
  }

  /** Notifies the readers of an object that it has grown or is settled: on this thread now, within the budget of the turn, on
   * others soon. */
  notifyReaders(oc: Oc, transfer: Transfer | undefined): void {
    this.state.signals.progress(oc);
    if (transfer !== undefined) this.state.lock.after(() => transfer.notify(this.state.turns));
  }

  /** The length that the response announced, while its body is fetched; -1 when unknown or finished. */
  announced(oc: Oc): number {
    const transfer = this.transfers.get(oc);
    if (transfer !== undefined) return transfer.expected;
    if (!this.state.memory.isShared || this.objcores.get(oc, row.HEAD_BLOCK) === 0) return -1;
    const announced = this.objcores.getDouble(oc, row.ANNOUNCED);
    // Once the object is finished, these words belong to the LRU.
    this.objcores.fence();
    const state = row.stateIn(this.objcores.get(oc, row.META));
    return state === row.STATE_STREAM || state === row.STATE_BUSY ? announced : -1;
  }

  /** Whether the body is for one reader, so that consumed bytes are freed. */
  inTransitOnly(oc: Oc): boolean {
    return (this.objcores.get(oc, row.META) & (row.OF_PRIVATE | row.OF_MARKER)) !== 0;
  }

  consume(oc: Oc, upTo: number): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined || !this.inTransitOnly(oc)) return;
    this.cursors.forget(oc);
    consumeBody(this.objcores, this.stevedoreOf(oc).slab, oc, transfer, upTo);
    if (transfer.onConsume !== null) this.state.lock.after(transfer.onConsume);
  }

  trim(oc: Oc): void {
    if (this.objcores.get(oc, row.HEAD_BLOCK) === 0) return;
    this.cursors.forget(oc);
    trimBody(this.objcores, this.stevedoreOf(oc).slab, oc);
  }

  /** Frees the body of an object that remains as a marker only. */
  dropBody(oc: Oc): void {
    if (this.objcores.get(oc, row.HEAD_BLOCK) === 0) return;
    this.cursors.forget(oc);
    const { slab } = this.stevedoreOf(oc);
    freeBody(this.objcores, slab, oc, ALL);
    this.freeAnnex(oc, slab);
    this.transfers.delete(oc);
  }

  /** Whether the head is still the fetch's message, and possibly not stored. */
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
    const block = this.objcores.get(oc, row.HEAD_BLOCK) >>> 0;
    const { slab } = this.stevedoreOf(oc);
    readHead(slab.chunk(block), slab.offset(block), into);
  }

  /** The fetch is about to change the message that it lent; remaining readers get the stored head. */
  takeBackHead(oc: Oc): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined) return;
    if (transfer.unwritten && this.objcores.get(oc, row.REFS) > 1) this.writeLent(oc);
    transfer.head = null;
  }

  /** Encodes a head that was only lent. */
  private writeLent(oc: Oc): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined || !transfer.unwritten || transfer.head === null) return;
    transfer.unwritten = false;
    writeHead(transfer.head, null, this.headChunk(oc), this.headAt(oc));
  }

  /** Memory that holds the encoded head, from headAt(oc) on. */
  headChunk(oc: Oc): ChunkBytes {
    if ((this.objcores.get(oc, row.META) & row.OF_PRIVATE) !== 0) this.writeLent(oc);
    return this.stevedoreOf(oc).slab.chunk(this.objcores.get(oc, row.HEAD_BLOCK) >>> 0);
  }

  headAt(oc: Oc): number {
    return this.stevedoreOf(oc).slab.offset(this.objcores.get(oc, row.HEAD_BLOCK) >>> 0);
  }

  /** Position of the variant's key in headChunk(oc). */
  varyAt(oc: Oc): number {
    return varyStart(this.headChunk(oc), this.headAt(oc));
  }

  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    const cursor = this.cursors.of(oc);
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

  /** Bytes of the body so far, all of them in memory that this thread has mapped. */
  private lengthInReach(oc: Oc): number {
    const { objcores } = this;
    const { memory } = this.state;
    if (!memory.isShared) return objcores.getDouble(oc, row.BODY_LENGTH);
    const isGrowing = row.stateIn(objcores.load(oc, row.META)) !== row.STATE_FINISHED;
    const length = objcores.getDouble(oc, row.BODY_LENGTH);
    // The bytes were written before the length, and must be read after it.
    if (isGrowing) objcores.fence();
    memory.point();
    memory.sync();
    return length;
  }

  /** A view of stored body bytes from `from` on, at most `max`; empty when there are none (yet). */
  slice(oc: Oc, from: number, max: number, cursor: BodyCursor = this.cursors.of(oc)): Buffer {
    cursor.at = from;
    const length = this.lengthInReach(oc);
    const base = this.transfers.get(oc)?.base ?? 0;
    const count = cursor.locate(this.objcores, this.stevedoreOf(oc).slab, oc, base, length, max);
    if (count === 0) return EMPTY;
    return (cursor.chunk as ChunkBytes).subarray(cursor.from, cursor.from + count);
  }

  /** Stores bytes beside the body, and sets flags with them; false when there is no room. Does not evict for a finished object. */
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
    objcores.set(oc, row.ANNEX, block);
    objcores.publish(oc, row.META, objcores.get(oc, row.META) | flags);
    return true;
  }

  /** The bytes beside the body, a view; null when there are none. */
  annex(oc: Oc): Buffer | null {
    // The caller may have seen a flag that was set with it.
    if (this.state.memory.isShared) this.objcores.fence();
    const block = this.objcores.get(oc, row.ANNEX) >>> 0;
    if (block === 0) return null;
    this.state.memory.sync();
    const { slab } = this.stevedoreOf(oc);
    const at = slab.offset(block);
    const length = slab.chunkWords(block)[at >>> 2] as number;
    return slab.chunk(block).subarray(at + ANNEX_HEADER, at + ANNEX_HEADER + length);
  }

  private freeAnnex(oc: Oc, slab: Slab): void {
    const block = this.objcores.get(oc, row.ANNEX) >>> 0;
    if (block === 0) return;
    slab.free(block);
    this.objcores.set(oc, row.ANNEX, 0);
  }

  transferOf(oc: Oc): Transfer {
    let transfer = this.transfers.get(oc);
    if (transfer === undefined) {
      transfer = new Transfer(this.state.limits.nukeLimit, this.objcores.get(oc, row.VXID));
      this.transfers.set(oc, transfer);
    }
    return transfer;
  }

  /** Frees the object's memory; the handle stays. */
  freeBytes(oc: Oc): void {
    const { objcores } = this;
    this.cursors.forget(oc);
    const block = objcores.get(oc, row.HEAD_BLOCK) >>> 0;
    if (block === 0) return;
    const { slab } = this.stevedoreOf(oc);
    freeBody(objcores, slab, oc, ALL);
    this.freeAnnex(oc, slab);
    slab.free(block);
    objcores.set(oc, row.HEAD_BLOCK, 0);
    objcores.set(oc, row.INLINE_AT, 0);
    objcores.set(oc, row.EXTENT, 0);
    objcores.setDouble(oc, row.BODY_LENGTH, 0);
    const transfer = this.transfers.get(oc);
    if (transfer !== undefined) {
      transfer.head = null;
      transfer.unwritten = false;
      transfer.tail = 0;
      transfer.base = 0;
    }
    this.state.counters.n_object--;
  }

  /** Frees memory and row of a removed object; a large body later, by reclaim(). */
  discard(oc: Oc): void {
    const freed = this.transfers.get(oc)?.base ?? 0;
    this.transfers.delete(oc);
    if (this.objcores.getDouble(oc, row.BODY_LENGTH) - freed > LARGE_BODY) {
      this.cursors.forget(oc);
      this.objcores.set(oc, row.KEY_NEXT, this.discarded[0] as Oc);
      this.discarded[0] = oc;
      return;
    }
    this.freeBytes(oc);
    this.objcores.give(oc);
  }

  /** discard() for many objects without readers, none of them private. */
  discardAll(ocs: Int32Array, count: number): void {
    const { objcores, transfers, blocks } = this;
    let stevedore: Stevedore | null = null;
    let freed = 0;
    let given = 0;
    for (let i = 0; i < count; i++) {
      const oc = ocs[i] as Oc;
      if (
        objcores.get(oc, row.EXTENT) !== 0 ||
        objcores.get(oc, row.ANNEX) !== 0 ||
        (transfers.size > 0 && transfers.get(oc) !== undefined)
      ) {
        this.discard(oc);
        continue;
      }
      this.cursors.forget(oc);
      const own = this.stevedoreOf(oc);
      if (own !== stevedore) {
        stevedore?.slab.freeAll(blocks, freed);
        freed = 0;
        stevedore = own;
      }
      const block = objcores.get(oc, row.HEAD_BLOCK);
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

  /** Frees a part of what discard() left. */
  reclaim(): void {
    const { objcores } = this;
    const oc = this.discarded[0] as Oc;
    if (oc === 0 || !freeBody(objcores, this.stevedoreOf(oc).slab, oc, EXTENTS_A_STEP)) return;
    this.discarded[0] = objcores.get(oc, row.KEY_NEXT);
    this.freeBytes(oc);
    objcores.give(oc);
  }

  /** A block of `wanted` bytes, or of at least `least`, evicting when the storage is full. */
  private room(oc: Oc, transfer: Transfer, wanted: number, least: number): number {
    return this.state.lock.hold(() => this.findRoom(oc, transfer, wanted, least));
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
        if (this.objcores.get(victim, row.REFS) === 1 && victim !== oc) break;
        victim = lru.younger(victim);
      }
      if (victim === 0 || this.objcores.get(victim, row.REFS) !== 1) {
        this.state.events.noVictim(oc);
        return 0;
      }
      transfer.nukesLeft--;
      this.state.counters.n_lru_nuked++;
      this.evict(victim, oc);
    }
  }
}

const EMPTY = Buffer.alloc(0);

function announcedBy(msg: HttpMessage): number {
  const declared = msg.get('content-length');
  return declared === null ? -1 : parseLength(declared);
}
