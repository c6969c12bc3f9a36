// Maps lookup keys to objheads: an extendible hash table of small open-addressing segments.
//
// Segments split one at a time, so that the table grows to millions of keys without a long step. The bytes of every key are
// stored and compared: two keys never share an objhead. An objhead and its key are one block, so that a lookup among millions
// waits for memory once instead of twice. Caution: keys with characters beyond a byte or longer than MAX_KEY are replaced by
// a digest.

import { createHash } from 'node:crypto';
import { type MemoryPart, ownMemory } from '../threads/shared-memory.ts';
import { KeyHash } from './key-hash.ts';
import { BATCH } from './objcore.ts';
import { Regions } from './storage/regions.ts';
import { Slab } from './storage/slab.ts';

/** Objhead handle: a block reference, 0 is none. */
export type Oh = number;

/** Words of an objhead; the bytes of the key follow. */
const HASH_LO = 0;
const HASH_HI = 1;
const KEY_LENGTH = 2;
/** First objcore of the key. */
const FIRST = 3;
/** Extra words of the caller follow, and then the key. */
const EXTRA = 4;

const SEGMENT_SHIFT = 11;
const SEGMENT_SLOTS = 1 << SEGMENT_SHIFT;
const SEGMENT_MASK = SEGMENT_SLOTS - 1;
/** A slot is a pair of words: low half of the hash, objhead (0 is an empty slot). */
const SEGMENT_WORDS_SHIFT = SEGMENT_SHIFT + 1;
const SEGMENT_WORDS = 1 << SEGMENT_WORDS_SHIFT;
const SEGMENT_WORDS_MASK = SEGMENT_WORDS - 1;
/** Fuller segments make searches, and even more removals, visit many slots. */
const SEGMENT_FULL = Math.floor(SEGMENT_SLOTS * 0.7);
/** Segments per piece of memory: one object per segment would be thousands. */
const PIECE_SHIFT = 4;
const PIECE_MASK = (1 << PIECE_SHIFT) - 1;
const PIECE_WORDS_SHIFT = PIECE_SHIFT + SEGMENT_WORDS_SHIFT;
const PIECE_WORDS_MASK = (1 << PIECE_WORDS_SHIFT) - 1;
const MAX_KEY = 8192;

/** Words of the index itself: segments, bits of the directory, capacity of the list of segments. */
const SEGMENTS = 0;
const DEPTH = 1;
const LISTED = 2;
const INDEX_WORDS = 3;
const FIRST_LISTED = 64;

/** Returned by probe(): no slot of the segment is empty. */
const NO_EMPTY_SLOT = -1;

/** Number of a segment. */
type Segment = number;

export class KeyIndex {
  private readonly keys: Slab;
  private readonly hash: KeyHash;
  /** Word of an objhead where its key begins. */
  private readonly keyWord: number;
  private readonly pieces: Int32Array[] = [];
  private readonly memory: MemoryPart;
  private readonly regions: Regions;
  private readonly own: Int32Array;
  /** By segment: the number of its keys, and how many bits of the high half of the hash they share. */
  private used: Int32Array = new Int32Array(0);
  private depths: Int32Array = new Int32Array(0);
  /** Segments by the first bits of the high half of the hash. */
  private directory: Uint32Array = new Uint32Array(0);
  /** Bits of that directory; a thread may have an older one, in which it does not find all keys. */
  private depth = -1;
  /** Shift from the high half of the hash to a place in the directory. */
  private shift = 31;
  private prepared = '';
  /** Slots of the segment that is being split. */
  private readonly scratch = new Int32Array(SEGMENT_WORDS);
  /** Scratch of removeAll(): first slots of the searches. */
  private readonly homes = new Int32Array(2 * BATCH);
  /** Result of the reads of touchAll(): unused reads would be optimised away. */
  touched = 0;

  /** @param extra words of the caller in each objhead, initially zero */
  constructor(seed0: number, seed1: number, extra = 0, memory: MemoryPart = ownMemory()) {
    this.keyWord = EXTRA + extra;
    this.hash = new KeyHash(seed0, seed1);
    this.memory = memory;
    this.keys = new Slab(0, memory.part('keys'));
    this.regions = new Regions((SEGMENT_WORDS * 4) << PIECE_SHIFT, memory.part('segments'));
    this.own = memory.words(INDEX_WORDS);
    if (this.own[LISTED] === 0) {
      memory.piece(`list${FIRST_LISTED}`, FIRST_LISTED * 8);
      memory.piece('directory0', 4);
      this.own[LISTED] = FIRST_LISTED;
    }
    this.attach();
    memory.onGrowth(() => this.attach());
    if (this.own[SEGMENTS] === 0) this.newSegment(0);
  }

  /** Number of objheads, hidden ones included. */
  get count(): number {
    return this.keys.blocks;
  }

  /** Bytes of memory the objheads and their keys take. */
  get keyBytes(): number {
    return this.keys.resident;
  }

  /** The objhead of `key`, or 0. */
  find(key: string): Oh {
    return this.probed(this.hashed(key));
  }

  /** The objhead of `key`, made when there is none. */
  findOrAdd(key: string): Oh {
    const stored = this.hashed(key);
    const found = this.probed(stored);
    return found !== 0 ? found : this.add(stored);
  }

  /** Removes an objhead without objects, and frees it. */
  remove(oh: Oh): void {
    this.hide(oh);
    this.free(oh);
  }

  /** Removes an objhead from the index; the caller keeps it until free(). */
  hide(oh: Oh): void {
    this.memory.assertHeld();
    this.vacate(oh, this.homeOf(oh));
  }

  free(oh: Oh): void {
    this.keys.free(oh);
  }

  /** Prefetches the first `count` objheads of a list; see RowTable.touchAll(). */
  touchAll(ohs: Uint32Array, count: number): void {
    this.keys.touchAll(ohs, count);
  }

  /** remove() for many, which should have been prefetched. */
  removeAll(ohs: Uint32Array, count: number): void {
    this.memory.assertHeld();
    this.findHomes(ohs, count);
    this.touchHomes(count);
    for (let i = 0; i < count; i++) this.vacate(ohs[i] as Oh, this.homes[i] as number);
    this.keys.freeAll(ohs, count);
  }

  private findHomes(ohs: Uint32Array, count: number): void {
    const { homes } = this;
    for (let i = 0; i < count; i++) homes[i] = this.homeOf(ohs[i] as Oh);
  }

  /** See RowTable.touchAll(). */
  private touchHomes(count: number): void {
    const { homes, pieces } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const home = homes[i] as number;
      sum ^= (pieces[home >>> PIECE_WORDS_SHIFT] as Int32Array)[home & PIECE_WORDS_MASK] as number;
    }
    this.touched = sum;
  }

  /** The word of an objhead's first slot, counted through all segments. */
  private homeOf(oh: Oh): number {
    const words = this.keys.chunkWords(oh);
    const at = this.keys.offset(oh) >>> 2;
    const segment = this.segment(words[at + HASH_HI] as number);
    return segment * SEGMENT_WORDS + ((words[at + HASH_LO] as number) & SEGMENT_MASK) * 2;
  }

  /** Removes an objhead from its segment. */
  private vacate(oh: Oh, home: number): void {
    const segment = home >>> SEGMENT_WORDS_SHIFT;
    const slots = this.slotsOf(segment);
    const base = baseOf(segment);
    let slot = (home >>> 1) & SEGMENT_MASK;
    // Slots are signed words.
    const stored = oh | 0;
    for (let left = SEGMENT_SLOTS; slots[base + slot * 2 + 1] !== stored; left--) {
      if (left === 0 || slots[base + slot * 2 + 1] === 0)
        throw new Error(`objhead ${oh} is not in the index`);
      slot = (slot + 1) & SEGMENT_MASK;
    }
    this.used[segment] = (this.used[segment] as number) - 1;
    // Backward shift: an entry moves into the gap unless that would put it before its home slot.
    for (let next = (slot + 1) & SEGMENT_MASK; ; next = (next + 1) & SEGMENT_MASK) {
      const moved = slots[base + next * 2 + 1] as number;
      if (moved === 0) break;
      const lo = slots[base + next * 2] as number;
      if (((next - lo) & SEGMENT_MASK) < ((next - slot) & SEGMENT_MASK)) continue;
      slots[base + slot * 2] = lo;
      slots[base + slot * 2 + 1] = moved;
      slot = next;
    }
    slots[base + slot * 2 + 1] = 0;
  }

  /** The key as stored, or its digest. */
  keyOf(oh: Oh): string {
    const at = this.keys.offset(oh) + this.keyWord * 4;
    return this.keys.chunk(oh).latin1Slice(at, at + this.word(oh, KEY_LENGTH));
  }

  first(oh: Oh): number {
    return this.word(oh, FIRST);
  }

  /** Published: a reader that sees the object sees all that was written before. */
  setFirst(oh: Oh, oc: number): void {
    Atomics.store(this.keys.chunkWords(oh), (this.keys.offset(oh) >>> 2) + FIRST, oc);
  }

  /** A number that keys may share; constant for a key. */
  placeOf(oh: Oh): number {
    return this.word(oh, HASH_LO);
  }

  /** Prepares a search for a key; returns its placeOf(). */
  prepare(key: string): number {
    this.prepared = this.hashed(key);
    return this.hash.lo >>> 0;
  }

  /** The objhead of the prepared key, or 0; without the lock also 0 while another thread changes the index. */
  findPrepared(): Oh {
    const oh = this.probe(this.prepared);
    return oh === NO_EMPTY_SLOT ? 0 : oh;
  }

  extra(oh: Oh, word: number): number {
    return this.word(oh, EXTRA + word);
  }

  setExtra(oh: Oh, word: number, value: number): void {
    this.setWord(oh, EXTRA + word, value);
  }

  private word(oh: Oh, word: number): number {
    return this.keys.chunkWords(oh)[(this.keys.offset(oh) >>> 2) + word] as number;
  }

  private setWord(oh: Oh, word: number, value: number): void {
    this.keys.chunkWords(oh)[(this.keys.offset(oh) >>> 2) + word] = value;
  }

  /** Hashes the key as it is stored, and returns that form. */
  private hashed(key: string): string {
    if (key.length <= MAX_KEY) {
      this.hash.hash(key);
      if (this.hash.codes < 256) return key;
    }
    const stored = digest(key);
    this.hash.hash(stored);
    return stored;
  }

  private segment(hi: number): Segment {
    // Two shifts, since a shift by 32 is a shift by 0.
    return this.directory[(hi >>> 1) >>> this.shift] as Segment;
  }

  private slotsOf(segment: Segment): Int32Array {
    return this.pieces[segment >>> PIECE_SHIFT] as Int32Array;
  }

  /** probe() under the lock: a segment always has empty slots. */
  private probed(key: string): Oh {
    const oh = this.probe(key);
    if (oh === NO_EMPTY_SLOT) throw new Error('A segment of the key index has no empty slot');
    return oh;
  }

  /** Visits each slot at most once: without the lock, other threads may move entries so that no slot is seen empty. */
  private probe(key: string): Oh {
    const lo = this.hash.lo;
    const hi = this.hash.hi;
    const segment = this.segment(hi);
    // Without the lock this may be a segment in memory that the thread has not mapped yet.
    const slots = this.slotsOf(segment) as Int32Array | undefined;
    if (slots === undefined) return 0;
    const base = baseOf(segment);
    let word = (lo & SEGMENT_MASK) << 1;
    for (let left = SEGMENT_SLOTS; left > 0; left--) {
      const oh = slots[base | word | 1] as number;
      if (oh === 0) return 0;
      if (slots[base | word] === lo && this.isOf(oh, hi, key)) return oh;
      word = (word + 2) & SEGMENT_WORDS_MASK;
    }
    return NO_EMPTY_SLOT;
  }

  private isOf(oh: Oh, hi: number, key: string): boolean {
    const { keys } = this;
    if (!keys.knows(oh)) return false;
    const words = keys.chunkWords(oh);
    const length = key.length;
    let word = keys.offset(oh) >>> 2;
    if (words[word + HASH_HI] !== hi >>> 0 || words[word + KEY_LENGTH] !== length) return false;
    word += this.keyWord;
    // Four bytes at a time (half the time of single bytes); memory is little-endian wherever Node runs.
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      const four =
        key.charCodeAt(i) |
        (key.charCodeAt(i + 1) << 8) |
        (key.charCodeAt(i + 2) << 16) |
        (key.charCodeAt(i + 3) << 24);
      if ((words[word++] as number) !== four >>> 0) return false;
    }
    const bytes = keys.chunk(oh);
    for (let at = word * 4; i < length; i++, at++) if (bytes[at] !== key.charCodeAt(i)) return false;
    return true;
  }

  private add(key: string): Oh {
    this.memory.assertHeld();
    const { lo, hi } = this.hash;
    let segment = this.segment(hi);
    while ((this.used[segment] as number) >= SEGMENT_FULL) {
      this.split(segment, hi);
      segment = this.segment(hi);
    }
    const keyAt = this.keyWord * 4;
    const oh = this.keys.alloc(keyAt + key.length);
    this.setWord(oh, HASH_LO, lo);
    this.setWord(oh, HASH_HI, hi);
    this.setWord(oh, KEY_LENGTH, key.length);
    for (let word = FIRST; word < this.keyWord; word++) this.setWord(oh, word, 0);
    if (key.length > 0) this.keys.chunk(oh).latin1Write(key, this.keys.offset(oh) + keyAt, key.length);
    this.insert(segment, lo, oh);
    return oh;
  }

  private split(lower: Segment, hi: number): void {
    const depth = (this.depths[lower] as number) + 1;
    if (depth > this.depth) this.deepen();
    const span = 2 ** (this.depth - depth + 1);
    const start = Math.floor(((hi >>> 1) >>> this.shift) / span) * span;
    // The segment becomes the lower half itself.
    const slots = this.slotsOf(lower);
    const base = baseOf(lower);
    const entries = this.scratch;
    entries.set(slots.subarray(base, base + SEGMENT_WORDS));
    slots.fill(0, base, base + SEGMENT_WORDS);
    this.used[lower] = 0;
    this.depths[lower] = depth;
    const upper = this.newSegment(depth);
    for (let slot = 0; slot < SEGMENT_SLOTS; slot++) {
      const oh = entries[slot * 2 + 1] as number;
      if (oh === 0) continue;
      const isUpper = ((this.word(oh, HASH_HI) >>> (32 - depth)) & 1) === 1;
      this.insert(isUpper ? upper : lower, entries[slot * 2] as number, oh);
    }
    this.directory.fill(upper, start + span / 2, start + span);
  }

  private deepen(): void {
    const old = this.directory;
    const depth = this.depth + 1;
    const wider = new Uint32Array(this.memory.piece(`directory${depth}`, 4 << depth));
    for (let i = 0; i < wider.length; i++) wider[i] = old[i >>> 1] as Segment;
    this.rename(DEPTH, depth);
    if (!this.memory.isShared) this.memory.drop(`directory${this.depth - 1}`);
  }

  private newSegment(depth: number): Segment {
    const { own } = this;
    const segment = own[SEGMENTS] as number;
    if (segment >= (own[LISTED] as number)) this.listMore();
    this.depths[segment] = depth;
    this.used[segment] = 0;
    own[SEGMENTS] = segment + 1;
    if (segment >>> PIECE_SHIFT >= this.pieces.length) {
      this.regions.take(segment >>> PIECE_SHIFT);
      this.attach();
    }
    return segment;
  }

  private listMore(): void {
    const { used, depths } = this;
    const listed = used.length * 2;
    const list = new Int32Array(this.memory.piece(`list${listed}`, listed * 8));
    list.set(used);
    list.set(depths, listed);
    this.rename(LISTED, listed);
    if (!this.memory.isShared) this.memory.drop(`list${used.length}`);
  }

  /** Makes all threads use a larger piece, already filled, instead of the previous one. */
  private rename(word: number, value: number): void {
    Atomics.store(this.own, word, value);
    this.memory.announce();
    this.attach();
  }

  /** Maps what this or another thread has made. */
  private attach(): void {
    const { own, memory } = this;
    for (const piece of this.regions.made(this.pieces.length)) {
      this.pieces.push(new Int32Array(piece.memory, piece.at, SEGMENT_WORDS << PIECE_SHIFT));
    }
    const listed = Atomics.load(own, LISTED);
    const list = listed === this.used.length ? undefined : memory.find(`list${listed}`);
    if (list !== undefined) {
      this.used = new Int32Array(list, 0, listed);
      this.depths = new Int32Array(list, listed * 4, listed);
    }
    const depth = Atomics.load(own, DEPTH);
    const directory = depth === this.depth ? undefined : memory.find(`directory${depth}`);
    if (directory !== undefined) {
      this.directory = new Uint32Array(directory);
      this.depth = depth;
      this.shift = 31 - depth;
    }
  }

  private insert(segment: Segment, lo: number, oh: Oh): void {
    const slots = this.slotsOf(segment);
    const base = baseOf(segment);
    let slot = lo & SEGMENT_MASK;
    while (slots[base + slot * 2 + 1] !== 0) slot = (slot + 1) & SEGMENT_MASK;
    slots[base + slot * 2] = lo;
    // Published: a thread that finds it without the lock sees the key.
    Atomics.store(slots, base + slot * 2 + 1, oh);
    this.used[segment] = (this.used[segment] as number) + 1;
  }
}

/** Offset of a segment's words in its piece. */
function baseOf(segment: Segment): number {
  return (segment & PIECE_MASK) * SEGMENT_WORDS;
}

/** Replaces a key that cannot be stored; no ordinary key is equal to it by accident. */
function digest(key: string): string {
  return `sha256 ${createHash('sha256').update(key, 'utf16le').digest('base64')}`;
}
