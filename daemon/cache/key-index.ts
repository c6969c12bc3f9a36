// From a lookup key to its objhead: an extendible hash table of small open-addressing segments.
//
// Segments split one at a time, so that the table grows to millions of keys without one long step. The bytes
// of every key are kept and compared: two keys never share an objhead. An objhead and its key are one block, so
// that a lookup among millions waits for memory once instead of twice. Awkward: keys that are no bytes or are
// longer than MAX_KEY are first reduced to a digest, and the reduced form counts as the key.

import { createHash } from 'node:crypto';
import { KeyHash } from './key-hash.ts';
import { Slab } from './storage/slab.ts';

/** Objhead handle: a block reference, 0 is none. */
export type Oh = number;

/** Words of an objhead; the bytes of the key follow. */
const HASH_LO = 0;
const HASH_HI = 1;
const KEY_LENGTH = 2;
/** First objcore of the key. */
const FIRST = 3;
const KEY_WORD = 4;
const KEY_AT = KEY_WORD * 4;

const SEGMENT_SHIFT = 11;
const SEGMENT_SLOTS = 1 << SEGMENT_SHIFT;
const SEGMENT_MASK = SEGMENT_SLOTS - 1;
/** Fuller ones make a search, and more so a removal, go through many slots. */
const SEGMENT_FULL = Math.floor(SEGMENT_SLOTS * 0.7);
const MAX_KEY = 8192;

interface Segment {
  /** Pairs: low half of the hash, objhead (0 is an empty slot). */
  readonly slots: Int32Array;
  used: number;
  /** How many bits of the high half all keys of this segment share. */
  depth: number;
}

export class KeyIndex {
  private readonly keys = new Slab(0);
  private readonly hash: KeyHash;
  private directory: Segment[] = [newSegment(0)];
  private depth = 0;
  /** Slots of the segment that is being split. */
  private readonly scratch = new Int32Array(SEGMENT_SLOTS * 2);

  constructor(seed0: number, seed1: number) {
    this.hash = new KeyHash(seed0, seed1);
  }

  /** Number of objheads. */
  get count(): number {
    return this.keys.stats.g_alloc;
  }

  /** Bytes of memory the objheads and their keys take. */
  get keyBytes(): number {
    return this.keys.resident;
  }

  /** The objhead of `key`, or 0. */
  find(key: string): Oh {
    return this.probe(this.hashed(key));
  }

  /** The objhead of `key`, made when there is none. */
  findOrAdd(key: string): Oh {
    const stored = this.hashed(key);
    const found = this.probe(stored);
    return found !== 0 ? found : this.add(stored);
  }

  /** Takes an objhead without objects out of the index. */
  remove(oh: Oh): void {
    const lo = this.word(oh, HASH_LO) | 0;
    const segment = this.segment(this.word(oh, HASH_HI));
    const slots = segment.slots;
    let slot = lo & SEGMENT_MASK;
    while (slots[slot * 2 + 1] !== oh) {
      if (slots[slot * 2 + 1] === 0) throw new Error(`objhead ${oh} is not in the index`);
      slot = (slot + 1) & SEGMENT_MASK;
    }
    segment.used--;
    // Backward shift: an entry moves into the gap unless that would put it before its home slot.
    for (let next = (slot + 1) & SEGMENT_MASK; ; next = (next + 1) & SEGMENT_MASK) {
      const moved = slots[next * 2 + 1] as number;
      if (moved === 0) break;
      const home = (slots[next * 2] as number) & SEGMENT_MASK;
      if (((next - home) & SEGMENT_MASK) < ((next - slot) & SEGMENT_MASK)) continue;
      slots[slot * 2] = slots[next * 2] as number;
      slots[slot * 2 + 1] = moved;
      slot = next;
    }
    slots[slot * 2 + 1] = 0;
    this.keys.free(oh);
  }

  /** The key as it is stored: a digest stands for one that cannot be. */
  keyOf(oh: Oh): string {
    const at = this.keys.offset(oh) + KEY_AT;
    return this.keys.chunk(oh).latin1Slice(at, at + this.word(oh, KEY_LENGTH));
  }

  first(oh: Oh): number {
    return this.word(oh, FIRST);
  }

  setFirst(oh: Oh, oc: number): void {
    this.setWord(oh, FIRST, oc);
  }

  /** Reads an objhead. */
  touch(oh: Oh): number {
    return this.keys.touch(oh);
  }

  /** Reads the slot that leads to an objhead, or one near it. */
  touchSlot(oh: Oh): number {
    const { slots } = this.segment(this.word(oh, HASH_HI));
    return slots[((this.word(oh, HASH_LO) | 0) & SEGMENT_MASK) * 2] as number;
  }

  private word(oh: Oh, word: number): number {
    return this.keys.chunkWords(oh)[(this.keys.offset(oh) >>> 2) + word] as number;
  }

  private setWord(oh: Oh, word: number, value: number): void {
    this.keys.chunkWords(oh)[(this.keys.offset(oh) >>> 2) + word] = value;
  }

  /** Hashes the key in the form in which it is stored, and returns that form. */
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
    return this.directory[this.depth === 0 ? 0 : hi >>> (32 - this.depth)] as Segment;
  }

  private probe(key: string): Oh {
    const lo = this.hash.lo;
    const hi = this.hash.hi;
    const slots = this.segment(hi).slots;
    for (let slot = lo & SEGMENT_MASK; ; slot = (slot + 1) & SEGMENT_MASK) {
      const oh = slots[slot * 2 + 1] as number;
      if (oh === 0) return 0;
      if (slots[slot * 2] === lo && this.isOf(oh, hi, key)) return oh;
    }
  }

  private isOf(oh: Oh, hi: number, key: string): boolean {
    const { keys } = this;
    const words = keys.chunkWords(oh);
    const length = key.length;
    let word = keys.offset(oh) >>> 2;
    if (words[word + HASH_HI] !== hi >>> 0 || words[word + KEY_LENGTH] !== length) return false;
    word += KEY_WORD;
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
    const { lo, hi } = this.hash;
    let segment = this.segment(hi);
    while (segment.used >= SEGMENT_FULL) {
      this.split(segment, hi);
      segment = this.segment(hi);
    }
    const oh = this.keys.alloc(KEY_AT + key.length);
    this.setWord(oh, HASH_LO, lo);
    this.setWord(oh, HASH_HI, hi);
    this.setWord(oh, KEY_LENGTH, key.length);
    this.setWord(oh, FIRST, 0);
    if (key.length > 0) this.keys.chunk(oh).latin1Write(key, this.keys.offset(oh) + KEY_AT, key.length);
    insert(segment, lo, oh);
    return oh;
  }

  private split(segment: Segment, hi: number): void {
    if (segment.depth === this.depth) {
      this.directory = this.directory.flatMap((entry) => [entry, entry]);
      this.depth++;
    }
    const span = 2 ** (this.depth - segment.depth);
    const start = Math.floor((hi >>> (32 - this.depth)) / span) * span;
    // The segment becomes the lower half itself: thrown away, it would linger until a collection.
    const entries = this.scratch;
    entries.set(segment.slots);
    segment.slots.fill(0);
    segment.used = 0;
    segment.depth++;
    const upper = newSegment(segment.depth);
    for (let slot = 0; slot < SEGMENT_SLOTS; slot++) {
      const oh = entries[slot * 2 + 1] as number;
      if (oh === 0) continue;
      const isUpper = ((this.word(oh, HASH_HI) >>> (32 - segment.depth)) & 1) === 1;
      insert(isUpper ? upper : segment, entries[slot * 2] as number, oh);
    }
    this.directory.fill(upper, start + span / 2, start + span);
  }
}

function newSegment(depth: number): Segment {
  return { slots: new Int32Array(new SharedArrayBuffer(SEGMENT_SLOTS * 8)), used: 0, depth };
}

function insert(segment: Segment, lo: number, oh: Oh): void {
  let slot = lo & SEGMENT_MASK;
  while (segment.slots[slot * 2 + 1] !== 0) slot = (slot + 1) & SEGMENT_MASK;
  segment.slots[slot * 2] = lo;
  segment.slots[slot * 2 + 1] = oh;
  segment.used++;
}

/** Stands for a key that cannot be stored itself; no ordinary key equals it by accident. */
function digest(key: string): string {
  return `sha256 ${createHash('sha256').update(key, 'utf16le').digest('base64')}`;
}
