// A slab allocator over chunks of SharedArrayBuffer: blocks of fixed size classes, cut from pages.
//
// Blocks are references (32-bit numbers, 0 is none). Never evicts: alloc() returns 0 when the configured size is used up. A
// page serves one class until its last block is free, and then any class. Caution: a block larger than a page is a run of
// adjacent pages of one chunk.

import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { Regions } from './regions.ts';
import { GRANULE, SizeClasses } from './size-classes.ts';

const GRANULE_SHIFT = 4;
/** Values of pageClass that are not size classes. */
const FREE = 255;
const RUN = 254;
const RUN_REST = 253;
const ABSENT = 252;

/** Words of the slab itself; followed by the first page with a free block of each class. */
const PAGES_MADE = 0;
const FREE_PAGES = 1;
const EMPTY_CHUNKS = 2;
/** Chunks made, plus one: numbers begin at 1. */
const CHUNKS = 3;
/** Capacity of the page records. */
const PAGE_ROOM = 4;
const SLAB_WORDS = 5;

/** Indices of the figures, in the order of SlabStats. */
const C_REQ = 0;
const C_FAIL = 1;
const C_BYTES = 2;
const C_FREED = 3;
const G_ALLOC = 4;
const G_BYTES = 5;
const FIGURES = 6;

/** Fills freed memory in debug mode: not a byte of a head, and no first byte of UTF-8 text. */
const FREED = 0xbe;

/** Bytes of the records of a page. */
const PAGE_RECORD = 17;

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
  /** Chunk memory by chunk number, from 1; a given-back chunk is null. */
  readonly bytes: (ChunkBytes | null)[] = [null];
  /** Unshared scratch memory to align bytes before they are copied into a block; aligned to 8. */
  readonly scratch = Buffer.allocUnsafeSlow(16 * 1024);
  private readonly words: (Uint32Array | null)[] = [null];
  private readonly memory: MemoryPart;
  private readonly regions: Regions;
  private readonly own: Int32Array;
  private readonly figures: Float64Array;
  /** Shift from a block reference to its chunk number, and the mask of what remains. */
  readonly chunkShift: number;
  readonly chunkMask: number;
  private readonly pageShift: number;
  private readonly pagesPerChunk: number;
  private readonly maxPages: number;
  /** Chunks that were freed, and are made again first: only with one thread. */
  private readonly absentChunks: number[] = [];
  /** Capacity of the page records below; a thread may know fewer pages than there are. */
  private knownRoom = 0;
  private pageClass: Uint8Array = new Uint8Array(0);
  /** Blocks in use of a class page; number of pages of a run. */
  private pageUsed: Uint16Array = new Uint16Array(0);
  /** Blocks of the page that were ever allocated: those beyond are not in the free list. */
  private pageBump: Uint16Array = new Uint16Array(0);
  /** First free block below the bump, plus one; the chain runs through the free blocks' first word. */
  private pageFree: Uint16Array = new Uint16Array(0);
  private pagePrev: Int32Array = new Int32Array(0);
  private pageNext: Int32Array = new Int32Array(0);
  /** Pages in use, by chunk: at the chunk's first page. */
  private chunkUsed: Uint16Array = new Uint16Array(0);
  /** First page with a free block, by class. */
  private readonly partial: Int32Array;
  private readonly perPage: number[];
  /** Result of the reads of touchAll(): unused reads would be optimised away. */
  touched = 0;
  /** Debug mode: freed blocks are overwritten, to detect use after free. */
  overwritesFreed = false;

  constructor(size: number, memory: MemoryPart = ownMemory()) {
    this.size = size;
    this.memory = memory;
    this.pageShift = pageShiftFor(size);
    const pageSize = 1 << this.pageShift;
    const isLarge = size >= 2 ** 30;
    const chunk = isLarge ? 4 << 20 : 1 << 20;
    // Mappings below two megabytes get no huge pages. Those pay where millions of objects are read at random; where the
    // memory of a virtual machine is reported as free, the first use of one costs three times as much as that of small
    // pages (decision 14), which a small store pays for each large body until it is full.
    this.regions = new Regions(chunk, memory.part('chunks'), isLarge || size === 0 ? undefined : chunk);
    this.pagesPerChunk = chunk >>> this.pageShift;
    this.chunkShift = Math.log2(chunk) - GRANULE_SHIFT;
    this.chunkMask = (1 << this.chunkShift) - 1;
    // References are 32 bits of granules, the first chunk number is not used: just under 64 GiB.
    const limit = Math.min(size === 0 ? Number.POSITIVE_INFINITY : size, 2 ** 32 * GRANULE - 2 * chunk);
    this.maxPages = Math.floor(limit / pageSize);
    this.classes = new SizeClasses(pageSize);
    const classes = this.classes.sizes.length;
    this.own = memory.words(SLAB_WORDS + classes);
    this.partial = this.own.subarray(SLAB_WORDS);
    this.figures = new Float64Array(memory.piece('figures', FIGURES * 8));
    if (this.own[CHUNKS] === 0) this.own[CHUNKS] = 1;
    this.perPage = this.classes.sizes.map((bytes) => Math.floor(pageSize / bytes));
    this.attach();
    memory.onGrowth(() => this.attach());
  }

  get stats(): SlabStats {
    const { figures } = this;
    return {
      c_req: figures[C_REQ] as number,
      c_fail: figures[C_FAIL] as number,
      c_bytes: figures[C_BYTES] as number,
      c_freed: figures[C_FREED] as number,
      g_alloc: figures[G_ALLOC] as number,
      g_bytes: figures[G_BYTES] as number,
    };
  }

  /** Blocks in use. */
  get blocks(): number {
    return this.figures[G_ALLOC] as number;
  }

  /** g_space: bytes left of the configured size; 0 when unlimited. */
  get space(): number {
    return this.size === 0 ? 0 : Math.max(0, this.size - (this.figures[G_BYTES] as number));
  }

  /** Bytes of memory taken from the system. */
  get resident(): number {
    return (this.own[PAGES_MADE] as number) * 2 ** this.pageShift;
  }

  /** A block of `bytes`; when there is no memory for one, any free block of at least `least` bytes, so that space freed in other
   * classes is used. 0 when there is none. */
  alloc(bytes: number, least: number = bytes): number {
    this.memory.assertHeld();
    const cls = this.classes.ceil(bytes);
    const ref = (cls < 0 ? this.takeRun(bytes) : this.take(cls)) || this.takeLeftover(bytes, least);
    const { figures } = this;
    figures[C_REQ] = (figures[C_REQ] as number) + 1;
    if (ref === 0) {
      figures[C_FAIL] = (figures[C_FAIL] as number) + 1;
      return 0;
    }
    const got = this.sizeOf(ref);
    figures[C_BYTES] = (figures[C_BYTES] as number) + got;
    figures[G_BYTES] = (figures[G_BYTES] as number) + got;
    figures[G_ALLOC] = (figures[G_ALLOC] as number) + 1;
    return ref;
  }

  free(ref: number): void {
    this.memory.assertHeld();
    this.countFreed(this.release(ref), 1);
  }

  /** Frees the first `count` blocks of a list. */
  freeAll(refs: Uint32Array, count: number): void {
    this.memory.assertHeld();
    let bytes = 0;
    for (let i = 0; i < count; i++) bytes += this.release(refs[i] as number);
    this.countFreed(bytes, count);
  }

  private countFreed(bytes: number, blocks: number): void {
    const { figures } = this;
    figures[C_FREED] = (figures[C_FREED] as number) + bytes;
    figures[G_BYTES] = (figures[G_BYTES] as number) - bytes;
    figures[G_ALLOC] = (figures[G_ALLOC] as number) - blocks;
  }

  /** Frees a block without counting it; returns its size. */
  private release(ref: number): number {
    if (this.overwritesFreed)
      this.chunk(ref).fill(FREED, this.offset(ref), this.offset(ref) + this.sizeOf(ref));
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

  /** Memory of the chunk of a block; offset() is the block's position in it. */
  chunk(ref: number): ChunkBytes {
    return this.bytes[ref >>> this.chunkShift] as ChunkBytes;
  }

  /** Byte offset of the block in its chunk. */
  offset(ref: number): number {
    return (ref & this.chunkMask) << GRANULE_SHIFT;
  }

  /** Prefetches the beginnings of many blocks; see RowTable.touchAll(). */
  touchAll(refs: Uint32Array, count: number): void {
    const { words, chunkShift, chunkMask } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const ref = refs[i] as number;
      sum ^= (words[ref >>> chunkShift] as Uint32Array)[(ref & chunkMask) << 2] as number;
    }
    this.touched = sum;
  }

  /** Whether this thread has mapped a block; a reference read without the lock may be stale. */
  knows(ref: number): boolean {
    return (this.words[ref >>> this.chunkShift] ?? null) !== null;
  }

  /** The same memory as 32-bit words; a block starts at word offset() / 4. */
  chunkWords(ref: number): Uint32Array {
    return this.words[ref >>> this.chunkShift] as Uint32Array;
  }

  /** From pages in use: the next larger free block, else the next smaller one. */
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
      if (this.own[FREE_PAGES] === 0 && !this.grow()) return 0;
      page = this.own[FREE_PAGES] as number;
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
      for (let chunk = 1; chunk < (this.own[CHUNKS] as number); chunk++) {
        if (this.pagesPerChunk - this.usedOf(chunk) < pages) continue;
        const first = this.findRun(chunk * this.pagesPerChunk, pages);
        if (first === 0) continue;
        for (let i = 0; i < pages; i++) this.claimPage(first + i, i === 0 ? RUN : RUN_REST);
        this.pageUsed[first] = pages;
        return first * (1 << (this.pageShift - GRANULE_SHIFT));
      }
      if (!this.grow()) return 0;
    }
  }

  /** First of `pages` adjacent free pages in the chunk that starts at page `from`; 0 when there are none. */
  private findRun(from: number, pages: number): number {
    let found = 0;
    for (let page = from; page < from + this.pagesPerChunk; page++) {
      found = this.pageClass[page] === FREE ? found + 1 : 0;
      if (found === pages) return page - pages + 1;
    }
    return 0;
  }

  /** Pages of a chunk in use. */
  private usedOf(chunk: number): number {
    return this.chunkUsed[chunk * this.pagesPerChunk] as number;
  }

  private claimPage(page: number, cls: number): void {
    const { own } = this;
    const next = this.pageNext[page] as number;
    const prev = this.pagePrev[page] as number;
    if (prev === 0) own[FREE_PAGES] = next;
    else this.pageNext[prev] = next;
    if (next !== 0) this.pagePrev[next] = prev;
    this.pageClass[page] = cls;
    const first = page - (page % this.pagesPerChunk);
    const used = this.chunkUsed[first] as number;
    if (used === 0) own[EMPTY_CHUNKS] = (own[EMPTY_CHUNKS] as number) - 1;
    this.chunkUsed[first] = used + 1;
  }

  private releasePage(page: number): void {
    const { own } = this;
    this.addFreePage(page);
    const chunk = Math.floor(page / this.pagesPerChunk);
    const used = this.usedOf(chunk) - 1;
    this.chunkUsed[chunk * this.pagesPerChunk] = used;
    if (used > 0) return;
    own[EMPTY_CHUNKS] = (own[EMPTY_CHUNKS] as number) + 1;
    // A bounded store keeps its memory: freed buffers linger until a collection, which would break the bound. So does a shared
    // one, since other threads may still have views of it.
    if (this.size === 0 && (own[EMPTY_CHUNKS] as number) > 2 && !this.memory.isShared) this.dropChunk(chunk);
  }

  private addFreePage(page: number): void {
    const { own } = this;
    const first = own[FREE_PAGES] as number;
    this.pageClass[page] = FREE;
    this.pagePrev[page] = 0;
    this.pageNext[page] = first;
    if (first !== 0) this.pagePrev[first] = page;
    own[FREE_PAGES] = page;
  }

  private dropChunk(chunk: number): void {
    const { own } = this;
    for (let i = 0; i < this.pagesPerChunk; i++) {
      const page = chunk * this.pagesPerChunk + i;
      const next = this.pageNext[page] as number;
      const prev = this.pagePrev[page] as number;
      if (prev === 0) own[FREE_PAGES] = next;
      else this.pageNext[prev] = next;
      if (next !== 0) this.pagePrev[next] = prev;
      this.pageClass[page] = ABSENT;
    }
    this.regions.give(chunk - 1);
    this.bytes[chunk] = null;
    this.words[chunk] = null;
    own[EMPTY_CHUNKS] = (own[EMPTY_CHUNKS] as number) - 1;
    own[PAGES_MADE] = (own[PAGES_MADE] as number) - this.pagesPerChunk;
    this.absentChunks.push(chunk);
  }

  /** Adds a chunk, a smaller one at the end of the configured size; false when that is used up. */
  private grow(): boolean {
    const { own } = this;
    const pages = Math.min(this.pagesPerChunk, this.maxPages - (own[PAGES_MADE] as number));
    if (pages <= 0) return false;
    const chunk = this.absentChunks.pop() ?? (own[CHUNKS] as number);
    const { memory, at } = this.regions.take(chunk - 1);
    if (chunk < this.bytes.length && this.bytes[chunk] === null) this.mapChunk(chunk, memory, at);
    else this.attach();
    const first = chunk * this.pagesPerChunk;
    this.roomForPages(first + this.pagesPerChunk);
    this.chunkUsed[first] = 0;
    own[EMPTY_CHUNKS] = (own[EMPTY_CHUNKS] as number) + 1;
    own[PAGES_MADE] = (own[PAGES_MADE] as number) + pages;
    own[CHUNKS] = Math.max(own[CHUNKS] as number, chunk + 1);
    this.pageClass.fill(ABSENT, first, first + this.pagesPerChunk);
    for (let i = pages - 1; i >= 0; i--) this.addFreePage(first + i);
    return true;
  }

  /** Maps chunks and page records that this or another thread has made. */
  private attach(): void {
    for (const { memory, at } of this.regions.made(this.bytes.length - 1)) {
      this.mapChunk(this.bytes.length, memory, at);
    }
    const room = Atomics.load(this.own, PAGE_ROOM);
    const records = room === this.knownRoom ? undefined : this.memory.find(`pages${room}`);
    if (records !== undefined) this.mapRecords(records, room);
  }

  private mapChunk(chunk: number, memory: SharedArrayBuffer, at: number): void {
    const bytes = this.pagesPerChunk << this.pageShift;
    this.bytes[chunk] = Buffer.from(memory, at, bytes) as ChunkBytes;
    this.words[chunk] = new Uint32Array(memory, at, bytes >>> 2);
  }

  private roomForPages(pages: number): void {
    const known = this.knownRoom;
    if (pages <= known) return;
    const room = Math.max(pages, known * 2);
    const { pagePrev, pageNext, pageUsed, pageBump, pageFree, chunkUsed, pageClass } = this;
    this.mapRecords(this.memory.piece(`pages${room}`, room * PAGE_RECORD), room);
    this.pagePrev.set(pagePrev);
    this.pageNext.set(pageNext);
    this.pageUsed.set(pageUsed);
    this.pageBump.set(pageBump);
    this.pageFree.set(pageFree);
    this.chunkUsed.set(chunkUsed);
    this.pageClass.set(pageClass);
    Atomics.store(this.own, PAGE_ROOM, room);
    this.memory.announce();
    if (!this.memory.isShared && known > 0) this.memory.drop(`pages${known}`);
  }

  /** Maps the records of `room` pages, one array after the other. */
  private mapRecords(memory: SharedArrayBuffer, room: number): void {
    this.pagePrev = new Int32Array(memory, 0, room);
    this.pageNext = new Int32Array(memory, room * 4, room);
    this.pageUsed = new Uint16Array(memory, room * 8, room);
    this.pageBump = new Uint16Array(memory, room * 10, room);
    this.pageFree = new Uint16Array(memory, room * 12, room);
    this.chunkUsed = new Uint16Array(memory, room * 14, room);
    this.pageClass = new Uint8Array(memory, room * 16, room);
    this.knownRoom = room;
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

/** Small stores have small pages, since each class in use wastes part of a page; large pages waste less at their end. */
function pageShiftFor(size: number): number {
  if (size >= 2 ** 30) return 18;
  if (size === 0 || size >= 64 << 20) return 16;
  return size >= 4 << 20 ? 14 : 12;
}
