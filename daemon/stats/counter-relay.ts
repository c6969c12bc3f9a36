// Reports the counters of a thread beside the first to that one, whose counters-file.ts publishes the sums: every 100 ms
// what has changed, and nothing when nothing has. Many backends take turns, as they do in the file. It has the interface
// of the file as far as such a thread uses it, and never writes itself.
//
// Special case: a backend that was removed is reported a last time, with what it counted since the report before.

import {
  type CounterRow,
  MAIN_COUNTERS,
  THR_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import type { MainCounters, VbeCounters, WrkCounters } from './counter-fields.ts';
import { BEAT, BEATS, shareOf } from './publication-beat.ts';
import type { ThreadRow } from './thread-row.ts';

/** Backends that were removed, in one report (chosen: as many as come in one from ten thousand that live). */
const MOST_REMOVED = 1000;

/** Indexes of the table's rows, and their values as they are now, in turn. */
export type CounterChanges = readonly number[];

export interface BackendChanges {
  /** Number of this object among all that the thread counts in. */
  readonly part: number;
  readonly program: string;
  readonly name: string;
  /** False: the thread has removed it. */
  readonly live: boolean;
  readonly changes: CounterChanges;
}

export interface CountersMessage {
  readonly kind: 'counters';
  /** What was counted before, in milliseconds of the epoch, is in this report or in one before. */
  readonly at: number;
  readonly main: CounterChanges;
  readonly wrk: CounterChanges;
  readonly thr: CounterChanges;
  readonly backends: readonly BackendChanges[];
}

/** An object and what was sent of it: at first all values, since an object that comes again may have been sent before. */
class Tracked {
  private readonly rows: readonly CounterRow[];
  private readonly values: Readonly<Record<string, number | bigint>>;
  private readonly sent: number[];

  constructor(rows: readonly CounterRow[], values: object) {
    this.rows = rows;
    this.values = values as Record<string, number | bigint>;
    this.sent = rows.map(() => Number.NaN);
  }

  /** Without bitmaps and what is the first thread's alone. */
  changes(): number[] {
    const out: number[] = [];
    const { rows, values, sent } = this;
    for (let i = 0; i < rows.length; i++) {
      const { name, threads } = rows[i] as CounterRow;
      const value = values[name];
      if (value === sent[i] || typeof value !== 'number' || threads === 'first') continue;
      sent[i] = value;
      out.push(i, value);
    }
    return out;
  }
}

interface TrackedBackend {
  readonly part: number;
  readonly program: string;
  readonly name: string;
  readonly counters: VbeCounters;
  readonly tracked: Tracked;
}

export class CounterRelay {
  /** Called after each look at the counters with the time when it began: what was counted before has been sent. */
  looked: ((at: number) => void) | null = null;
  /** Called before each report, about once a second and once at the end: brings gauges up to date. */
  sample: (() => void) | null = null;
  private readonly send: (message: CountersMessage) => void;
  private readonly main: Tracked;
  private readonly wrk: Tracked;
  private readonly thr: Tracked;
  private readonly row: ThreadRow;
  private readonly backends = new Map<VbeCounters, TrackedBackend>();
  /** Those in the order in which they have their turns; null after a change. */
  private order: readonly TrackedBackend[] | null = null;
  private readonly removed = new Map<VbeCounters, TrackedBackend>();
  /** An object keeps its number: a backend that comes again goes on counting. */
  private readonly parts = new WeakMap<VbeCounters, number>();
  private nextPart = 1;
  private turn = 0;
  private beats = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    main: MainCounters,
    wrk: WrkCounters,
    row: ThreadRow,
    send: (message: CountersMessage) => void,
  ) {
    this.send = send;
    this.row = row;
    this.main = new Tracked(MAIN_COUNTERS, main);
    this.wrk = new Tracked(WRK_COUNTERS, wrk);
    this.thr = new Tracked(THR_COUNTERS, row.values);
  }

  addBackend(program: string, name: string, counters: VbeCounters): void {
    this.order = null;
    const again = this.removed.get(counters);
    if (again !== undefined) {
      this.removed.delete(counters);
      this.backends.set(counters, again);
      return;
    }
    let part = this.parts.get(counters);
    if (part === undefined) {
      part = this.nextPart++;
      this.parts.set(counters, part);
    }
    const tracked = new Tracked(VBE_COUNTERS, counters);
    this.backends.set(counters, { part, program, name, counters, tracked });
  }

  removeBackend(counters: VbeCounters): void {
    const gone = this.backends.get(counters);
    if (gone === undefined) return;
    this.order = null;
    this.backends.delete(counters);
    this.removed.set(counters, gone);
  }

  /** Begins to report. */
  start(): void {
    this.publish();
    this.timer = setInterval(() => this.publish(), BEAT);
    this.timer.unref();
  }

  /** Reports a last time, all backends. */
  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.beats = 0;
    this.report([...this.backends.values()], this.removed.size);
  }

  publish(): void {
    this.order ??= [...this.backends.values()];
    const { order } = this;
    const share = shareOf(order.length);
    if (this.turn >= order.length) this.turn = 0;
    const due = order.slice(this.turn, this.turn + share);
    this.turn += share;
    this.report(due, MOST_REMOVED);
  }

  /** @param most backends that were removed, of which the others have their turn later */
  private report(due: readonly TrackedBackend[], most: number): void {
    const at = Date.now();
    if (this.beats % BEATS === 0) this.sample?.();
    this.beats++;
    this.row.update();
    const main = this.main.changes();
    const wrk = this.wrk.changes();
    const thr = this.thr.changes();
    const backends: BackendChanges[] = [];
    for (const backend of due) {
      const changes = backend.tracked.changes();
      if (changes.length > 0) backends.push(said(backend, true, changes));
    }
    let left = most;
    for (const [counters, backend] of this.removed) {
      if (left-- === 0) break;
      this.removed.delete(counters);
      backends.push(said(backend, false, backend.tracked.changes()));
    }
    if (main.length + wrk.length + thr.length + backends.length > 0)
      this.send({ kind: 'counters', at, main, wrk, thr, backends });
    this.looked?.(at);
  }
}

function said(
  { part, program, name }: TrackedBackend,
  live: boolean,
  changes: CounterChanges,
): BackendChanges {
  return { part, program, name, live, changes };
}
