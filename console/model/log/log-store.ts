// The console's memory of the log: groups in arrival order, bounded by bytes and by count, outside React and packed
// (log-block.ts). The oldest groups go first and are counted, never silently. Each group has a sequence number that
// stays valid as a position while others are dropped. Groups are unpacked on demand, and the last few are kept
// unpacked; searches over all groups read the blocks.

import { countRecords } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { LogBlock } from './log-block.ts';
import { LogEntry } from './log-entry.ts';
import { LogPacker } from './log-packer.ts';
import { splitGroups } from './request-group.ts';

export interface LogBounds {
  maxBytes: number;
  maxEntries: number;
}

interface Mark {
  text: string;
  /** Records lost at this mark; 0 for other marks. */
  lost: number;
}

/** Large enough that records repeat within it, small enough that it can be left half empty. */
const BLOCK_BYTES = 320 << 10;
const LEAST_BLOCK_BYTES = 4 << 10;
/** Unpacked groups that are kept: two screens. */
const UNPACKED = 256;

/** Groups in the order of their sequence numbers, which are positions that stay. */
export interface LogReader {
  readonly size: number;
  /** The i-th oldest entry. */
  at(i: number): LogEntry | undefined;
  /** Index of a sequence number, or of the next one that is there; of the oldest or newest beyond the ends; -1 when
   * empty. */
  indexOf(seq: number): number;
  /** Calls `visit` with a block and the index of a group in it, from the i-th oldest group on, until it returns
   * true; the index of that group, or -1. */
  find(from: number, back: boolean, visit: (block: LogBlock, n: number) => boolean): number;
}

export class LogStore implements LogReader {
  private readonly bounds: LogBounds;
  private readonly blockBytes: number;
  private readonly packer: LogPacker;
  private readonly seed: number;
  /** The oldest first; the last one is being filled. */
  private blocks: LogBlock[] = [];
  /** Blocks that can be filled again. */
  private free: LogBlock[] = [];
  private readonly marks = new Map<number, Mark>();
  private readonly unpacked = new Map<number, LogEntry>();
  /** Sequence number of the oldest group that is kept. */
  private first = 1;
  private nextSeq = 1;
  /** Bytes of the blocks before the last. */
  private sealed = 0;
  /** Groups that fell out at the old end. */
  dropped = 0;
  /** Something older had no room. */
  private cut = false;
  /** Records the daemon could not deliver. */
  lost = 0;
  /** Groups received, and their records: losses are counted in records. */
  received = 0;
  records = 0;
  /** Incremented with every change. */
  version = 0;

  /** `seed`: of hashes that clients cannot predict. */
  constructor(bounds: LogBounds, seed = Math.floor(Math.random() * 2 ** 32)) {
    this.bounds = bounds;
    this.seed = seed;
    this.packer = new LogPacker(seed);
    this.blockBytes = Math.max(LEAST_BLOCK_BYTES, Math.min(BLOCK_BYTES, (bounds.maxBytes >> 5) << 2));
  }

  get size(): number {
    return this.nextSeq - this.first;
  }

  /** Sequence numbers of the oldest group that is kept, and of the next that will come. */
  get oldest(): number {
    return this.first;
  }

  get end(): number {
    return this.nextSeq;
  }

  /** Size of the packed groups. */
  get bytes(): number {
    return this.sealed + (this.blocks.at(-1)?.used ?? 0);
  }

  at(i: number): LogEntry | undefined {
    if (i < 0 || i >= this.size) return undefined;
    const seq = this.first + i;
    const mark = this.marks.get(seq);
    if (mark !== undefined) return new LogEntry(seq, [], mark.text);
    const known = this.unpacked.get(seq);
    if (known !== undefined) return known;
    const block = this.blockOf(seq);
    const entry = new LogEntry(seq, block.group(seq - block.first), '');
    this.unpacked.set(seq, entry);
    if (this.unpacked.size > UNPACKED) this.unpacked.delete(this.unpacked.keys().next().value as number);
    return entry;
  }

  indexOf(seq: number): number {
    return this.size === 0 ? -1 : Math.max(0, Math.min(this.size - 1, seq - this.first));
  }

  find(from: number, back: boolean, visit: (block: LogBlock, n: number) => boolean): number {
    const step = back ? -1 : 1;
    for (let i = from; i >= 0 && i < this.size; ) {
      const block = this.blockOf(this.first + i);
      for (let n = this.first + i - block.first; n >= 0 && n < block.count && i >= 0; n += step, i += step)
        if (visit(block, n)) return i;
    }
    return -1;
  }

  /** The hash of a URL, for LogBlock.mayHaveUrl. */
  urlHash(url: Uint8Array): number {
    return this.packer.urlHash(url);
  }

  add(transactions: readonly LogTransaction[]): void {
    for (const group of splitGroups(transactions)) this.push(group);
  }

  /** A store for groups older than all here, to be filled in order and passed to prepend(). */
  before(): LogStore {
    return new LogStore(this.bounds, this.seed);
  }

  /** Is there room for older groups? Not once a group was dropped or refused: there would be a gap. */
  get hasRoom(): boolean {
    return (
      !this.cut &&
      this.dropped === 0 &&
      this.size < this.bounds.maxEntries &&
      this.bytes + this.blockBytes < this.bounds.maxBytes
    );
  }

  /** Prepends the groups of a store made by before(), as far as there is room, and takes over its memory. */
  prepend(part: LogStore): void {
    const { maxEntries, maxBytes } = this.bounds;
    while (part.size > 0 && part.size + this.size > maxEntries) part.drop();
    while (part.blocks.length > 1 && part.cost + this.bytes > maxBytes) part.dropBlock();
    const refused = this.cut || this.dropped > 0 || part.cost + this.bytes > maxBytes;
    if (refused || part.dropped > 0) this.cut = true;
    if (part.size === 0 || refused) return;
    const shift = this.first - part.nextSeq;
    for (const block of part.blocks) block.first += shift;
    for (const [seq, mark] of part.marks) this.marks.set(seq + shift, mark);
    this.first -= part.size;
    this.sealed += part.cost;
    // The packer must not append to the last block of the part, whose records it does not know.
    if (this.blocks.length === 0) this.fill();
    this.blocks = [...part.blocks, ...this.blocks];
    this.received += part.received;
    this.records += part.records;
    this.version++;
  }

  /** Puts a mark where the log has a hole. */
  addGap(text: string): void {
    this.mark({ text, lost: 0 });
  }

  addLoss(records: number, reason: string): void {
    this.lost += records;
    // Consecutive losses are one mark that counts up: a slow terminal must not fill its own log with marks.
    let mark = this.marks.get(this.nextSeq - 1);
    if (mark === undefined || mark.lost === 0) mark = this.mark({ text: '', lost: 0 });
    mark.lost += records;
    mark.text = `${mark.lost} records lost (${reason})`;
    this.version++;
  }

  clear(): void {
    this.blocks = [];
    this.free = [];
    this.marks.clear();
    this.unpacked.clear();
    // Older groups that arrive later get numbers that were never used.
    this.nextSeq += this.bounds.maxEntries;
    this.first = this.nextSeq;
    this.sealed = 0;
    this.dropped = 0;
    this.cut = false;
    this.lost = 0;
    this.received = 0;
    this.records = 0;
    this.version++;
  }

  private mark(mark: Mark): Mark {
    this.marks.set(this.nextSeq, mark);
    this.push([]);
    return mark;
  }

  private push(group: readonly LogTransaction[]): void {
    const open = this.blocks.at(-1);
    if (open === undefined || open.whole !== null || !this.packer.pack(group)) this.pushToNew(group);
    this.nextSeq++;
    if (group.length > 0) this.received++;
    this.records += this.packed(group);
    this.version++;
    this.evict();
  }

  /** Records of the group that was stored last. */
  private packed(group: readonly LogTransaction[]): number {
    if (this.blocks.at(-1)?.whole == null) return this.packer.records;
    return group.reduce((sum, tx) => sum + countRecords(tx.records), 0);
  }

  private pushToNew(group: readonly LogTransaction[]): void {
    this.begin();
    if (this.packer.pack(group)) return;
    // Larger than a block, or malformed: copied out of the frame.
    const block = this.blocks.at(-1) as LogBlock;
    block.whole = group.map((tx) => ({ ...tx, records: new Uint8Array(tx.records) }));
    block.count = 1;
  }

  private begin(): void {
    const last = this.blocks.at(-1);
    if (last !== undefined) this.sealed += this.costOf(last);
    this.fill();
  }

  private fill(): void {
    const block = this.free.pop() ?? new LogBlock(this.blockBytes);
    block.reset(this.nextSeq);
    this.blocks.push(block);
    this.packer.open(block);
  }

  /** Size of all blocks once none is being filled. */
  private get cost(): number {
    const last = this.blocks.at(-1);
    return this.sealed + (last === undefined ? 0 : this.costOf(last));
  }

  private costOf(block: LogBlock): number {
    return block.whole === null ? block.capacity : block.capacity + block.used;
  }

  private evict(): void {
    const { maxEntries, maxBytes } = this.bounds;
    while (this.size > maxEntries) this.drop();
    // To free bytes a whole block has to go.
    while (this.blocks.length > 1 && this.bytes > maxBytes) this.dropBlock();
  }

  private dropBlock(): void {
    const block = this.blocks[0] as LogBlock;
    for (const end = block.first + block.count; this.first < end; ) this.drop();
  }

  /** Forgets the oldest group, and its block with the last of it. */
  private drop(): void {
    const seq = this.first++;
    this.unpacked.delete(seq);
    if (!this.marks.delete(seq)) this.dropped++;
    const block = this.blocks[0] as LogBlock;
    if (this.first < block.first + block.count || this.blocks.length === 1) return;
    this.blocks.shift();
    this.sealed -= this.costOf(block);
    block.whole = null;
    if (this.free.length < 2) this.free.push(block);
  }

  /** The block that holds a kept group. */
  blockOf(seq: number): LogBlock {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.blocks[middle] as LogBlock).first <= seq) low = middle;
      else high = middle - 1;
    }
    return this.blocks[low] as LogBlock;
  }
}
