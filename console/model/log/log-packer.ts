// Writes groups into blocks (log-block.ts): each record is looked up among those that the open block holds, by a hash
// over its words. It handles twenty thousand groups a second, so it allocates nothing per record. Caution: the hash is
// seeded, because clients choose the content; a group that does not fit leaves only unreferenced records behind, and
// the block is closed.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import {
  FAILED,
  FIRST,
  FOREIGN,
  GROUP_HEAD,
  INVALIDATED,
  type LogBlock,
  MOST_WORDS,
  TRANSACTION_HEAD,
  TYPES,
} from './log-block.ts';
import { livesOf } from './request-group.ts';

const SLOTS = 1 << 14;
/** Records of a block: the table is at most three quarters full. */
const MOST_RECORDS = 3 << 12;
const DIGIT_5 = 0x35;
/** The first word of the method GET. */
const GET = 0x00544547;
/** Notices of purges by surrogate key, and methods of bans, as recipes have them. */
const INVALIDATES = /^(?:xkey|hashtwo)\.|BAN$/;
/** Multipliers that spread bits (Weyl, xxHash). */
const SPREAD = 0x9e3779b1 | 0;
const SPREAD_HEAD = 0x85ebca77 | 0;

export class LogPacker {
  private readonly seed: number;
  /** Place of a record plus one, by hash; 0 is free. */
  private readonly table = new Uint16Array(SLOTS);
  private block: LogBlock | null = null;
  private known = 0;
  /** Records of the group that was packed last. */
  records = 0;
  /** Places of the reasons in the open block. */
  private readonly reasons = new Map<string, number>();
  private units = new Uint16Array(1024);
  private length = 0;
  private words = new Int32Array(4096);
  private bytes = Buffer.from(this.words.buffer);
  // Found in the main request's first and last life.
  private failed = false;
  private invalidated = false;
  private url = 0;

  constructor(seed: number) {
    this.seed = seed | 0;
  }

  /** Continues with an empty block. */
  open(block: LogBlock): void {
    this.block = block;
    this.known = 0;
    this.reasons.clear();
    this.table.fill(0);
  }

  /** The hash of a URL, as LogBlock.mayHaveUrl takes it. */
  urlHash(url: Uint8Array): number {
    // A record includes the final NUL.
    const length = url.length + 1;
    this.reserve(length + 4);
    this.bytes.set(url);
    this.bytes.fill(0, url.length, (length + 3) & ~3);
    return this.hash(0, (length + 3) >> 2);
  }

  /** Adds a group to the open block; false when it does not fit. */
  pack(group: readonly LogTransaction[]): boolean {
    const block = this.block as LogBlock;
    if (group.length > 0xffff) return false;
    this.length = 0;
    this.records = 0;
    this.failed = false;
    this.invalidated = false;
    this.url = 0;
    if (!this.room(GROUP_HEAD)) return false;
    this.length = GROUP_HEAD;
    const main = group.find((tx) => tx.type === 'request') ?? group[0];
    // The last life has the outcome, the first the request.
    const last = main === undefined || group.length === 1 ? main : livesOf(group, main).at(-1);
    for (const tx of group) if (!this.transaction(tx, tx === main, tx === last)) return false;
    this.units[0] = group.length;
    this.units[1] = (this.failed ? FAILED : 0) | (this.invalidated ? INVALIDATED : 0);
    this.double(2, this.url);
    const start = block.top - this.length;
    block.units.set(this.units.subarray(0, this.length), start);
    block.top = start;
    block.add(start);
    return true;
  }

  private transaction(tx: LogTransaction, main: boolean, last: boolean): boolean {
    const head = this.length;
    if (!this.room(TRANSACTION_HEAD)) return false;
    this.length += TRANSACTION_HEAD;
    const reason = this.reason(tx.reason);
    const size = tx.records.length;
    if (reason < 0 || size % 4 !== 0) return false;
    this.reserve(size);
    // A copy, so that words can be read at any address.
    this.bytes.set(tx.records);
    const { words } = this;
    const end = size >> 2;
    const id = end > 1 ? (words[1] as number) : 0;
    let fives = false;
    for (let at = 0; at + 2 <= end; ) {
      const first = words[at] as number;
      const length = first & 0xffff;
      const from = at + 2;
      const to = from + ((length + 3) >> 2);
      if (to > end) return false;
      // Padding may be any bytes.
      if ((length & 3) !== 0) words[to - 1] = (words[to - 1] as number) & ((1 << ((length & 3) * 8)) - 1);
      const hash = this.hash(from, to);
      const place = this.place(first, hash, from, to);
      if (place < 0) return false;
      if (words[at + 1] !== id) {
        if (!this.room(3)) return false;
        this.units[this.length] = FOREIGN;
        this.double(this.length + 1, words[at + 1] as number);
        this.length += 3;
      }
      if (!this.room(1)) return false;
      this.records++;
      this.units[this.length++] = place;
      const tag = first >>> 24;
      if (main && this.url === 0 && (tag === Tag.ReqURL || tag === Tag.BereqURL)) this.url = hash;
      if (tag === Tag.Notice || (tag === Tag.ReqMethod && words[from] !== GET)) {
        const text = this.bytes.toString('latin1', from * 4, from * 4 + length - 1);
        if (INVALIDATES.test(text)) this.invalidated = true;
      }
      if (last) {
        if (tag === Tag.FetchError || tag === Tag.Error || tag === Tag.VCL_Error) this.failed = true;
        // The last status is the one the client got.
        else if (tag === Tag.RespStatus || tag === Tag.BerespStatus)
          fives = ((words[from] as number) & 0xff) === DIGIT_5;
      }
      at = to;
    }
    if (fives) this.failed = true;
    const type = Math.max(0, TYPES.indexOf(tx.type));
    this.units[head] = Math.min(tx.level, 0xff) | (type << 8) | (tx.first === true ? FIRST : 0);
    this.units[head + 1] = reason;
    this.double(head + 2, tx.vxid);
    this.double(head + 4, tx.parent);
    this.double(head + 6, id);
    this.double(head + 8, this.length - head - TRANSACTION_HEAD);
    return true;
  }

  /** Reasons are texts among the records, of a tag that no record has. */
  private reason(text: string): number {
    const known = this.reasons.get(text);
    if (known !== undefined) return known;
    const length = Math.min(text.length * 3, 0xfffc);
    this.reserve(length + 4);
    const written = this.bytes.write(text, 0, length, 'utf8');
    this.bytes.fill(0, written, (written + 3) & ~3);
    const to = (written + 3) >> 2;
    const place = this.place(written, this.hash(0, to), 0, to);
    if (place >= 0) this.reasons.set(text, place);
    return place;
  }

  private hash(from: number, to: number): number {
    const { words } = this;
    let h = this.seed;
    for (let k = from; k < to; k++) {
      h = Math.imul(h ^ (words[k] as number), SPREAD);
      h ^= h >>> 15;
    }
    return h;
  }

  /** Place in the open block of the record with this first word and these words of payload, added if absent; -1 when
   * the block is full. */
  private place(first: number, hash: number, from: number, to: number): number {
    const block = this.block as LogBlock;
    const { words, table } = this;
    const held = block.words;
    const size = to - from;
    let slot = (hash ^ Math.imul(first, SPREAD_HEAD)) >>> 0;
    for (slot = (slot ^ (slot >>> 16)) & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const found = (table[slot] as number) - 1;
      if (found < 0) break;
      if (held[found] !== first) continue;
      let k = 0;
      while (k < size && held[found + 1 + k] === words[from + k]) k++;
      if (k === size) return found;
    }
    const place = block.filled;
    const filled = place + 1 + size;
    if (filled > MOST_WORDS || this.known >= MOST_RECORDS) return -1;
    if (filled * 2 + this.length > block.top) return -1;
    held[place] = first;
    for (let k = 0; k < size; k++) held[place + 1 + k] = words[from + k] as number;
    block.filled = filled;
    table[slot] = place + 1;
    this.known++;
    return place;
  }

  /** Whether the block has room for this many more units. */
  private room(units: number): boolean {
    const block = this.block as LogBlock;
    const wanted = this.length + units;
    if (block.filled * 2 + wanted > block.top) return false;
    if (wanted > this.units.length) {
      const grown = new Uint16Array(wanted * 2);
      grown.set(this.units);
      this.units = grown;
    }
    return true;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    this.words = new Int32Array((bytes >> 1) + 2);
    this.bytes = Buffer.from(this.words.buffer);
  }

  private double(at: number, value: number): void {
    this.units[at] = value & 0xffff;
    this.units[at + 1] = value >>> 16;
  }
}
