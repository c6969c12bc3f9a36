// Bodies in storage: first the bytes that fit after the head in its block, then a chain of extents.
//
// An extent is a block that starts with the reference of the next one and its number of body bytes. Nothing here evicts: the
// caller's `room` does. Caution: the first extents of a private body in transit are freed while the last ones are written.

import type { LentBytes } from '../../http1/lent-bytes.ts';
import { BODY_LENGTH, EXTENT, HEAD_BLOCK, INLINE_AT, META, type Oc, VXID } from '../objcore.ts';
import type { RowTable } from '../row-table.ts';
import type { Transfer } from '../transfers.ts';
import type { ChunkBytes, Slab } from './slab.ts';

/** Bytes of an extent before its data: next reference and length, 32-bit each. */
const EXTENT_HEADER = 8;
/** Smallest extent for a body of unknown length. */
const FIRST_GUESS = 4096;
/** Bodies of this many pages begin with a small part of one. The system clears unused memory two megabytes at a time, at the
 * first byte that is written there: many slices that begin at once would wait for pages that only their later bytes need. */
const LARGE = 4;
const FIRST_PART = 1 / 8;
/** Smallest leftover block worth an extent in a full store. */
const LEAST_LEFTOVER = 128;
/** Fewer bytes are faster copied without alignment. */
const WORTH_ALIGNING = 256;

/** Allocates a block of about `wanted` bytes, at least `least`, evicting if necessary; 0 when there is no room. */
export type Room = (wanted: number, least: number) => number;

/** Body bytes that fit after the head. */
function inlineCapacity(objcores: RowTable, slab: Slab, oc: Oc): number {
  const at = objcores.get(oc, INLINE_AT);
  return at === 0 ? 0 : slab.sizeOf(objcores.get(oc, HEAD_BLOCK) >>> 0) - at;
}

/** Appends bytes; false when there is no room, with part of them possibly stored. */
export function appendBody(
  objcores: RowTable,
  slab: Slab,
  oc: Oc,
  transfer: Transfer,
  buf: LentBytes,
  start: number,
  end: number,
  room: Room,
): boolean {
  let from = start;
  let length = objcores.getDouble(oc, BODY_LENGTH);
  const inline = inlineCapacity(objcores, slab, oc);
  if (length < inline && from < end) {
    const block = objcores.get(oc, HEAD_BLOCK) >>> 0;
    const count = Math.min(end - from, inline - length);
    copyIn(slab, block, slab.offset(block) + objcores.get(oc, INLINE_AT) + length, buf, from, count);
    from += count;
    length += count;
  }
  while (from < end) {
    const free =
      transfer.tail === 0 ? 0 : slab.sizeOf(transfer.tail) - EXTENT_HEADER - usedOf(slab, transfer.tail);
    if (free === 0) {
      const extent = newExtent(slab, transfer, end - from, length, room);
      if (extent === 0) {
        objcores.publishDouble(oc, BODY_LENGTH, length);
        return false;
      }
      if (transfer.tail === 0) {
        objcores.set(oc, EXTENT, extent);
        transfer.base = length;
      } else {
        setNext(slab, transfer.tail, extent);
      }
      transfer.tail = extent;
      continue;
    }
    const count = Math.min(end - from, free);
    const used = usedOf(slab, transfer.tail);
    copyIn(slab, transfer.tail, slab.offset(transfer.tail) + EXTENT_HEADER + used, buf, from, count);
    setUsed(slab, transfer.tail, used + count);
    from += count;
    length += count;
  }
  objcores.publishDouble(oc, BODY_LENGTH, length);
  return true;
}

/** Shortens the last block of a finished body. Only while it has no readers. */
export function trimBody(objcores: RowTable, slab: Slab, oc: Oc): void {
  let before = 0;
  let tail = objcores.get(oc, EXTENT) >>> 0;
  if (tail === 0) {
    trimInline(objcores, slab, oc);
    return;
  }
  for (let next = nextOf(slab, tail); next !== 0; next = nextOf(slab, tail)) {
    before = tail;
    tail = next;
  }
  const shorter = shortened(slab, tail, EXTENT_HEADER + usedOf(slab, tail));
  if (shorter === 0) return;
  if (before === 0) objcores.set(oc, EXTENT, shorter);
  else setNext(slab, before, shorter);
}

function trimInline(objcores: RowTable, slab: Slab, oc: Oc): void {
  const at = objcores.get(oc, INLINE_AT);
  if (at === 0) return;
  const shorter = shortened(
    slab,
    objcores.get(oc, HEAD_BLOCK) >>> 0,
    at + objcores.getDouble(oc, BODY_LENGTH),
  );
  if (shorter !== 0) objcores.set(oc, HEAD_BLOCK, shorter);
}

/** A copy of the first `bytes` of a block in a smaller one, the old one freed; 0 when that gains little. */
function shortened(slab: Slab, block: number, bytes: number): number {
  const size = slab.sizeOf(block);
  // Not worth a copy for less than an eighth.
  if ((size - bytes) * 8 < size) return 0;
  const shorter = slab.alloc(bytes);
  if (shorter === 0) return 0;
  if (slab.sizeOf(shorter) >= size) {
    slab.free(shorter);
    return 0;
  }
  const from = slab.offset(block);
  slab.chunk(shorter).set(slab.chunk(block).subarray(from, from + bytes), slab.offset(shorter));
  slab.free(block);
  return shorter;
}

/** Frees the extents that end at or before body offset `upTo`. */
export function consumeBody(objcores: RowTable, slab: Slab, oc: Oc, transfer: Transfer, upTo: number): void {
  transfer.consumed = Math.max(transfer.consumed, upTo);
  let first = objcores.get(oc, EXTENT) >>> 0;
  while (first !== 0) {
    const end = transfer.base + usedOf(slab, first);
    const full = first !== transfer.tail || usedOf(slab, first) === slab.sizeOf(first) - EXTENT_HEADER;
    if (end > upTo || !full) break;
    const next = nextOf(slab, first);
    slab.free(first);
    transfer.base = end;
    if (next === 0) transfer.tail = 0;
    first = next;
  }
  objcores.set(oc, EXTENT, first);
}

/** Frees at most `most` extents from the first one on; true when none is left. */
export function freeBody(objcores: RowTable, slab: Slab, oc: Oc, most: number): boolean {
  let extent = objcores.get(oc, EXTENT) >>> 0;
  for (let count = 0; extent !== 0 && count < most; count++) {
    const next = nextOf(slab, extent);
    slab.free(extent);
    extent = next;
  }
  objcores.set(oc, EXTENT, extent);
  return extent === 0;
}

/** A position in a body, moved forward piece by piece without copying. Reusable: start() resets it. The views it yields are
 * valid while the reader holds a reference to the object and has not consumed them. */
export class BodyCursor {
  /** Body offset of the next piece. */
  at = 0;
  private extent = 0;
  /** Body offset at which `extent` starts. */
  private extentAt = 0;

  start(): void {
    this.at = 0;
    this.extent = 0;
    this.extentAt = 0;
  }

  /** Locates the bytes at `at` of a body that has `length` so far: sets `chunk` and `from`, and returns how many there are, at
   * most `max`; 0 when no more are stored yet. */
  locate(objcores: RowTable, slab: Slab, oc: Oc, base: number, length: number, max: number): number {
    if (this.at >= length) return 0;
    const inline = inlineCapacity(objcores, slab, oc);
    if (this.at < inline) {
      const block = objcores.get(oc, HEAD_BLOCK) >>> 0;
      this.chunk = slab.chunk(block);
      this.from = slab.offset(block) + objcores.get(oc, INLINE_AT) + this.at;
      return Math.min(max, Math.min(inline, length) - this.at);
    }
    if (this.extent === 0 || this.extentAt > this.at) {
      this.extent = objcores.get(oc, EXTENT) >>> 0;
      this.extentAt = base === 0 ? inline : base;
    }
    while (this.at >= this.extentAt + usedOf(slab, this.extent)) {
      this.extentAt += usedOf(slab, this.extent);
      this.extent = nextOf(slab, this.extent);
    }
    this.chunk = slab.chunk(this.extent);
    this.from = slab.offset(this.extent) + EXTENT_HEADER + (this.at - this.extentAt);
    return Math.min(max, Math.min(this.extentAt + usedOf(slab, this.extent), length) - this.at);
  }

  chunk: ChunkBytes | null = null;
  from = 0;
}

/** Bodies whose last read position is kept; a power of two. A guess at the number of bodies that are read concurrently. */
const CURSORS = 64;

interface KeptCursor {
  oc: Oc;
  vxid: number;
  meta: number;
  readonly cursor: BodyCursor;
}

/** The last read positions of bodies, each valid while the object's row is as it was then. */
export class KeptCursors {
  private readonly objcores: RowTable;
  private readonly entries: KeptCursor[] = Array.from({ length: CURSORS }, () => ({
    oc: 0,
    vxid: 0,
    meta: 0,
    cursor: new BodyCursor(),
  }));

  constructor(objcores: RowTable) {
    this.objcores = objcores;
  }

  of(oc: Oc): BodyCursor {
    const entry = this.entries[oc & (CURSORS - 1)] as KeptCursor;
    const vxid = this.objcores.get(oc, VXID);
    const meta = this.objcores.get(oc, META);
    // Another thread may have shortened the last block, which changes META, or freed the row, whose next object has another VXID.
    if (entry.oc !== oc || entry.vxid !== vxid || entry.meta !== meta) {
      entry.oc = oc;
      entry.vxid = vxid;
      entry.meta = meta;
      entry.cursor.start();
    }
    return entry.cursor;
  }

  forget(oc: Oc): void {
    const entry = this.entries[oc & (CURSORS - 1)] as KeptCursor;
    if (entry.oc === oc) entry.oc = 0;
  }
}

function newExtent(slab: Slab, transfer: Transfer, pending: number, length: number, room: Room): number {
  const rest = Math.max(pending, transfer.expected - length, 0);
  const wanted = transfer.expected > length ? rest : Math.max(pending, FIRST_GUESS, length);
  const classes = slab.classes;
  const first = classes.pageSize * FIRST_PART;
  const isSmall = length + pending + EXTENT_HEADER <= first && wanted >= LARGE * classes.pageSize;
  let bytes = isSmall ? first : Math.min(wanted + EXTENT_HEADER, classes.pageSize);
  // Two extents waste less than one when the class above is much too large.
  if (bytes > 1024 && classes.wasteful(bytes)) bytes = classes.sizes[classes.floor(bytes)] as number;
  const extent = room(bytes, Math.min(bytes, LEAST_LEFTOVER));
  if (extent !== 0) {
    setNext(slab, extent, 0);
    setUsed(slab, extent, 0);
  }
  return extent;
}

/** Bytes whose alignment differs from the block's are first copied to aligned scratch memory: shared memory is copied eight
 * bytes at a time only then, which was measured to halve the time of a kilobyte. */
function copyIn(slab: Slab, block: number, at: number, buf: LentBytes, start: number, count: number): void {
  const to = slab.chunk(block);
  const lead = (to.byteOffset + at) & 7;
  if (count < WORTH_ALIGNING || ((buf.byteOffset + start) & 7) === lead) {
    to.set(start === 0 && count === buf.length ? buf : buf.subarray(start, start + count), at);
    return;
  }
  const { scratch } = slab;
  const most = scratch.length - 8;
  for (let done = 0; done < count; ) {
    const n = Math.min(most, count - done);
    scratch.set(buf.subarray(start + done, start + done + n), lead);
    to.set(scratch.subarray(lead, lead + n), at + done);
    done += n;
  }
}

function nextOf(slab: Slab, extent: number): number {
  return slab.chunkWords(extent)[slab.offset(extent) >>> 2] as number;
}

function setNext(slab: Slab, extent: number, next: number): void {
  slab.chunkWords(extent)[slab.offset(extent) >>> 2] = next;
}

function usedOf(slab: Slab, extent: number): number {
  return slab.chunkWords(extent)[(slab.offset(extent) >>> 2) + 1] as number;
}

function setUsed(slab: Slab, extent: number, used: number): void {
  slab.chunkWords(extent)[(slab.offset(extent) >>> 2) + 1] = used;
}
