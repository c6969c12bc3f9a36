// Shared state for outside extensions: in a namespace of their own, with all input validated, and output copied.

import type {
  SharedDraft,
  SharedRow,
  SharedState,
  SharedTable,
  TableShape,
} from '../../contract/shared-state.ts';

/** Prefix of names from outside extensions, which separates them from those of built-in ones. */
const OUTSIDE = 'file:';

export class OutsideShared implements SharedState {
  readonly #state: SharedState;

  constructor(state: SharedState) {
    this.#state = state;
  }

  table(name: string, shape: TableShape = {}): SharedTable {
    return new OutsideTable(name, this.#state.table(OUTSIDE + name, shape), shape.numbers ?? 0);
  }

  memory(name: string, make: () => SharedArrayBuffer): SharedArrayBuffer {
    return this.#state.memory(OUTSIDE + name, make);
  }
}

class OutsideTable implements SharedTable {
  readonly #name: string;
  readonly #table: SharedTable;
  readonly #numbers: number;

  constructor(name: string, table: SharedTable, numbers: number) {
    this.#name = name;
    this.#table = table;
    this.#numbers = numbers;
  }

  get size(): number {
    return this.#table.size;
  }

  update<T>(key: string, change: (row: SharedDraft) => T): T {
    return this.#table.update(checkedKey(key), (row) => {
      const draft: SharedDraft = { numbers: [...row.numbers], text: row.text, isNew: row.isNew };
      const result = change(draft);
      this.#check(draft);
      row.numbers.splice(0, this.#numbers, ...draft.numbers);
      row.text = draft.text;
      return result;
    });
  }

  read(key: string): SharedRow | null {
    const row = this.#table.read(checkedKey(key));
    return row === null ? null : copyOf(row);
  }

  remove(key: string, isToGo: (row: SharedRow) => boolean = () => true): boolean {
    return this.#table.remove(checkedKey(key), (row) => isToGo(copyOf(row)));
  }

  removeOldest(count: number, isToGo: (row: SharedRow) => boolean): void {
    this.#table.removeOldest(count, (row) => isToGo(copyOf(row)));
  }

  #check({ numbers, text }: SharedDraft): void {
    const fits = Array.isArray(numbers) && numbers.length === this.#numbers;
    if (!fits || !numbers.every((number) => typeof number === 'number'))
      throw new TypeError(`A row of the shared table '${this.#name}' takes ${this.#numbers} numbers`);
    if (text !== null && typeof text !== 'string')
      throw new TypeError(
        `A row of the shared table '${this.#name}' takes a text or null, not ${typeof text}`,
      );
  }
}

function checkedKey(key: unknown): string {
  if (typeof key === 'string') return key;
  throw new TypeError(`A key of a shared table is a string, not ${key === null ? 'null' : typeof key}`);
}

function copyOf(row: SharedRow): SharedRow {
  return { numbers: [...row.numbers], text: row.text };
}
