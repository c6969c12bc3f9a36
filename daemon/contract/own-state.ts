// Shared state of a single thread: rows found by key, and linked in the order of their updates.

import { LargeMap } from '../large-map.ts';
import {
  BoundedTable,
  checkedMemory,
  checkedName,
  checkedShape,
  MOST_NAMES,
  refuseOtherNumbers,
} from './bounded-table.ts';
import type { SharedRow, SharedState, SharedTable, TableShape } from './shared-state.ts';

interface Entry {
  readonly key: string;
  row: SharedRow;
  size: number;
  older: Entry | null;
  newer: Entry | null;
}

/** The rows of a table, common to all its users. */
interface Rows {
  readonly numbers: number;
  readonly entries: LargeMap<Entry>;
  /** The least and the most recently updated row. */
  oldest: Entry | null;
  newest: Entry | null;
  bytes: number;
}

/** Whether an update is running. */
interface Turn {
  isTaken: boolean;
}

export class OwnState implements SharedState {
  private readonly tables = new Map<string, Rows>();
  private readonly memories = new Map<string, SharedArrayBuffer>();
  private readonly turn: Turn = { isTaken: false };

  table(name: string, shape: TableShape = {}): SharedTable {
    const whole = checkedShape(checkedName(name), shape);
    let rows = this.tables.get(name);
    if (rows === undefined) {
      refuseMore(this.tables.size);
      rows = { numbers: whole.numbers, entries: new LargeMap(), oldest: null, newest: null, bytes: 0 };
      this.tables.set(name, rows);
    }
    refuseOtherNumbers(name, whole.numbers, rows.numbers);
    return new OwnTable(name, whole, rows, this.turn);
  }

  memory(name: string, make: () => SharedArrayBuffer): SharedArrayBuffer {
    const there = this.memories.get(checkedName(name));
    if (there !== undefined) return there;
    refuseMore(this.memories.size);
    const memory = checkedMemory(name, make());
    this.memories.set(name, memory);
    return memory;
  }
}

export function refuseMore(names: number): void {
  if (names >= MOST_NAMES) throw new RangeError(`There are ${MOST_NAMES} names of shared state already`);
}

class OwnTable extends BoundedTable<Entry> {
  private readonly rows: Rows;
  private readonly turn: Turn;

  constructor(name: string, shape: Required<TableShape>, rows: Rows, turn: Turn) {
    super(name, shape);
    this.rows = rows;
    this.turn = turn;
  }

  protected enter(): void {
    const { turn } = this;
    if (turn.isTaken) throw new Error('Shared state is used within an update of it');
    turn.isTaken = true;
  }

  protected leave(): void {
    this.turn.isTaken = false;
  }

  protected get count(): number {
    return this.rows.entries.size;
  }

  protected get bytes(): number {
    return this.rows.bytes;
  }

  protected find(key: string): Entry | undefined {
    return this.rows.entries.get(key);
  }

  protected rowOf(entry: Entry): SharedRow {
    return entry.row;
  }

  protected sizeOf(entry: Entry): number {
    return entry.size;
  }

  protected add(key: string): Entry {
    const entry: Entry = { key, row: NOTHING, size: 0, older: null, newer: null };
    this.rows.entries.set(key, entry);
    this.linkNewest(entry);
    return entry;
  }

  protected save(entry: Entry, row: SharedRow, size: number): void {
    const { rows } = this;
    rows.bytes += size - entry.size;
    entry.row = { numbers: row.numbers, text: row.text };
    entry.size = size;
    if (entry === rows.newest) return;
    this.unlink(entry);
    this.linkNewest(entry);
  }

  protected drop(entry: Entry): void {
    this.rows.bytes -= entry.size;
    this.rows.entries.delete(entry.key);
    this.unlink(entry);
  }

  protected *fromOldest(): Iterable<Entry> {
    for (let entry = this.rows.oldest; entry !== null; ) {
      const next: Entry | null = entry.newer;
      yield entry;
      entry = next;
    }
  }

  private linkNewest(entry: Entry): void {
    const { rows } = this;
    entry.older = rows.newest;
    entry.newer = null;
    if (rows.newest === null) rows.oldest = entry;
    else rows.newest.newer = entry;
    rows.newest = entry;
  }

  private unlink(entry: Entry): void {
    const { rows } = this;
    if (entry.older === null) rows.oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) rows.newest = entry.older;
    else entry.newer.older = entry.older;
  }
}

const NOTHING: SharedRow = { numbers: [], text: null };
