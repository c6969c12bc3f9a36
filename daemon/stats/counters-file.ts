// Publishes the worker's counters into a file that the manager reads: all values with one positioned write,
// every 100 ms and only when something changed. Instances (storages, backends) come and go; a changed set is
// written to a new file that replaces the old one. It never reads back and never fails the worker: after a write
// that failed, or when the file was removed (a cleaner of old files, a worker that ended late), the
// next publication makes a new file.

import { closeSync, fstatSync, renameSync, statSync, writeSync } from 'node:fs';
import { createOwn, type FileAccess } from '../../protocol/files/own-file.ts';
import {
  EDGE_COUNTERS,
  MAIN_COUNTERS,
  SMA_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import type { WriteTrouble } from '../log/write-trouble.ts';
import type { EdgeCounters, MainCounters, SmaCounters, VbeCounters, WrkCounters } from './counter-fields.ts';
import { COUNTERS_HEAD, COUNTERS_MAGIC } from './counters-format.ts';

const BEAT = 100;

interface Instance {
  /** SMA.s0 or VBE.boot.default. */
  prefix: string;
  names: readonly string[];
  values: Record<string, number | bigint>;
}

export class CountersFile {
  /** Called before each publication, about once a second and once at the end: brings gauges up to date. */
  sample: (() => void) | null = null;
  private readonly path: string;
  private readonly access: FileAccess;
  private readonly trouble: WriteTrouble | null;
  private readonly fixed: Instance[];
  private storages: Instance[] = [];
  private backends: Instance[] = [];
  private edge: Instance[] = [];
  private fd = -1;
  private valuesAt = 0;
  private last = Buffer.alloc(0);
  private next = Buffer.alloc(0);
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
    this.fixed = [instance('MAIN', MAIN_COUNTERS, main), instance('WRK', WRK_COUNTERS, wrk)];
  }

  addStorage(name: string, counters: SmaCounters): void {
    this.storages.push(instance(`SMA.${name}`, SMA_COUNTERS, counters));
    this.changed = true;
  }

  addEdge(counters: EdgeCounters): void {
    this.edge = [instance('EDGE', EDGE_COUNTERS, counters)];
    this.changed = true;
  }

  addBackend(program: string, name: string, counters: VbeCounters): void {
    this.backends.push(instance(`VBE.${program}.${name}`, VBE_COUNTERS, counters));
    this.changed = true;
  }

  removeBackend(counters: VbeCounters): void {
    const as: unknown = counters;
    this.backends = this.backends.filter((b) => b.values !== as);
    this.changed = true;
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
    this.beats = 0;
    this.publish();
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  publish(): void {
    const whole = this.beats % 10 === 0;
    if (whole) this.sample?.();
    this.beats++;
    try {
      if (whole && this.fd >= 0 && !this.inPlace()) this.changed = true;
      if (this.changed) this.replace();
      this.encode();
      // The first word is the time: compare what follows it.
      if (this.last.compare(this.next, 8, this.next.length, 8, this.last.length) === 0) return;
      writeAll(this.fd, this.next, this.valuesAt);
      const swap = this.last;
      this.last = this.next;
      this.next = swap;
      this.trouble?.worked();
    } catch (cause) {
      // No space or no directory: the next publication tries again, with a new file.
      this.changed = true;
      this.trouble?.failed(cause);
    }
  }

  /** Whether the file that is written is the one that readers find. */
  private inPlace(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === fstatSync(this.fd).ino;
  }

  private all(): Instance[] {
    const [main, wrk] = this.fixed as [Instance, Instance];
    return [main, ...this.storages, ...this.edge, ...this.backends, wrk];
  }

  private replace(): void {
    const list = this.all();
    const names = list.flatMap((i) => i.names.map((n) => `${i.prefix}.${n}`));
    const text = Buffer.from(names.join('\n'));
    const padded = (text.length + 7) & ~7;
    const head = Buffer.alloc(COUNTERS_HEAD + padded, '\n');
    head.writeUInt32LE(COUNTERS_MAGIC, 0);
    head.writeUInt32LE(padded, 4);
    head.writeUInt32LE(names.length, 8);
    head.writeUInt32LE(0, 12);
    text.copy(head, COUNTERS_HEAD);
    this.valuesAt = head.length;
    this.next = Buffer.alloc(8 * (names.length + 1));
    this.last = Buffer.alloc(this.next.length, 0xff);
    this.encode();
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

  private encode(): void {
    const out = this.next;
    let at = put(out, 0, Date.now());
    for (const { names, values } of this.all()) {
      for (const name of names) at = put(out, at, values[name] as number | bigint);
    }
  }
}

function instance(prefix: string, rows: readonly { readonly name: string }[], values: object): Instance {
  return { prefix, names: rows.map((r) => r.name), values: values as Record<string, number | bigint> };
}

/** A full disk may cut a write short: half a file must never replace a complete one. */
function writeAll(fd: number, data: Buffer, at: number): void {
  for (let done = 0; done < data.length; ) {
    done += writeSync(fd, data, done, data.length - done, at + done);
  }
}

/** A counter is never negative; a gauge that dips below zero by a race of bookkeeping shows as 0. */
function put(out: Buffer, at: number, value: number | bigint): number {
  if (typeof value === 'bigint') return out.writeBigUInt64LE(BigInt.asUintN(64, value), at);
  const v = value > 0 ? Math.floor(value) : 0;
  out.writeUInt32LE(v >>> 0, at);
  return out.writeUInt32LE(Math.floor(v / 0x1_0000_0000) >>> 0, at + 4);
}
