// Publishes the worker's counters into a file that the manager reads: values with positioned writes,
// every 100 ms and only when something changed. Many backends take turns: a tenth of them each time, so that thousands of
// idle ones cost little and no publication takes long. Instances (storages, backends) come and go; a changed set is
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
/** Bytes of a value. */
const WORD = 8;
/** Publications in a second: about once in one the file is checked, and all backends have had their turn. */
const BEATS = 10;
/** Backends that are published every time, however many there are (chosen: 1,000 values). */
const FEW = 64;

interface Instance {
  /** SMA.s0 or VBE.boot.default. */
  prefix: string;
  names: readonly string[];
  values: Record<string, number | bigint>;
}

/** Instances whose values lie one after the other, and the bytes they take. */
interface Part {
  readonly instances: readonly Instance[];
  readonly from: number;
  readonly to: number;
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
    // With all backends.
    this.changed = true;
    this.publish();
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  publish(): void {
    const whole = this.beats % BEATS === 0;
    if (whole) this.sample?.();
    this.beats++;
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

  /** Whether the file that is written is the one that readers find. */
  private inPlace(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.ino === fstatSync(this.fd).ino;
  }

  private lay(): Part[] {
    const [main, wrk] = this.fixed as [Instance, Instance];
    const { backends } = this;
    const share = backends.length <= FEW ? FEW : Math.ceil(backends.length / BEATS);
    const groups = [[main, ...this.storages, ...this.edge]];
    for (let i = 0; i < backends.length; i += share) groups.push(backends.slice(i, i + share));
    groups.push([wrk]);
    let at = WORD;
    const parts = groups.map((instances) => {
      const from = at;
      for (const { names } of instances) at += WORD * names.length;
      return { instances, from, to: at };
    });
    this.steady = [parts[0] as Part, parts.at(-1) as Part];
    this.shares = parts.slice(1, -1);
    return parts;
  }

  private replace(): void {
    const parts = this.lay();
    const names = parts.flatMap((part) =>
      part.instances.flatMap((i) => i.names.map((n) => `${i.prefix}.${n}`)),
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
    put(this.words, 0, Date.now());
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
    const now = Date.now();
    const share = shares[this.beats % shares.length];
    const parts = share === undefined ? this.steady : [...this.steady, share];
    const changed = parts.filter((part) => {
      this.encode(part);
      return this.last.compare(this.next, part.from, part.to, part.from, part.to) !== 0;
    });
    if (changed.length === 0) return false;
    for (const { from, to } of changed) this.write(from, to);
    put(this.words, 0, now);
    this.write(0, WORD);
    return true;
  }

  private write(from: number, to: number): void {
    writeAll(this.fd, this.next.subarray(from, to), this.valuesAt + from);
    this.next.copy(this.last, from, from, to);
  }

  private encode({ instances, from }: Part): void {
    const { words } = this;
    let at = from >> 2;
    for (const { names, values } of instances) {
      for (const name of names) {
        put(words, at, values[name] as number | bigint);
        at += 2;
      }
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
