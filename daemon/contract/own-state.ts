// Shared state where there is only one thread: plain maps, in which the rows lie in the order of their updates.

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
}

/** The rows of a table, whoever has asked for it. */
interface Rows {
  readonly numbers: number;
  /** The one that was not updated for longest comes first. */
  readonly entries: Map<string, Entry>;
  bytes: number;
}

/** Whether an update runs. */
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
      rows = { numbers: whole.numbers, entries: new Map(), bytes: 0 };
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
    return { key, row: NOTHING, size: 0 };
  }

  protected save(entry: Entry, row: SharedRow, size: number): void {
    const { rows } = this;
    rows.bytes += size - entry.size;
    entry.row = { numbers: row.numbers, text: row.text };
    entry.size = size;
    rows.entries.delete(entry.key);
    rows.entries.set(entry.key, entry);
  }

  protected drop(entry: Entry): void {
    this.rows.bytes -= entry.size;
    this.rows.entries.delete(entry.key);
  }

  protected fromOldest(): Iterable<Entry> {
    return this.rows.entries.values();
  }
}

const NOTHING: SharedRow = { numbers: [], text: null };
