// A ban of the list, as one thread has it: what does not change of it, and where its row is; and the bans by number.

import type { RowTable } from '../row-table.ts';
import type { BanExpression } from './ban-expression.ts';

// A ban's row: its time (a double), then words.
export const TIME = 0;
export const NUMBER = 2;
const REFS = 3;
export const FLAGS = 4;
export const NEWER = 5;
/** Where its expression is written, for other threads to read, and its length. */
export const SOURCE = 6;
export const SOURCE_LENGTH = 7;
export const BAN_WORDS = 8;

const COMPLETED = 1;
export const SOFT = 2;

export class Ban {
  readonly number: number;
  /** Epoch seconds. */
  readonly time: number;
  readonly expression: BanExpression;
  /** Objects that match become stale as of `time` instead of going. */
  readonly soft: boolean;
  newer: Ban | null = null;
  older: Ban | null = null;
  /** The nearest ones with the same expression, where a newer hard one has not come since. */
  newerSame: Ban | null = null;
  olderSame: Ban | null = null;
  readonly row: number;
  private readonly rows: RowTable;
  /** As it was when it left the list. */
  private gone = false;

  constructor(rows: RowTable, row: number, expression: BanExpression) {
    this.rows = rows;
    this.row = row;
    this.number = rows.get(row, NUMBER);
    this.time = rows.getDouble(row, TIME);
    this.soft = (rows.get(row, FLAGS) & SOFT) !== 0;
    this.expression = expression;
  }

  get refs(): number {
    return this.gone ? 0 : this.rows.get(this.row, REFS);
  }

  set refs(count: number) {
    this.rows.set(this.row, REFS, count);
  }

  /** Nothing needs to be tested against it any more. */
  get completed(): boolean {
    return this.gone || (this.rows.get(this.row, FLAGS) & COMPLETED) !== 0;
  }

  complete(): void {
    this.rows.set(this.row, FLAGS, this.rows.get(this.row, FLAGS) | COMPLETED);
  }

  /** It is no longer in the list; a round of the lurker may still name it. */
  leave(): void {
    this.gone = true;
  }
}

/** Bans of a part. */
const PART_SHIFT = 10;
const PART = 1 << PART_SHIFT;

/** The bans of the list, whose numbers follow one another, in parts: nothing is ever moved. */
export class NumberedBans {
  private readonly parts = new Map<number, (Ban | undefined)[]>();

  get(number: number): Ban | undefined {
    return this.parts.get(number >>> PART_SHIFT)?.[number & (PART - 1)];
  }

  add(ban: Ban): void {
    const at = ban.number >>> PART_SHIFT;
    let part = this.parts.get(at);
    if (part === undefined) {
      part = new Array<Ban | undefined>(PART);
      this.parts.set(at, part);
    }
    part[ban.number & (PART - 1)] = ban;
  }

  /** Takes the oldest one out. */
  remove({ number }: Ban): void {
    const place = number & (PART - 1);
    const part = this.parts.get(number >>> PART_SHIFT);
    if (part === undefined) return;
    part[place] = undefined;
    if (place === PART - 1) this.parts.delete(number >>> PART_SHIFT);
  }
}
