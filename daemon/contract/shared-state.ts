// State that all threads of a worker have as one: tables of rows by key, and pieces of memory by name. An extension that
// counts, limits or remembers for the whole proxy keeps it here; everything in a module is one thread's own.
//
// It lives as long as the worker: a new one begins with nothing. All of it answers at once.

/** What a table keeps under a key. */
export interface SharedRow {
  /** As many as the table has for each row, 0 at first. */
  readonly numbers: readonly number[];
  /** Null at first. */
  readonly text: string | null;
}

/** A row while it is changed. */
export interface SharedDraft {
  readonly numbers: number[];
  text: string | null;
  /** There was no row under this key. */
  readonly isNew: boolean;
}

/** What a table has room for. */
export interface TableShape {
  /** Numbers in each row: 0 to 64, none unless given. Everybody who uses the table has to name the same. */
  numbers?: number;
  /** Rows, at most: 10000 unless given. */
  entries?: number;
  /** Bytes of all keys and texts, and 8 for each number: 16 MiB unless given. A text with a character beyond Latin-1 takes
   * two for each. */
  bytes?: number;
  /** Whether the rows that were not updated for longest make room for new ones. Otherwise, and unless given, an update
   * that needs more room throws. */
  forgetsOldest?: boolean;
}

export interface SharedTable {
  /**
   * Changes the row under a key, which is made when there is none, and returns what the function does. No other thread
   * reads or changes any table meanwhile, so that the function has to be short, and may not use tables itself or return a
   * promise. Changes nothing when it throws. Throws when the table is full.
   */
  update<T>(key: string, change: (row: SharedDraft) => T): T;
  /** The row as it is now, or null. */
  read(key: string): SharedRow | null;
  /** Removes the row of a key, where a function is given only if that says so of it; whether it did. */
  remove(key: string, isToGo?: (row: SharedRow) => boolean): boolean;
  /** Looks at so many of the rows that were not updated for longest, and removes those for which the function says so. */
  removeOldest(count: number, isToGo: (row: SharedRow) => boolean): void;
  /** Rows. */
  readonly size: number;
}

export interface SharedState {
  /** The table of this name, made by whoever asks first. The bounds are those of who asks: each call may name others. */
  table(name: string, shape?: TableShape): SharedTable;
  /** The memory of this name: that which `make` gave where it was asked for first, at most 64 MiB. */
  memory(name: string, make: () => SharedArrayBuffer): SharedArrayBuffer;
}
