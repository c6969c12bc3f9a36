// State shared by all threads of a worker: tables of rows by key, and memory by name. An extension that counts, limits
// or remembers for the whole proxy keeps it here; module variables belong to one thread.
//
// It lives as long as the worker: a new one starts empty. All operations are synchronous.

/** A row of a table. */
export interface SharedRow {
  /** One for each number of the table, initially 0. */
  readonly numbers: readonly number[];
  /** Initially null. */
  readonly text: string | null;
}

/** A row during an update. */
export interface SharedDraft {
  readonly numbers: number[];
  text: string | null;
  /** Whether the key had no row. */
  readonly isNew: boolean;
}

/** The limits of a table. */
export interface TableShape {
  /** Numbers per row: 0 to 64, default 0. All users of the table must give the same. */
  numbers?: number;
  /** Maximum number of rows, default 10000. */
  entries?: number;
  /** Maximum bytes of all keys and texts, plus 8 per number; default 16 MiB. A text with a character beyond Latin-1
   * takes two bytes per character. */
  bytes?: number;
  /** Whether the least recently updated rows are evicted to make room. If not (the default), an update that needs
   * more room throws. */
  forgetsOldest?: boolean;
}

export interface SharedTable {
  /**
   * Updates the row of a key, created if missing, and returns the function's result. No other thread reads or
   * changes any table meanwhile, so that the function must be short, must not use tables itself and must not return
   * a promise. Nothing is changed if it throws. Throws if the table is full.
   */
  update<T>(key: string, change: (row: SharedDraft) => T): T;
  /** The current row, or null. */
  read(key: string): SharedRow | null;
  /** Removes the row of a key, given a function only if that returns true; returns whether it did. */
  remove(key: string, isToGo?: (row: SharedRow) => boolean): boolean;
  /** Examines up to `count` of the least recently updated rows, and removes those for which the function returns
   * true. */
  removeOldest(count: number, isToGo: (row: SharedRow) => boolean): void;
  /** Number of rows. */
  readonly size: number;
}

export interface SharedState {
  /** The table of this name, created by the first caller. The limits are those of the caller: each call may give
   * others. */
  table(name: string, shape?: TableShape): SharedTable;
  /** The memory of this name: the result of `make` of the first caller, at most 64 MiB. */
  memory(name: string, make: () => SharedArrayBuffer): SharedArrayBuffer;
}
