// Reads the counters file and adds the manager's own counters: the content of a counter subscription. It never
// writes and needs no running worker: the last values stay in the file. No file at all means no worker ever
// ran in this directory, and only the manager's own are shown.

import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { openRegular } from '../../protocol/files/own-file.ts';
import type { CounterInfo } from '../../protocol/messages.ts';
import { FLEET_COUNTERS, MGT_COUNTERS } from '../../protocol/tables/counters.ts';
import type { FleetCounters, MgtCounters } from './counter-fields.ts';
import { COUNTERS_HEAD, COUNTERS_MAGIC, counterRow } from './counters-format.ts';

/** Largest counters file (chosen): its writer may have fewer rights than its reader. */
const LARGEST = 64 * 1024 * 1024;

const MGT_NAMES: readonly string[] = MGT_COUNTERS.map((row) => `MGT.${row.name}`);
const FLEET_NAMES: readonly string[] = FLEET_COUNTERS.map((row) => `FLEET.${row.name}`);

export interface CounterSnapshot {
  /** The same array object until the set of counters changes. */
  info: CounterInfo[];
  values: bigint[];
}

export class CountersReader {
  private readonly path: string;
  private readonly mgt: MgtCounters;
  private names = Buffer.alloc(0);
  private readonly refresh: (written: number) => void;
  /** Of the manager, as `mgt` is. */
  private readonly fleet: FleetCounters | null;
  private readonly own: readonly string[];
  private info: CounterInfo[];

  /** `refresh` brings `mgt` and `fleet` up to date before each reading; it is told when the file was written, in
   * milliseconds of the epoch, 0 without one. */
  constructor(
    path: string,
    mgt: MgtCounters,
    refresh: (written: number) => void = () => {},
    fleet: FleetCounters | null = null,
  ) {
    this.path = path;
    this.mgt = mgt;
    this.refresh = refresh;
    this.fleet = fleet;
    this.own = fleet === null ? MGT_NAMES : [...MGT_NAMES, ...FLEET_NAMES];
    this.info = describeCounters(this.own);
  }

  read(): CounterSnapshot {
    const file = this.load();
    this.refresh(file === null ? 0 : Number(file.readBigUInt64LE(COUNTERS_HEAD + file.readUInt32LE(4))));
    const { mgt, fleet } = this;
    const values: bigint[] = MGT_COUNTERS.map((row) => BigInt(Math.floor(mgt[row.name])));
    if (fleet !== null) for (const row of FLEET_COUNTERS) values.push(BigInt(fleet[row.name]));
    if (file === null) {
      this.setNames(Buffer.alloc(0));
      return { info: this.info, values };
    }
    const namesEnd = COUNTERS_HEAD + file.readUInt32LE(4);
    const count = file.readUInt32LE(8);
    this.setNames(file.subarray(COUNTERS_HEAD, namesEnd));
    for (let i = 1; i <= count; i++) values.push(file.readBigUInt64LE(namesEnd + i * 8));
    return { info: this.info, values };
  }

  private load(): Buffer | null {
    let file: Buffer;
    try {
      const fd = openRegular(this.path);
      try {
        if (fstatSync(fd).size > LARGEST) return null;
        file = readFileSync(fd);
      } finally {
        closeSync(fd);
      }
    } catch {
      return null;
    }
    if (file.length < COUNTERS_HEAD || file.readUInt32LE(0) !== COUNTERS_MAGIC) return null;
    const need = COUNTERS_HEAD + file.readUInt32LE(4) + (file.readUInt32LE(8) + 1) * 8;
    return file.length >= need ? file : null;
  }

  private setNames(names: Buffer): void {
    if (this.names.equals(names)) return;
    this.names = Buffer.from(names);
    const others = names.length === 0 ? [] : names.toString('utf8').trimEnd().split('\n');
    this.info = describeCounters([...this.own, ...others]);
  }
}

/** What the tables say of counters. */
export function describeCounters(names: readonly string[]): CounterInfo[] {
  return names.map((name) => {
    const row = counterRow(name);
    return {
      name,
      flag: row?.flag ?? 'g',
      format: row?.format ?? 'i',
      level: row?.level ?? 'debug',
      description: row?.help ?? '',
    };
  });
}
