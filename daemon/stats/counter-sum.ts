// The counters of one name, such as MAIN or VBE.boot.default, over all threads: objects that this thread counts in, and
// the values reported by others. A row's value is their sum, unless the table says otherwise.
//
// Special case: removed parts still count while others of the name live, so that no counter decreases because a thread
// closed an idle backend; and a part may return, as when a program is cooled and warmed.

import type { CounterRow } from '../../protocol/tables/counters.ts';

/** Removed parts that are remembered in case they return (chosen). Older ones are added up: run-time backends that do
 * not return. */
const MAY_COME_AGAIN = 8;

type Values = Readonly<Record<string, number | bigint>>;

interface Reported {
  readonly values: number[];
  live: boolean;
}

export class CounterSum {
  readonly prefix: string;
  readonly rows: readonly CounterRow[];
  /** Objects of this thread; several when a program has the name of one that is still in use. */
  private own: readonly Values[] = [];
  /** Keyed by thread and serial number. */
  private readonly reported = new Map<string, Reported>();
  /** Sums of the reported values by row; null without any. */
  private others: number[] | null = null;
  /** Sums of parts that are no longer remembered. */
  private readonly left: number[];

  constructor(prefix: string, rows: readonly CounterRow[], own?: Values) {
    this.prefix = prefix;
    this.rows = rows;
    this.left = rows.map(() => 0);
    if (own !== undefined) this.own = [own];
  }

  /** Whether any thread has an instance. */
  get isLive(): boolean {
    return this.own.length > 0 || [...this.reported.values()].some(({ live }) => live);
  }

  /** The one object whose values are those of the rows; null if there are several. */
  get alone(): Values | null {
    return this.others === null && this.own.length === 1 ? (this.own[0] as Values) : null;
  }

  /** The value of row `i`; a gauge of a single thread may be below zero. */
  value(i: number): number | bigint {
    const { own, others, rows } = this;
    const { name, threads, flag } = rows[i] as CounterRow;
    // The newest of several objects: a bitmap has no sum.
    const first = own.length === 0 ? 0 : ((own[own.length - 1] as Values)[name] as number | bigint);
    if (own.length > 1 && typeof first === 'number')
      return this.join(
        i,
        own.reduce((sum, values) => sum + (values[name] as number), 0),
      );
    if (others === null || typeof first === 'bigint' || flag === 'b' || threads === 'first') return first;
    return this.join(i, first);
  }

  /** Adds an object of this thread. */
  add(values: Values, part: string): void {
    this.own = [...this.own.filter((each) => each !== values), values];
    if (this.reported.delete(part)) this.sumUp();
  }

  /** Removes an object of this thread; its counts stay in the sum. */
  remove(values: Values, part: string): void {
    if (!this.own.includes(values)) return;
    this.own = this.own.filter((each) => each !== values);
    const kept = this.rows.map(({ name }) => Number(values[name]));
    this.reported.set(part, { values: kept, live: false });
    this.sumUp();
  }

  /** Merges a thread's report about one of its parts: row indexes and values, alternating. */
  report(part: string, changes: readonly number[], live: boolean): void {
    let reported = this.reported.get(part);
    if (reported === undefined) {
      reported = { values: this.rows.map(() => 0), live };
      this.reported.set(part, reported);
    }
    reported.live = live;
    for (let i = 0; i < changes.length; i += 2)
      reported.values[changes[i] as number] = changes[i + 1] as number;
    this.sumUp();
  }

  private join(i: number, own: number): number {
    const other = this.others?.[i] ?? 0;
    switch ((this.rows[i] as CounterRow).threads) {
      case 'first':
        return own;
      case 'worst':
        return Math.max(own, other);
      default:
        return own + other;
    }
  }

  private sumUp(): void {
    this.forget();
    const { rows, reported } = this;
    const others = [...this.left];
    for (const { values, live } of reported.values()) {
      rows.forEach(({ threads, flag }, i) => {
        const value = values[i] as number;
        if (threads === 'worst') others[i] = Math.max(others[i] as number, live ? value : 0);
        // Gauges of a removed part are zero.
        else if (live || flag === 'c') others[i] = (others[i] as number) + value;
      });
    }
    this.others = others;
  }

  private forget(): void {
    const gone = [...this.reported].filter(([, { live }]) => !live);
    for (const [part, { values }] of gone.slice(0, -MAY_COME_AGAIN)) {
      this.reported.delete(part);
      this.rows.forEach(({ flag, threads }, i) => {
        if (flag === 'c' && threads !== 'worst')
          this.left[i] = (this.left[i] as number) + (values[i] as number);
      });
    }
  }
}
