// Publishes the worker's counters in a file that the manager reads: every 100 ms positioned writes of the values that changed,
// and the time up to which they count everything. Many backends take turns, a tenth of them each time, so that thousands of
// idle ones cost little and no publication takes long. Instances (storages, backends) come and go; a changed set is written to
// a new file that replaces the old one, a large one over many turns of the event loop once it has settled. The file is never
// read back, and an error never fails the worker: after a failed write, or when the file was removed (by a cleaner of old
// files, or a worker that ended late), the next publication makes a new file. With several threads the first one has the file,
// and merges the reports of the others (counter-relay.ts).

import type { FileAccess } from '../../protocol/files/own-file.ts';
import {
  EDGE_COUNTERS,
  MAIN_COUNTERS,
  SMA_COUNTERS,
  SMD_COUNTERS,
  THR_COUNTERS,
  TLS_COUNTERS,
  VBE_COUNTERS,
  VCP_COUNTERS,
  WAITER_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import type { WriteTrouble } from '../log/write-trouble.ts';
import { turns } from '../turns/turns.ts';
import type {
  EdgeCounters,
  MainCounters,
  SmaCounters,
  SmdCounters,
  TlsCounters,
  VbeCounters,
  VcpCounters,
  WaiterCounters,
  WrkCounters,
} from './counter-fields.ts';
import type { CountersMessage } from './counter-relay.ts';
import { CounterSum } from './counter-sum.ts';
import { CountersLayout } from './counters-layout.ts';
import { BEAT, BEATS } from './publication-beat.ts';
import type { ReportTimes } from './report-times.ts';
import type { ThreadRow } from './thread-row.ts';

/** Number of the thread that has the file; it prefixes the keys of its objects. */
const OWN = 0;

/** The THR row with the seconds since a thread's last report. */
const SILENT = THR_COUNTERS.findIndex(({ name }) => name === 'silent');

/** Number of backends up to which a new file is made at once (chosen: some milliseconds). */
const AT_ONCE = 256;

export class CountersFile {
  /** Called before a publication, about once a second and at the end, to update gauges. */
  sample: (() => void) | null = null;
  /** Times up to which the threads' counts are included, in milliseconds of the epoch; null with one thread. */
  reports: Pick<ReportTimes, 'until' | 'wholeUntil'> | null = null;
  private readonly path: string;
  private readonly access: FileAccess;
  private readonly trouble: WriteTrouble | null;
  private readonly main: CounterSum;
  private readonly wrk: CounterSum;
  private readonly storages: CounterSum[] = [];
  /** Keyed by prefix. */
  private readonly backends = new Map<string, CounterSum>();
  private pools: CounterSum[] = [];
  private tls: CounterSum[] = [];
  private edge: CounterSum[] = [];
  private readonly threads: CounterSum[] = [];
  private row: ThreadRow | null = null;
  /** Keys of this thread's objects: a backend that returns continues its counts. */
  private readonly parts = new WeakMap<VbeCounters, string>();
  private readonly prefixes = new Map<VbeCounters, string>();
  private nextPart = 1;
  private closed = false;
  private layout: CountersLayout | null = null;
  /** Steps of the file that will replace the current one. */
  private making: Generator<void, CountersLayout> | null = null;
  /** Changes of the set of instances: in total, as of the last publication, as of the last file. */
  private changes = 1;
  private changesSeen = 0;
  private changesMade = 0;
  /** Publications since the first change that is in no file yet. */
  private waited = 0;
  private timer: NodeJS.Timeout | null = null;
  private beats = 0;

  constructor(
    path: string,
    main: MainCounters,
    wrk: WrkCounters,
    access: FileAccess = { mode: 0o600 },
    trouble: WriteTrouble | null = null,
  ) {
    this.path = path;
    this.access = access;
    this.trouble = trouble;
    this.main = new CounterSum('MAIN', MAIN_COUNTERS, main);
    this.wrk = new CounterSum('WRK', WRK_COUNTERS, wrk);
  }

  addStorage(name: string, counters: SmaCounters): void {
    this.storages.push(new CounterSum(`SMA.${name}`, SMA_COUNTERS, counters));
    this.changes++;
  }

  addDisk(name: string, counters: SmdCounters): void {
    this.storages.push(new CounterSum(`SMD.${name}`, SMD_COUNTERS, counters));
    this.changes++;
  }

  addPools(counters: VcpCounters, idle: WaiterCounters): void {
    this.pools = [
      new CounterSum('VCP', VCP_COUNTERS, counters),
      new CounterSum('WAITER.pool0', WAITER_COUNTERS, idle),
    ];
    this.changes++;
  }

  addTls(counters: TlsCounters): void {
    this.tls = [new CounterSum('TLS', TLS_COUNTERS, counters)];
    this.changes++;
  }

  addEdge(counters: EdgeCounters): void {
    this.edge = [new CounterSum('EDGE', EDGE_COUNTERS, counters)];
    this.changes++;
  }

  /** Adds the row of this thread. */
  addThread(row: ThreadRow): void {
    this.row = row;
    this.threads[row.thread] = new CounterSum(`THR.${row.thread}`, THR_COUNTERS, row.values);
    this.changes++;
  }

  addBackend(program: string, name: string, counters: VbeCounters): void {
    let part = this.parts.get(counters);
    if (part === undefined) {
      part = `${OWN}.${this.nextPart++}`;
      this.parts.set(counters, part);
    }
    const sum = this.backend(program, name);
    sum.add(counters, part);
    this.prefixes.set(counters, sum.prefix);
  }

  removeBackend(counters: VbeCounters): void {
    const sum = this.backends.get(this.prefixes.get(counters) ?? '');
    if (sum === undefined) return;
    this.prefixes.delete(counters);
    sum.remove(counters, this.parts.get(counters) as string);
    this.dropUnless(sum);
  }

  /** Merges the report of another thread. */
  merge(thread: number, { main, wrk, thr, tls, backends }: CountersMessage): void {
    const from = String(thread);
    if (main.length > 0) this.main.report(from, main, true);
    if (wrk.length > 0) this.wrk.report(from, wrk, true);
    if (tls.length > 0) this.tls[0]?.report(from, tls, true);
    if (thr.length > 0) this.thread(thread).report(from, thr, true);
    for (const { part, program, name, live, changes } of backends) {
      // Removed before it was ever published.
      if (!live && !this.backends.has(`VBE.${program}.${name}`)) continue;
      const sum = this.backend(program, name);
      sum.report(`${from}.${part}`, changes, live);
      this.dropUnless(sum);
    }
    // A report of a thread that ended after the file was closed.
    if (this.closed) this.publishLast();
  }

  private backend(program: string, name: string): CounterSum {
    const prefix = `VBE.${program}.${name}`;
    let sum = this.backends.get(prefix);
    if (sum === undefined) {
      sum = new CounterSum(prefix, VBE_COUNTERS);
      this.backends.set(prefix, sum);
      this.changes++;
    }
    return sum;
  }

  private dropUnless(sum: CounterSum): void {
    if (sum.isLive) return;
    this.backends.delete(sum.prefix);
    this.changes++;
  }

  private thread(thread: number): CounterSum {
    let sum = this.threads[thread];
    if (sum === undefined) {
      sum = new CounterSum(`THR.${thread}`, THR_COUNTERS);
      this.threads[thread] = sum;
      this.changes++;
    }
    return sum;
  }

  /** Starts to publish. */
  start(): void {
    this.publish();
    this.timer = setInterval(() => this.publish(), BEAT);
    this.timer.unref();
  }

  /** Publishes a last time; the file stays, and is read while no worker runs. */
  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.closed = true;
    this.publishLast();
  }

  private publishLast(): void {
    this.beats = 0;
    // Forces a new file, which has the current values of all backends.
    this.changes++;
    this.publish();
    this.layout?.close();
    this.layout = null;
  }

  publish(): void {
    const whole = this.beats % BEATS === 0;
    if (whole) this.sample?.();
    if (whole) this.countSilence();
    this.beats++;
    this.row?.update();
    try {
      if (whole && this.layout?.isInPlace === false) this.changes++;
      if (this.isDue()) this.replace();
      else if (this.layout !== null) {
        this.layout.update(this.beats, this.time());
        this.trouble?.worked();
      }
    } catch (cause) {
      this.failed(cause);
    }
  }

  /** Whether a new file is due. Many backends are added over several turns: their end is awaited, for a second at
   * most. */
  private isDue(): boolean {
    const { changes, changesSeen, changesMade, layout } = this;
    this.changesSeen = changes;
    if (changes === changesMade) return false;
    if (layout === null || this.closed || this.backends.size <= AT_ONCE) return true;
    return this.making === null && (changes === changesSeen || ++this.waited >= BEATS);
  }

  /** No space or no directory: the next publication makes a new file. */
  private failed(cause: unknown): void {
    this.making = null;
    this.changes++;
    this.trouble?.failed(cause);
  }

  /** Updates the seconds since each thread's last report. */
  private countSilence(): void {
    const { reports, threads, row } = this;
    threads.forEach((sum, thread) => {
      if (reports === null || thread === row?.thread) return;
      const seconds = Math.floor((Date.now() - reports.until(thread)) / 1000);
      sum.report('silence', [SILENT, Math.max(0, seconds)], true);
    });
  }

  private replace(): void {
    // A file in progress has an outdated set.
    this.making?.return(undefined as never);
    this.changesMade = this.changes;
    this.waited = 0;
    const instances = {
      first: [this.main, ...this.storages, ...this.pools, ...this.tls, ...this.edge],
      backends: [...this.backends.values()],
      last: [...this.threads.filter((sum) => sum !== undefined), this.wrk],
    };
    const making = CountersLayout.making(this.path, this.access, instances, () => this.time());
    this.making = making;
    if (!this.closed && this.layout !== null && instances.backends.length > AT_ONCE) {
      void this.inTurns(making);
      return;
    }
    for (;;) {
      const { done, value } = making.next();
      if (done !== true) continue;
      this.made(value);
      return;
    }
  }

  private async inTurns(making: Generator<void, CountersLayout>): Promise<void> {
    try {
      const layout = await turns.through(making, () => this.making === making);
      if (layout !== undefined) this.made(layout);
    } catch (cause) {
      this.failed(cause);
    }
  }

  private made(layout: CountersLayout): void {
    const former = this.layout;
    this.making = null;
    this.layout = layout;
    former?.close();
    this.trouble?.worked();
  }

  /** Milliseconds of the epoch: everything counted before is in the current values. */
  private time(): number {
    return Math.min(Date.now(), this.reports?.wholeUntil() ?? Number.POSITIVE_INFINITY);
  }
}
