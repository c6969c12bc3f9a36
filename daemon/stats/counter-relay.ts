// Reports the counters of any other thread to the first one, whose counters-file.ts publishes the sums: every 100 ms
// the changed values, and nothing without a change. Many backends take turns, as in the file. It has the part of the
// file's interface that such a thread uses, and never writes itself.
//
// Special case: a removed backend is reported once more, with its counts since the last report.

import {
  type CounterRow,
  MAIN_COUNTERS,
  THR_COUNTERS,
  TLS_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import type { MainCounters, TlsCounters, VbeCounters, WrkCounters } from './counter-fields.ts';
import { BEAT, BEATS, shareOf } from './publication-beat.ts';
import type { ThreadRow } from './thread-row.ts';

/** Removed backends in one report (chosen: as many as one turn reports of ten thousand live ones). */
const MOST_REMOVED = 1000;

/** Indexes of the table's rows and their current values, alternating. */
export type CounterChanges = readonly number[];

export interface BackendChanges {
  /** Serial number of this counter object in its thread. */
  readonly part: number;
  readonly program: string;
  readonly name: string;
  /** False when the thread has removed the backend. */
  readonly live: boolean;
  readonly changes: CounterChanges;
}

export interface CountersMessage {
  readonly kind: 'counters';
  /** Milliseconds of the epoch: everything counted before is in this report or an earlier one. */
  readonly at: number;
  readonly main: CounterChanges;
  readonly wrk: CounterChanges;
  readonly thr: CounterChanges;
  readonly tls: CounterChanges;
  readonly backends: readonly BackendChanges[];
}

/** A counter object and the values last sent. The first report has all values: an object that returns may have been
 * sent before. */
class Tracked {
  private readonly rows: readonly CounterRow[];
  private readonly values: Readonly<Record<string, number | bigint>>;
  private readonly sent: number[];

  constructor(rows: readonly CounterRow[], values: object) {
    this.rows = rows;
    this.values = values as Record<string, number | bigint>;
    this.sent = rows.map(() => Number.NaN);
  }

  /** Omits bitmaps and rows that only the first thread has. */
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
  /** Called after each pass over the counters with the time it began: everything counted before has been sent. */
  scanned: ((at: number) => void) | null = null;
  /** Called before a report, about once a second and at the end, to update gauges. */
  sample: (() => void) | null = null;
  private readonly send: (message: CountersMessage) => void;
  private readonly main: Tracked;
  private readonly wrk: Tracked;
  private readonly thr: Tracked;
  private readonly tls: Tracked;
  private readonly row: ThreadRow;
  private readonly backends = new Map<VbeCounters, TrackedBackend>();
  /** The backends in the order of their turns; null after a change. */
  private order: readonly TrackedBackend[] | null = null;
  private readonly removed = new Map<VbeCounters, TrackedBackend>();
  /** Serial numbers: an object keeps its own, so that a backend that returns continues its counts. */
  private readonly parts = new WeakMap<VbeCounters, number>();
  private nextPart = 1;
  private turn = 0;
  private beats = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    main: MainCounters,
    wrk: WrkCounters,
    tls: TlsCounters,
    row: ThreadRow,
    send: (message: CountersMessage) => void,
  ) {
    this.send = send;
    this.row = row;
    this.main = new Tracked(MAIN_COUNTERS, main);
    this.wrk = new Tracked(WRK_COUNTERS, wrk);
    this.thr = new Tracked(THR_COUNTERS, row.values);
    this.tls = new Tracked(TLS_COUNTERS, tls);
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

  /** Starts to report. */
  start(): void {
    this.publish();
    this.timer = setInterval(() => this.publish(), BEAT);
    this.timer.unref();
  }

  /** Sends a last report, with all backends. */
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

  /** @param most removed backends to report; the rest follow in later reports */
  private report(due: readonly TrackedBackend[], most: number): void {
    const at = Date.now();
    if (this.beats % BEATS === 0) this.sample?.();
    this.beats++;
    this.row.update();
    const main = this.main.changes();
    const wrk = this.wrk.changes();
    const thr = this.thr.changes();
    const tls = this.tls.changes();
    const backends: BackendChanges[] = [];
    for (const backend of due) {
      const changes = backend.tracked.changes();
      if (changes.length > 0) backends.push(changesOf(backend, true, changes));
    }
    let left = most;
    for (const [counters, backend] of this.removed) {
      if (left-- === 0) break;
      this.removed.delete(counters);
      backends.push(changesOf(backend, false, backend.tracked.changes()));
    }
    if (main.length + wrk.length + thr.length + tls.length + backends.length > 0)
      this.send({ kind: 'counters', at, main, wrk, thr, tls, backends });
    this.scanned?.(at);
  }
}

function changesOf(
  { part, program, name }: TrackedBackend,
  live: boolean,
  changes: CounterChanges,
): BackendChanges {
  return { part, program, name, live, changes };
}
