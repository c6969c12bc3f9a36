// Publishes the worker's counters into a file that the manager reads: values with positioned writes,
// every 100 ms and only when something changed. Many backends take turns: a tenth of them each time, so that thousands of
// idle ones cost little and no publication takes long. Instances (storages, backends) come and go; a changed set is
// written to a new file that replaces the old one. It never reads back and never fails the worker: after a write
// that failed, or when the file was removed (a cleaner of old files, a worker that ended late), the
// next publication makes a new file. Of several threads the first one has the file, and takes in what the others
// report (counter-relay.ts).

import { closeSync, fstatSync, renameSync, statSync, writeSync } from 'node:fs';
import { createOwn, type FileAccess } from '../../protocol/files/own-file.ts';
import {
  type CounterRow,
  EDGE_COUNTERS,
  MAIN_COUNTERS,
  SMA_COUNTERS,
  THR_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import type { WriteTrouble } from '../log/write-trouble.ts';
import type { EdgeCounters, MainCounters, SmaCounters, VbeCounters, WrkCounters } from './counter-fields.ts';
import type { CountersMessage } from './counter-relay.ts';
import { CounterSum } from './counter-sum.ts';
import { COUNTERS_HEAD, COUNTERS_MAGIC } from './counters-format.ts';
import { BEAT, BEATS, shareOf } from './publication-beat.ts';
import type { ReportTimes } from './report-times.ts';
import type { ThreadRow } from './thread-row.ts';

/** Bytes of a value. */
const WORD = 8;
/** The thread that has the file: its objects are told apart from those of other threads by this. */
const OWN = 0;

/** The row of a thread that says for how long it has been silent. */
const SILENT = THR_COUNTERS.findIndex(({ name }) => name === 'silent');

/** Instances whose values lie one after the other, and the bytes they take. */
interface Part {
  readonly instances: readonly CounterSum[];
  readonly from: number;
  readonly to: number;
}

export class CountersFile {
  /** Called before each publication, about once a second and once at the end: brings gauges up to date. */
  sample: (() => void) | null = null;
  /** Until when the threads' counts are in what is published, in milliseconds of the epoch; null with one thread. */
  reports: Pick<ReportTimes, 'until' | 'wholeUntil'> | null = null;
  private readonly path: string;
  private readonly access: FileAccess;
  private readonly trouble: WriteTrouble | null;
  private readonly main: CounterSum;
  private readonly wrk: CounterSum;
  private readonly storages: CounterSum[] = [];
  /** By prefix. */
  private readonly backends = new Map<string, CounterSum>();
  private edge: CounterSum[] = [];
  private readonly threads: CounterSum[] = [];
  private row: ThreadRow | null = null;
  /** Objects of this thread keep their number: a backend that comes again goes on counting. */
  private readonly parts = new WeakMap<VbeCounters, string>();
  private readonly prefixes = new Map<VbeCounters, string>();
  private nextPart = 1;
  private closed = false;
  private fd = -1;
  private valuesAt = 0;
  /** The values as they were written, and as they are. */
  private last = Buffer.alloc(0);
  private next = Buffer.alloc(0);
  private words = new Uint32Array(0);
  /** What is published every time, from the time of writing on; and the shares of the backends. */
  private steady: readonly Part[] = [];
  private shares: readonly Part[] = [];
  private changed = true;
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
    this.changed = true;
  }

  addEdge(counters: EdgeCounters): void {
    this.edge = [new CounterSum('EDGE', EDGE_COUNTERS, counters)];
    this.changed = true;
  }

  /** Shows the row of this thread. */
  addThread(row: ThreadRow): void {
    this.row = row;
    this.threads[row.thread] = new CounterSum(`THR.${row.thread}`, THR_COUNTERS, row.values);
    this.changed = true;
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

  /** Takes in what another thread reports. */
  takeIn(thread: number, { main, wrk, thr, backends }: CountersMessage): void {
    const from = String(thread);
    if (main.length > 0) this.main.report(from, main, true);
    if (wrk.length > 0) this.wrk.report(from, wrk, true);
    if (thr.length > 0) this.thread(thread).report(from, thr, true);
    for (const { part, program, name, live, changes } of backends) {
      // Gone before anybody saw it.
      if (!live && !this.backends.has(`VBE.${program}.${name}`)) continue;
      const sum = this.backend(program, name);
      sum.report(`${from}.${part}`, changes, live);
      this.dropUnless(sum);
    }
    // A thread that ended a little later than this one.
    if (this.closed) this.publishLast();
  }

  private backend(program: string, name: string): CounterSum {
    const prefix = `VBE.${program}.${name}`;
    let sum = this.backends.get(prefix);
    if (sum === undefined) {
      sum = new CounterSum(prefix, VBE_COUNTERS);
      this.backends.set(prefix, sum);
      this.changed = true;
    }
    return sum;
  }

  private dropUnless(sum: CounterSum): void {
    if (sum.isLive) return;
    this.backends.delete(sum.prefix);
    this.changed = true;
  }

  private thread(thread: number): CounterSum {
    let sum = this.threads[thread];
    if (sum === undefined) {
      sum = new CounterSum(`THR.${thread}`, THR_COUNTERS);
      this.threads[thread] = sum;
      this.changed = true;
    }
    return sum;
  }

  /** Begins to publish. */
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
    // With all backends.
    this.changed = true;
    this.publish();
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  publish(): void {
    const whole = this.beats % BEATS === 0;
    if (whole) this.sample?.();
    if (whole) this.countSilence();
    this.beats++;
    this.row?.update();
    try {
      if (whole && this.fd >= 0 && !this.inPlace()) this.changed = true;
      if (this.changed) this.replace();
      else if (!this.update()) return;
      this.trouble?.worked();
    } catch (cause) {
      // No space or no directory: the next publication tries again, with a new file.
      this.changed = true;
      this.trouble?.failed(cause);
    }
  }

  /** For how long each thread that has reported has been silent. */
  private countSilence(): void {
    const { reports, threads, row } = this;
    threads.forEach((sum, thread) => {
      if (reports === null || thread === row?.thread) return;
      const seconds = Math.floor((Date.now() - reports.until(thread)) / 1000);
      sum.report('silence', [SILENT, Math.max(0, seconds)], true);
    });
  }

  /** Whether the file that is written is the one that readers find. */
  private inPlace(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === fstatSync(this.fd).ino;
  }

  private lay(): Part[] {
    const backends = [...this.backends.values()];
    const share = shareOf(backends.length);
    const groups = [[this.main, ...this.storages, ...this.edge]];
    for (let i = 0; i < backends.length; i += share) groups.push(backends.slice(i, i + share));
    groups.push([...this.threads.filter((sum) => sum !== undefined), this.wrk]);
    let at = WORD;
    const parts = groups.map((instances) => {
      const from = at;
      for (const { rows } of instances) at += WORD * rows.length;
      return { instances, from, to: at };
    });
    this.steady = [parts[0] as Part, parts.at(-1) as Part];
    this.shares = parts.slice(1, -1);
    return parts;
  }

  private replace(): void {
    const parts = this.lay();
    const names = parts.flatMap((part) =>
      part.instances.flatMap((i) => i.rows.map((row) => `${i.prefix}.${row.name}`)),
    );
    const text = Buffer.from(names.join('\n'));
    const padded = (text.length + 7) & ~7;
    const head = Buffer.alloc(COUNTERS_HEAD + padded, '\n');
    head.writeUInt32LE(COUNTERS_MAGIC, 0);
    head.writeUInt32LE(padded, 4);
    head.writeUInt32LE(names.length, 8);
    head.writeUInt32LE(0, 12);
    text.copy(head, COUNTERS_HEAD);
    this.valuesAt = head.length;
    this.next = Buffer.alloc(WORD * (names.length + 1));
    this.words = new Uint32Array(this.next.buffer, this.next.byteOffset, this.next.length >> 2);
    put(this.words, 0, this.time());
    for (const part of parts) this.encode(part);
    this.last = Buffer.from(this.next);
    const fresh = `${this.path}.${process.pid}.new`;
    const fd = createOwn(fresh, this.access);
    try {
      writeAll(fd, Buffer.concat([head, this.next]), 0);
      renameSync(fresh, this.path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    const former = this.fd;
    this.fd = fd;
    this.changed = false;
    if (former >= 0) closeSync(former);
  }

  /** Writes what has changed, and last the time from which on it may have been so; false when nothing has changed. */
  private update(): boolean {
    const { shares } = this;
    const time = this.time();
    const share = shares[this.beats % shares.length];
    const parts = share === undefined ? this.steady : [...this.steady, share];
    const changed = parts.filter((part) => {
      this.encode(part);
      return this.last.compare(this.next, part.from, part.to, part.from, part.to) !== 0;
    });
    // Other threads may have looked at theirs since, and found nothing new.
    if (changed.length === 0 && this.reports === null) return false;
    for (const { from, to } of changed) this.write(from, to);
    put(this.words, 0, time);
    this.write(0, WORD);
    return true;
  }

  /** What was counted before it is in the values that are at hand now. */
  private time(): number {
    return Math.min(Date.now(), this.reports?.wholeUntil() ?? Number.POSITIVE_INFINITY);
  }

  private write(from: number, to: number): void {
    writeAll(this.fd, this.next.subarray(from, to), this.valuesAt + from);
    this.next.copy(this.last, from, from, to);
  }

  private encode({ instances, from }: Part): void {
    const { words } = this;
    let at = from >> 2;
    for (const sum of instances) {
      const { rows, alone } = sum;
      for (let i = 0; i < rows.length; i++) {
        const { name } = rows[i] as CounterRow;
        put(words, at, alone === null ? sum.value(i) : (alone[name] as number | bigint));
        at += 2;
      }
    }
  }
}

/** A full disk may cut a write short: half a file must never replace a complete one. */
function writeAll(fd: number, data: Buffer, at: number): void {
  for (let done = 0; done < data.length; ) {
    done += writeSync(fd, data, done, data.length - done, at + done);
  }
}

/**
 * A counter is never negative; a gauge that dips below zero by a race of bookkeeping shows as 0.
 * @param at the place of the lower half; words are little-endian wherever the ring is read
 */
function put(words: Uint32Array, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    words[at] = Number(BigInt.asUintN(32, value));
    words[at + 1] = Number(BigInt.asUintN(32, value >> 32n));
    return;
  }
  const v = value > 0 ? value : 0;
  words[at] = v;
  words[at + 1] = v / 0x1_0000_0000;
}
