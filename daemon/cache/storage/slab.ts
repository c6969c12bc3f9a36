// A slab allocator over chunks of SharedArrayBuffer: blocks of fixed size classes, cut from pages.
//
// Knows block references (32-bit numbers, 0 is none), never JavaScript objects, and never evicts: when the
// configured size is used up it says so. A page serves one class until its last block is free and then any
// class again. Caution: what is larger than a page takes a run of neighbouring pages of one chunk.

import { type Piece, Regions } from './regions.ts';
import { GRANULE, SizeClasses } from './size-classes.ts';

const GRANULE_SHIFT = 4;
/** Values of pageClass that are no size class. */
const FREE = 255;
const RUN = 254;
const RUN_REST = 253;
const ABSENT = 252;

/** Chunk memory. Node's Buffer has the two methods; its types leave them out. */
export interface ChunkBytes extends Buffer {
  latin1Slice(start: number, end: number): string;
  latin1Write(text: string, at: number, length: number): number;
}

/** The SMA counters of Varnish, by their names. */
export interface SlabStats {
  c_req: number;
  c_fail: number;
  c_bytes: number;
  c_freed: number;
  g_alloc: number;
  g_bytes: number;
}

export class Slab {
  /** Configured size in bytes; 0 is unlimited. */
  readonly size: number;
  readonly classes: SizeClasses;
  readonly stats: SlabStats = { c_req: 0, c_fail: 0, c_bytes: 0, c_freed: 0, g_alloc: 0, g_bytes: 0 };
  /** Chunk memory by chunk number, from 1; a given-back chunk is null. */
  readonly bytes: (ChunkBytes | null)[] = [null];
  /** Plain memory in which to arrange what is to be copied into a block; begins at a multiple of 8. */
  readonly scratch = Buffer.allocUnsafeSlow(16 * 1024);
  private readonly words: (Uint32Array | null)[] = [null];
  private readonly pieces: Piece[] = [];
  private readonly regions: Regions;
  /** Shift from a block reference to its chunk number, and the mask of what remains. */
  readonly chunkShift: number;
  readonly chunkMask: number;
  private readonly pageShift: number;
  private readonly pagesPerChunk: number;
  private readonly maxPages: number;
  private pagesMade = 0;
  /** Pages in use, by chunk. */
  private readonly chunkUsed: number[] = [0];
  private readonly absentChunks: number[] = [];
  private emptyChunks = 0;
  private pageClass: Uint8Array = new Uint8Array(0);
  /** Blocks in use of a class page; number of pages of a run. */
  private pageUsed: Uint16Array = new Uint16Array(0);
  /** Blocks of the page that were ever handed out: those beyond need no free list. */
  private pageBump: Uint16Array = new Uint16Array(0);
  /** First free block below the bump, plus one; the chain runs through the free blocks' first word. */
  private pageFree: Uint16Array = new Uint16Array(0);
  private pagePrev: Int32Array = new Int32Array(0);
  private pageNext: Int32Array = new Int32Array(0);
  private freePages = 0;
  /** First page with a free block, by class. */
  private readonly partial: Int32Array;
  private readonly perPage: number[];
  /** The words that touchAll() read, folded: without a use of them the compiler would leave the reads out. */
  touched = 0;

  constructor(size: number) {
    this.size = size;
    this.pageShift = pageShiftFor(size);
    const pageSize = 1 << this.pageShift;
    const chunk = size >= 2 ** 30 ? 4 << 20 : 1 << 20;
    this.regions = new Regions(chunk);
    this.pagesPerChunk = chunk >>> this.pageShift;
    this.chunkShift = Math.log2(chunk) - GRANULE_SHIFT;
    this.chunkMask = (1 << this.chunkShift) - 1;
    // References are 32 bits of granules, the first chunk number is not used: just under 64 GiB.
    const limit = Math.min(size === 0 ? Number.POSITIVE_INFINITY : size, 2 ** 32 * GRANULE - 2 * chunk);
    this.maxPages = Math.floor(limit / pageSize);
    this.classes = new SizeClasses(pageSize);
    this.partial = new Int32Array(this.classes.sizes.length);
    this.perPage = this.classes.sizes.map((bytes) => Math.floor(pageSize / bytes));
  }

  /** g_space: what the configured size leaves; 0 when unlimited. */
  get space(): number {
    return this.size === 0 ? 0 : Math.max(0, this.size - this.stats.g_bytes);
  }

  /** Bytes of memory taken from the system. */
  get resident(): number {
    return this.pagesMade << this.pageShift;
  }

  /** A block of `bytes`; when no memory is left for one, any free block of at least `least` bytes, so that
   * space freed in other classes is of use. 0 when there is none. */
  alloc(bytes: number, least: number = bytes): number {
    const cls = this.classes.ceil(bytes);
    const ref = (cls < 0 ? this.takeRun(bytes) : this.take(cls)) || this.takeLeftover(bytes, least);
    this.stats.c_req++;
    if (ref === 0) {
      this.stats.c_fail++;
      return 0;
    }
    const got = this.sizeOf(ref);
    this.stats.c_bytes += got;
    this.stats.g_bytes += got;
    this.stats.g_alloc++;
    return ref;
  }

  free(ref: number): void {
    this.countFreed(this.release(ref), 1);
  }

  /** Frees the first `count` blocks of a list. */
  freeAll(refs: Uint32Array, count: number): void {
    let bytes = 0;
    for (let i = 0; i < count; i++) bytes += this.release(refs[i] as number);
    this.countFreed(bytes, count);
  }

  private countFreed(bytes: number, blocks: number): void {
    const { stats } = this;
    stats.c_freed += bytes;
    stats.g_bytes -= bytes;
    stats.g_alloc -= blocks;
  }

  /** Frees a block and leaves the counters as they are; returns its size. */
  private release(ref: number): number {
    const page = ref >>> (this.pageShift - GRANULE_SHIFT);
    const cls = this.pageClass[page] as number;
    if (cls === RUN) {
      const pages = this.pageUsed[page] as number;
      for (let i = pages - 1; i >= 0; i--) this.releasePage(page + i);
      return pages << this.pageShift;
    }
    const bytes = this.classes.sizes[cls] as number;
    const used = (this.pageUsed[page] as number) - 1;
    this.pageUsed[page] = used;
    const full = used === (this.perPage[cls] as number) - 1;
    if (used === 0) {
      if (!full) this.unlink(page, cls);
      this.releasePage(page);
      return bytes;
    }
    const granules = bytes >>> GRANULE_SHIFT;
    const inPage = ref & ((1 << (this.pageShift - GRANULE_SHIFT)) - 1);
    const words = this.words[ref >>> this.chunkShift] as Uint32Array;
    words[(ref & this.chunkMask) << 2] = this.pageFree[page] as number;
    this.pageFree[page] = inPage / granules + 1;
    if (full) this.link(page, cls);
    return bytes;
  }

  /** Usable bytes of a block. */
  sizeOf(ref: number): number {
    const page = ref >>> (this.pageShift - GRANULE_SHIFT);
    const cls = this.pageClass[page] as number;
    if (cls === RUN) return (this.pageUsed[page] as number) << this.pageShift;
    return this.classes.sizes[cls] as number;
  }

  /** The memory of the chunk that holds the block; offset() is where in it. */
  chunk(ref: number): ChunkBytes {
    return this.bytes[ref >>> this.chunkShift] as ChunkBytes;
  }

  /** Byte offset of the block in its chunk. */
  offset(ref: number): number {
    return (ref & this.chunkMask) << GRANULE_SHIFT;
  }

  /** Reads the beginnings of many blocks; see RowTable.touchAll(). */
  touchAll(refs: Uint32Array, count: number): void {
    const { words, chunkShift, chunkMask } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const ref = refs[i] as number;
      sum ^= (words[ref >>> chunkShift] as Uint32Array)[(ref & chunkMask) << 2] as number;
    }
    this.touched = sum;
  }

  /** The same memory as 32-bit words; a block starts at word offset() / 4. */
  chunkWords(ref: number): Uint32Array {
    return this.words[ref >>> this.chunkShift] as Uint32Array;
  }

  /** From pages in use only: the next larger block there is, else the next smaller one. */
  private takeLeftover(bytes: number, least: number): number {
    const from = this.classes.ceil(least);
    if (from < 0) return 0;
    const best = Math.max(from, this.classes.ceil(Math.min(bytes, this.classes.pageSize)));
    for (let cls = best; cls < this.partial.length; cls++) if (this.partial[cls] !== 0) return this.take(cls);
    for (let cls = best - 1; cls >= from; cls--) if (this.partial[cls] !== 0) return this.take(cls);
    return 0;
  }

  private take(cls: number): number {
    let page = this.partial[cls] as number;
    if (page === 0) {
      if (this.freePages === 0 && !this.grow()) return 0;
      page = this.freePages;
      this.claimPage(page, cls);
      this.pageUsed[page] = 0;
      this.pageBump[page] = 0;
      this.pageFree[page] = 0;
      this.link(page, cls);
    }
    const granules = (this.classes.sizes[cls] as number) >>> GRANULE_SHIFT;
    const base = page * (1 << (this.pageShift - GRANULE_SHIFT));
    let ref: number;
    const first = this.pageFree[page] as number;
    if (first === 0) {
      ref = base + (this.pageBump[page] as number) * granules;
      this.pageBump[page] = (this.pageBump[page] as number) + 1;
    } else {
      ref = base + (first - 1) * granules;
      const words = this.words[ref >>> this.chunkShift] as Uint32Array;
      this.pageFree[page] = words[(ref & this.chunkMask) << 2] as number;
    }
    const used = (this.pageUsed[page] as number) + 1;
    this.pageUsed[page] = used;
    if (used === this.perPage[cls]) this.unlink(page, cls);
    return ref;
  }

  private takeRun(bytes: number): number {
    const pages = Math.ceil(bytes / this.classes.pageSize);
    if (pages > this.pagesPerChunk) return 0;
    for (;;) {
      for (let chunk = 1; chunk < this.bytes.length; chunk++) {
        if (this.pagesPerChunk - (this.chunkUsed[chunk] as number) < pages) continue;
        const first = this.findRun(chunk * this.pagesPerChunk, pages);
        if (first === 0) continue;
        for (let i = 0; i < pages; i++) this.claimPage(first + i, i === 0 ? RUN : RUN_REST);
        this.pageUsed[first] = pages;
        return first * (1 << (this.pageShift - GRANULE_SHIFT));
      }
      if (!this.grow()) return 0;
    }
  }

  /** First page of `pages` free neighbours in the chunk that starts at page `from`; 0 when there are none. */
  private findRun(from: number, pages: number): number {
    let found = 0;
    for (let page = from; page < from + this.pagesPerChunk; page++) {
      found = this.pageClass[page] === FREE ? found + 1 : 0;
      if (found === pages) return page - pages + 1;
    }
    return 0;
  }

  private claimPage(page: number, cls: number): void {
    const next = this.pageNext[page] as number;
    const prev = this.pagePrev[page] as number;
    if (prev === 0) this.freePages = next;
    else this.pageNext[prev] = next;
    if (next !== 0) this.pagePrev[next] = prev;
    this.pageClass[page] = cls;
    const chunk = Math.floor(page / this.pagesPerChunk);
    if (this.chunkUsed[chunk] === 0) this.emptyChunks--;
    this.chunkUsed[chunk] = (this.chunkUsed[chunk] as number) + 1;
  }

  private releasePage(page: number): void {
    this.addFreePage(page);
    const chunk = Math.floor(page / this.pagesPerChunk);
    const used = (this.chunkUsed[chunk] as number) - 1;
    this.chunkUsed[chunk] = used;
    if (used > 0) return;
    this.emptyChunks++;
    // A bounded store keeps its memory: freed buffers linger until a collection, which would break the bound.
    if (this.size === 0 && this.emptyChunks > 2) this.dropChunk(chunk);
  }

  private addFreePage(page: number): void {
    this.pageClass[page] = FREE;
    this.pagePrev[page] = 0;
    this.pageNext[page] = this.freePages;
    if (this.freePages !== 0) this.pagePrev[this.freePages] = page;
    this.freePages = page;
  }

  private dropChunk(chunk: number): void {
    for (let i = 0; i < this.pagesPerChunk; i++) {
      const page = chunk * this.pagesPerChunk + i;
      const next = this.pageNext[page] as number;
      const prev = this.pagePrev[page] as number;
      if (prev === 0) this.freePages = next;
      else this.pageNext[prev] = next;
      if (next !== 0) this.pagePrev[next] = prev;
      this.pageClass[page] = ABSENT;
    }
    this.regions.give(this.pieces[chunk] as Piece);
    this.bytes[chunk] = null;
    this.words[chunk] = null;
    this.emptyChunks--;
    this.pagesMade -= this.pagesPerChunk;
    this.absentChunks.push(chunk);
  }

  /** One more chunk, smaller when the size leaves less; false when the size is used up. */
  private grow(): boolean {
    const pages = Math.min(this.pagesPerChunk, this.maxPages - this.pagesMade);
    if (pages <= 0) return false;
    const chunk = this.absentChunks.pop() ?? this.bytes.length;
    const piece = this.regions.take();
    const { memory, at } = piece;
    const bytes = pages << this.pageShift;
    this.pieces[chunk] = piece;
    this.bytes[chunk] = Buffer.from(memory, at, bytes) as ChunkBytes;
    this.words[chunk] = new Uint32Array(memory, at, bytes >>> 2);
    this.chunkUsed[chunk] = 0;
    this.emptyChunks++;
    this.pagesMade += pages;
    const first = chunk * this.pagesPerChunk;
    this.roomForPages(first + this.pagesPerChunk);
    this.pageClass.fill(ABSENT, first, first + this.pagesPerChunk);
    for (let i = pages - 1; i >= 0; i--) this.addFreePage(first + i);
    return true;
  }

  private roomForPages(pages: number): void {
    if (pages <= this.pageClass.length) return;
    const room = Math.max(pages, this.pageClass.length * 2);
    this.pageClass = grown(this.pageClass, new Uint8Array(room));
    this.pageUsed = grown(this.pageUsed, new Uint16Array(room));
    this.pageBump = grown(this.pageBump, new Uint16Array(room));
    this.pageFree = grown(this.pageFree, new Uint16Array(room));
    this.pagePrev = grown(this.pagePrev, new Int32Array(room));
    this.pageNext = grown(this.pageNext, new Int32Array(room));
  }

  private link(page: number, cls: number): void {
    const first = this.partial[cls] as number;
    this.pagePrev[page] = 0;
    this.pageNext[page] = first;
    if (first !== 0) this.pagePrev[first] = page;
    this.partial[cls] = page;
  }

  private unlink(page: number, cls: number): void {
    const next = this.pageNext[page] as number;
    const prev = this.pagePrev[page] as number;
    if (prev === 0) this.partial[cls] = next;
    else this.pageNext[prev] = next;
    if (next !== 0) this.pagePrev[next] = prev;
  }
}

/** Small stores take small pages, as each class in use strands part of one; what a page leaves over at its end
 * weighs less in a large one. */
function pageShiftFor(size: number): number {
  if (size >= 2 ** 30) return 18;
  if (size === 0 || size >= 64 << 20) return 16;
  return size >= 4 << 20 ? 14 : 12;
}

function grown<A extends Uint8Array | Uint16Array | Int32Array>(old: A, bigger: A): A {
  bigger.set(old);
  return bigger;
}
