// A ban as one thread sees it: its immutable part, and its row in shared memory; the bans by number; and the text of ban.list.

import type { RowTable } from '../row-table.ts';
import type { BanExpression } from './ban-expression.ts';

// Row of a ban: its time (a double), then words.
export const TIME = 0;
export const NUMBER = 2;
const REFS = 3;
export const FLAGS = 4;
export const NEWER = 5;
/** Block with the text of the expression, for other threads, and its length. */
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
  /** Matching objects become stale as of `time` instead of being removed. */
  readonly soft: boolean;
  newer: Ban | null = null;
  older: Ban | null = null;
  /** Neighbours with the same expression, unless a newer hard ban has completed them. */
  newerSame: Ban | null = null;
  olderSame: Ban | null = null;
  readonly row: number;
  private readonly rows: RowTable;
  /** It has left the list. */
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

  /** No object needs to be tested against it. */
  get completed(): boolean {
    return this.gone || (this.rows.get(this.row, FLAGS) & COMPLETED) !== 0;
  }

  complete(): void {
    this.rows.set(this.row, FLAGS, this.rows.get(this.row, FLAGS) | COMPLETED);
  }

  /** Called when it leaves the list; a round of the lurker may still hold it. */
  leave(): void {
    this.gone = true;
  }
}

/** Bans of a part. */
const PART_SHIFT = 10;
const PART = 1 << PART_SHIFT;

/** The bans of the list by number. Numbers are consecutive; parts are never copied. */
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

  /** Removes the oldest one. */
  remove({ number }: Ban): void {
    const place = number & (PART - 1);
    const part = this.parts.get(number >>> PART_SHIFT);
    if (part === undefined) return;
    part[place] = undefined;
    if (place === PART - 1) this.parts.delete(number >>> PART_SHIFT);
  }
}

/** Objects that hold a reference to a ban, by handle; null unless debug +lurker is on. */
export type ObjectsOf = ((ban: Ban) => readonly number[]) | null;

/** "Present bans:" and a line for each: time, references, C when completed, S when soft, expression. */
export function* banLines(bans: Iterable<Ban>, objectsOf: ObjectsOf = null): Generator<string> {
  yield 'Present bans:\n';
  for (const ban of bans) {
    const refs = String(ban.refs).padStart(5);
    const completed = ban.completed ? 'C' : '-';
    const begin = `${ban.time.toFixed(6)} ${refs} ${completed}`;
    if (objectsOf === null) {
      yield `${begin}${ban.soft ? 'S' : ' '} ${specOf(ban)}\n`;
      continue;
    }
    yield `${begin}${usesRequest(ban)}${usesObject(ban)} ${pointer(ban.number)} ${ban.soft ? 'S' : ' '} ${specOf(ban)}\n`;
    for (const oc of objectsOf(ban)) yield `  oc = ${pointer(oc)}\n`;
  }
}

function usesRequest(ban: Ban): string {
  return ban.expression.usesRequest ? 'R' : '-';
}

function usesObject(ban: Ban): string {
  return ban.expression.usesObject ? 'O' : '-';
}

function pointer(number: number): string {
  return `0x${number.toString(16).padStart(12, '0')}`;
}

/** The elements of the JSON answer after its head, in Varnish's layout; separated by a comma and a line end. */
export function* banElements(bans: Iterable<Ban>, objectsOf: ObjectsOf = null): Generator<string> {
  for (const ban of bans) {
    let more = ban.soft ? ',\n    "soft": true' : '';
    if (objectsOf !== null) {
      const objects = objectsOf(ban).map((oc) => `      ${pointer(oc)}`);
      more += `,\n    "req_tests": ${usesRequest(ban) === 'R'},\n    "obj_tests": ${usesObject(ban) === 'O'}`;
      more += `,\n    "pointer": "${pointer(ban.number)}",\n    "objcores": [\n${objects.length === 0 ? '    ' : objects.join(',\n')}\n]`;
    }
    yield `  {\n    "time": ${ban.time.toFixed(6)},\n    "refs": ${ban.refs},\n    "completed": ${ban.completed},\n    "spec": ${JSON.stringify(specOf(ban))}${more}\n}`;
  }
}

/** As in Varnish, empty for a completed ban. */
function specOf(ban: Ban): string {
  return ban.completed ? '' : ban.expression.text;
}
