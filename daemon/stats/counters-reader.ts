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

export interface CounterSnapshot {
  /** The same array object until the set of counters changes. */
  info: CounterInfo[];
  values: bigint[];
}

export class CountersReader {
  private readonly path: string;
  private readonly mgt: MgtCounters;
  private names = Buffer.alloc(0);
  private info: CounterInfo[];
  /** Of the manager. */
  private readonly fleet: FleetCounters | null;
  private readonly own: readonly string[];

  constructor(path: string, mgt: MgtCounters, fleet: FleetCounters | null = null) {
    this.path = path;
    this.mgt = mgt;
    this.fleet = fleet;
    this.own = [
      ...MGT_COUNTERS.map((row) => `MGT.${row.name}`),
      ...(fleet === null ? [] : FLEET_COUNTERS.map((row) => `FLEET.${row.name}`)),
    ];
    this.info = describe(this.own);
  }

  read(): CounterSnapshot {
    const { mgt, fleet } = this;
    const values: bigint[] = MGT_COUNTERS.map((row) => BigInt(Math.floor(mgt[row.name])));
    if (fleet !== null) for (const row of FLEET_COUNTERS) values.push(BigInt(fleet[row.name]));
    const file = this.load();
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
    this.info = describe([...this.own, ...others]);
  }
}

function describe(names: readonly string[]): CounterInfo[] {
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
