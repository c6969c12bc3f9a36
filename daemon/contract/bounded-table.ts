// A table of shared state, independent of where its rows are stored: its limits, and the order of updates. An update is
// validated before anything is changed, so that a failed one leaves the table as it was.

import type { SharedDraft, SharedRow, SharedTable, TableShape } from './shared-state.ts';

/** Default limits (chosen). */
const ENTRIES = 10_000;
const BYTES = 16 * 1024 * 1024;
const MOST_NUMBERS = 64;
/** Tables and memories of one worker (chosen): names are constants of extension code, not data of requests. */
export const MOST_NAMES = 1000;
const MOST_MEMORY = 64 * 1024 * 1024;
const NAME = /^[!-~]{1,100}$/;

/** An update of a table needs more space than is available. */
export class SharedStateFull extends Error {
  constructor(name: string, what: string) {
    super(`The shared table '${name}' is full: it has room for ${what}`);
    this.name = 'SharedStateFull';
  }
}

/** Validates the name of a table or a memory. Throws a RangeError. */
export function checkedName(name: string): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new RangeError(`A name of shared state is 1 to 100 visible ASCII characters, not '${String(name)}'`);
}

/** Validates the limits of a table. Throws a RangeError. */
export function checkedShape(name: string, shape: TableShape): Required<TableShape> {
  const { numbers = 0, entries = ENTRIES, bytes = BYTES, forgetsOldest = false } = shape;
  const check = (what: string, value: number, least: number, most: number): void => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw new RangeError(
      `The shared table '${name}': ${what} is ${value}; give a whole number from ${least} to ${most}`,
    );
  };
  check('numbers', numbers, 0, MOST_NUMBERS);
  check('entries', entries, 1, 2 ** 24);
  check('bytes', bytes, 1, 2 ** 30);
  return { numbers, entries, bytes, forgetsOldest };
}

export function refuseOtherNumbers(name: string, asked: number, there: number): void {
  if (asked === there) return;
  throw new RangeError(
    `The shared table '${name}' has ${there} numbers in a row, and is asked for with ${asked}`,
  );
}

/** Validates a memory to be shared under the name. Throws a RangeError. */
export function checkedMemory(name: string, memory: SharedArrayBuffer): SharedArrayBuffer {
  if (memory instanceof SharedArrayBuffer && memory.byteLength > 0 && memory.byteLength <= MOST_MEMORY)
    return memory;
  throw new RangeError(
    `The shared memory '${name}' was not made as a SharedArrayBuffer of 1 to ${MOST_MEMORY} bytes`,
  );
}

/** Whether it needs two bytes per character. */
export function isWide(text: string): boolean {
  return /[^\0-\xff]/.test(text);
}

function bytesOf(text: string | null): number {
  if (text === null) return 0;
  return isWide(text) ? 2 * text.length : text.length;
}

/** @typeParam H a handle of a row; never undefined */
export abstract class BoundedTable<H> implements SharedTable {
  protected readonly name: string;
  protected readonly shape: Required<TableShape>;

  constructor(name: string, shape: Required<TableShape>) {
    this.name = name;
    this.shape = shape;
  }

  /** Enters the critical section. Throws within an update(). */
  protected abstract enter(): void;
  protected abstract leave(): void;
  /** Totals of all rows: their number, and the bytes of keys, texts and numbers. */
  protected abstract readonly count: number;
  protected abstract readonly bytes: number;
  protected abstract find(key: string): H | undefined;
  protected abstract rowOf(handle: H): SharedRow;
  /** The bytes of a row. */
  protected abstract sizeOf(handle: H): number;
  protected abstract add(key: string): H;
  /** Writes a row, which becomes the most recently updated one. */
  protected abstract save(handle: H, row: SharedRow, size: number): void;
  protected abstract drop(handle: H): void;
  /** All rows, least recently updated first; the current one may be dropped during the iteration. */
  protected abstract fromOldest(): Iterable<H>;

  get size(): number {
    return this.alone(() => this.count);
  }

  update<T>(key: string, change: (row: SharedDraft) => T): T {
    this.enter();
    try {
      const found = this.find(key);
      const row = found === undefined ? null : this.rowOf(found);
      const draft: SharedDraft = {
        numbers: row === null ? new Array<number>(this.shape.numbers).fill(0) : row.numbers.slice(),
        text: row === null ? null : row.text,
        isNew: row === null,
      };
      const result = change(draft);
      if (result instanceof Promise)
        throw new TypeError('An update of shared state answers at once, without a promise');
      const size = bytesOf(key) + bytesOf(draft.text) + 8 * this.shape.numbers;
      this.makeRoom(found, size);
      this.save(found ?? this.add(key), draft, size);
      return result;
    } finally {
      this.leave();
    }
  }

  read(key: string): SharedRow | null {
    return this.alone(() => {
      const found = this.find(key);
      return found === undefined ? null : this.rowOf(found);
    });
  }

  remove(key: string, isToGo?: (row: SharedRow) => boolean): boolean {
    return this.alone(() => {
      const found = this.find(key);
      if (found === undefined || (isToGo !== undefined && !isToGo(this.rowOf(found)))) return false;
      this.drop(found);
      return true;
    });
  }

  removeOldest(count: number, isToGo: (row: SharedRow) => boolean): void {
    this.alone(() => {
      let looked = 0;
      for (const handle of this.fromOldest()) {
        if (looked++ >= count) break;
        if (isToGo(this.rowOf(handle))) this.drop(handle);
      }
    });
  }

  private alone<T>(work: () => T): T {
    this.enter();
    try {
      return work();
    } finally {
      this.leave();
    }
  }

  private makeRoom(changed: H | undefined, size: number): void {
    const { entries, bytes, forgetsOldest } = this.shape;
    const before = changed === undefined ? 0 : this.sizeOf(changed);
    const isOver = (): boolean =>
      (changed === undefined && this.count >= entries) ||
      (size > before && this.bytes - before + size > bytes);
    if (!isOver()) return;
    if (!forgetsOldest || size > bytes) this.refuse(changed);
    for (const handle of this.fromOldest()) {
      if (handle !== changed) this.drop(handle);
      if (!isOver()) break;
    }
  }

  private refuse(changed: H | undefined): never {
    const { entries, bytes } = this.shape;
    const isFull = changed === undefined && this.count >= entries;
    throw new SharedStateFull(this.name, isFull ? `${entries} entries` : `${bytes} bytes`);
  }
}
