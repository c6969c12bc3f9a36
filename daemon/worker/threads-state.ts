// Shared state with several threads: the rows of all tables in shared memory, found through one index of keys. One lock
// guards all of it, so that short updates of different extensions never interleave.
//
// A row is an objhead of the index with words of its own, which refer to two kinds of blocks: its numbers, and the
// chain of its text. The rows of a table are linked in the order of their updates.

import { KeyIndex, type Oh } from '../cache/key-index.ts';
import { Slab } from '../cache/storage/slab.ts';
import {
  BoundedTable,
  checkedMemory,
  checkedName,
  checkedShape,
  isWide,
  refuseOtherNumbers,
} from '../contract/bounded-table.ts';
import { refuseMore } from '../contract/own-state.ts';
import type { SharedRow, SharedState, SharedTable, TableShape } from '../contract/shared-state.ts';
import type { Peers } from '../threads/peers.ts';
import type { SharedLock } from '../threads/shared-lock.ts';
import type { MemoryPart } from '../threads/shared-memory.ts';

/** Words of a row in the index. */
const NUMBERS = 0;
const TEXT = 1;
/** Bytes of the text; NO_TEXT for null. */
const LENGTH = 2;
const WIDE = 3;
/** Bytes that are accounted to the row. */
const SIZE = 4;
const OLDER = 5;
const NEWER = 6;
const ROW_WORDS = 7;
const NO_TEXT = 0xffffffff;

/** Figures of a table, 64 bits each because they hold byte counts and row references. */
const F_MADE = 0;
const F_NUMBERS = 1;
const F_COUNT = 2;
const F_BYTES = 3;
const F_OLDEST = 4;
const F_NEWEST = 5;
const FIGURES = 6;

/** Bytes of text in one block, after the reference to the next one: well below the slab's largest block. */
const LINK = 4;
const PIECE = 64 * 1024 - LINK;

/** Counts of registered names: tables, memories. */
const TABLES = 0;
const MEMORIES = 1;

export class ThreadsState implements SharedState {
  readonly lock: SharedLock;
  readonly index: KeyIndex;
  readonly values: Slab;
  /** True while an update of this thread runs. */
  isInUpdate = false;
  private readonly part: MemoryPart;
  private readonly names: Int32Array;

  /** @param seed the same in all threads */
  constructor(peers: Peers, seed: readonly [number, number]) {
    this.part = peers.part('state');
    this.lock = peers.makeLock('state');
    this.lock.entered = () => this.part.sync();
    this.names = this.part.words(2);
    this.index = new KeyIndex(seed[0], seed[1], ROW_WORDS, this.part.part('keys'));
    this.values = new Slab(0, this.part.part('values'));
  }

  table(name: string, shape: TableShape = {}): SharedTable {
    const whole = checkedShape(checkedName(name), shape);
    return this.lock.hold(() => {
      const piece = `table.${name}`;
      if (this.part.find(piece) === undefined) this.countName(TABLES);
      const figures = new Float64Array(this.part.piece(piece, FIGURES * 8));
      if (figures[F_MADE] === 0) {
        figures[F_MADE] = 1;
        figures[F_NUMBERS] = whole.numbers;
      }
      refuseOtherNumbers(name, whole.numbers, figures[F_NUMBERS] as number);
      return new ThreadsTable(name, whole, this, figures);
    });
  }

  memory(name: string, make: () => SharedArrayBuffer): SharedArrayBuffer {
    const piece = `memory.${checkedName(name)}`;
    return this.lock.hold(() => {
      const there = this.part.find(piece);
      if (there !== undefined) return there;
      const memory = checkedMemory(name, make());
      this.countName(MEMORIES);
      this.part.place(piece, memory);
      return memory;
    });
  }

  private countName(kind: number): void {
    refuseMore(this.names[kind] as number);
    this.names[kind] = (this.names[kind] as number) + 1;
  }
}

class ThreadsTable extends BoundedTable<Oh> {
  private readonly state: ThreadsState;
  private readonly figures: Float64Array;
  /** Prefix of each key. Table names have no such character, so that tables cannot share keys. */
  private readonly prefix: string;

  constructor(name: string, shape: Required<TableShape>, state: ThreadsState, figures: Float64Array) {
    super(name, shape);
    this.state = state;
    this.figures = figures;
    this.prefix = `${name}\0`;
  }

  protected enter(): void {
    const { state } = this;
    if (state.isInUpdate) throw new Error('Shared state is used within an update of it');
    state.lock.enter();
    state.isInUpdate = true;
  }

  protected leave(): void {
    this.state.isInUpdate = false;
    this.state.lock.leave();
  }

  protected get count(): number {
    return this.figures[F_COUNT] as number;
  }

  protected get bytes(): number {
    return this.figures[F_BYTES] as number;
  }

  protected find(key: string): Oh | undefined {
    const oh = this.state.index.find(this.prefix + key);
    // The index may return it as a negative number.
    return oh === 0 ? undefined : oh >>> 0;
  }

  protected rowOf(oh: Oh): SharedRow {
    return { numbers: this.numbersOf(oh), text: this.textOf(oh) };
  }

  protected sizeOf(oh: Oh): number {
    return this.state.index.extra(oh, SIZE);
  }

  protected add(key: string): Oh {
    const { index } = this.state;
    const oh = index.findOrAdd(this.prefix + key);
    index.setExtra(oh, LENGTH, NO_TEXT);
    if (this.shape.numbers > 0) index.setExtra(oh, NUMBERS, this.block(8 * this.shape.numbers));
    this.countRows(1);
    return oh;
  }

  protected save(oh: Oh, row: SharedRow, size: number): void {
    this.writeNumbers(oh, row.numbers);
    if (this.textOf(oh) !== row.text) this.writeText(oh, row.text);
    this.addBytes(size - this.sizeOf(oh));
    this.state.index.setExtra(oh, SIZE, size);
    if (this.figures[F_NEWEST] === oh) return;
    this.unlink(oh);
    this.linkNewest(oh);
  }

  protected drop(oh: Oh): void {
    const { index, values } = this.state;
    this.unlink(oh);
    this.freeText(oh);
    const numbers = index.extra(oh, NUMBERS);
    if (numbers !== 0) values.free(numbers);
    this.addBytes(-this.sizeOf(oh));
    this.countRows(-1);
    index.remove(oh);
  }

  protected *fromOldest(): Iterable<Oh> {
    for (let oh = this.figures[F_OLDEST] as number; oh !== 0; ) {
      const next = this.state.index.extra(oh, NEWER);
      yield oh;
      oh = next;
    }
  }

  private numbersOf(oh: Oh): number[] {
    const { values, index } = this.state;
    const { numbers } = this.shape;
    const out: number[] = [];
    if (numbers === 0) return out;
    const block = index.extra(oh, NUMBERS);
    const bytes = values.chunk(block);
    const at = values.offset(block);
    for (let i = 0; i < numbers; i++) out.push(bytes.readDoubleLE(at + 8 * i));
    return out;
  }

  private writeNumbers(oh: Oh, row: readonly number[]): void {
    const { values, index } = this.state;
    const { numbers } = this.shape;
    if (numbers === 0) return;
    const block = index.extra(oh, NUMBERS);
    const bytes = values.chunk(block);
    const at = values.offset(block);
    for (let i = 0; i < numbers; i++) bytes.writeDoubleLE(row[i] as number, at + 8 * i);
  }

  private textOf(oh: Oh): string | null {
    const { values, index } = this.state;
    const length = index.extra(oh, LENGTH);
    if (length === NO_TEXT) return null;
    const encoding = index.extra(oh, WIDE) === 1 ? 'utf16le' : 'latin1';
    // Pieces have an even number of bytes and so end between characters.
    let text = '';
    let block = index.extra(oh, TEXT);
    for (let left = length; left > 0; left -= PIECE) {
      const bytes = values.chunk(block);
      const at = values.offset(block);
      text += bytes.toString(encoding, at + LINK, at + LINK + Math.min(left, PIECE));
      block = bytes.readUInt32LE(at);
    }
    return text;
  }

  private writeText(oh: Oh, text: string | null): void {
    const { values, index } = this.state;
    this.freeText(oh);
    if (text === null) return;
    const wide = isWide(text);
    const bytes = Buffer.from(text, wide ? 'utf16le' : 'latin1');
    // The last piece first, because each one refers to its successor.
    let next = 0;
    for (let from = Math.floor((bytes.length - 1) / PIECE) * PIECE; from >= 0; from -= PIECE) {
      const length = Math.min(PIECE, bytes.length - from);
      const block = this.block(LINK + length);
      const at = values.offset(block);
      const chunk = values.chunk(block);
      chunk.writeUInt32LE(next, at);
      bytes.copy(chunk, at + LINK, from, from + length);
      next = block;
    }
    index.setExtra(oh, TEXT, next);
    index.setExtra(oh, WIDE, wide ? 1 : 0);
    index.setExtra(oh, LENGTH, bytes.length);
  }

  private freeText(oh: Oh): void {
    const { values, index } = this.state;
    for (let block = index.extra(oh, TEXT); block !== 0; ) {
      const next = values.chunk(block).readUInt32LE(values.offset(block));
      values.free(block);
      block = next;
    }
    index.setExtra(oh, TEXT, 0);
    index.setExtra(oh, LENGTH, NO_TEXT);
  }

  private block(bytes: number): number {
    const block = this.state.values.alloc(bytes);
    if (block === 0) throw new Error('Shared state has no memory left');
    return block;
  }

  private linkNewest(oh: Oh): void {
    const { figures } = this;
    const { index } = this.state;
    const newest = figures[F_NEWEST] as number;
    index.setExtra(oh, OLDER, newest);
    index.setExtra(oh, NEWER, 0);
    if (newest === 0) figures[F_OLDEST] = oh;
    else index.setExtra(newest, NEWER, oh);
    figures[F_NEWEST] = oh;
  }

  /** Does nothing for a row that is not linked yet. */
  private unlink(oh: Oh): void {
    const { figures } = this;
    const { index } = this.state;
    const older = index.extra(oh, OLDER);
    const newer = index.extra(oh, NEWER);
    if (older !== 0) index.setExtra(older, NEWER, newer);
    else if (figures[F_OLDEST] === oh) figures[F_OLDEST] = newer;
    if (newer !== 0) index.setExtra(newer, OLDER, older);
    else if (figures[F_NEWEST] === oh) figures[F_NEWEST] = older;
  }

  private countRows(by: number): void {
    this.figures[F_COUNT] = (this.figures[F_COUNT] as number) + by;
  }

  private addBytes(by: number): void {
    this.figures[F_BYTES] = (this.figures[F_BYTES] as number) + by;
  }
}
