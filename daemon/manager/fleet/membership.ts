// The manager's membership of a fleet, or that it has none: loads what speaks to the bus with --fleet only, and lets a worker
// begin when its place in the stream is known, or when the bus has had time enough.

import type { FleetReceipt, Invalidation } from '../../contract/invalidation.ts';
import type { FleetNode } from '../../fleet/fleet-node.ts';
import { type FleetCounters, newFleetCounters } from '../../stats/counter-fields.ts';
import type { FleetOptions } from '../options/fleet-option.ts';
import type { FleetParts } from './fleet-host.ts';

/** How long the start of a worker waits for the bus, in milliseconds (chosen). */
const JOIN_TIMEOUT = 1500;

/** The same for the program that the fleet runs, once the bus is there: it has to come, and to be compiled (chosen). */
const PROGRAM_TIMEOUT = 10_000;

const NO_FLEET: FleetReceipt = {
  state: 'lost',
  seq: 0,
  applied: 1,
  nodes: 1,
  behind: [],
  detail: 'the fleet is not there',
};

export class Membership {
  /** Null without --fleet. */
  readonly counters: FleetCounters | null;
  private readonly options: FleetOptions | null;
  /** Null without --fleet, and while it is being loaded. */
  node: FleetNode | null = null;
  private loading: Promise<void> = Promise.resolve();

  constructor(options: FleetOptions | null) {
    this.options = options;
    this.counters = options === null ? null : newFleetCounters();
  }

  /** Begins to join. Rejects with an OptionError when that cannot work; a bus that is absent is no reason. */
  join(version: string, parts: FleetParts): Promise<void> {
    const { options } = this;
    if (options !== null) {
      this.loading = this.load(options, version, parts);
      this.loading.catch(() => {});
    }
    return this.loading;
  }

  private async load(options: FleetOptions, version: string, parts: FleetParts): Promise<void> {
    const { makeFleet } = await import('./fleet-host.ts');
    this.node = await makeFleet(options, version, parts);
    this.node.start();
  }

  /** A worker whose fleet knows its place begins there with an empty cache, and runs what the fleet runs. One whose bus is
   * absent serves all the same. */
  async settled(): Promise<void> {
    await this.loading;
    const { node } = this;
    if (node === null) return;
    await atMost(JOIN_TIMEOUT, node.settled);
    if (node.connected && node.programs !== null) await atMost(PROGRAM_TIMEOUT, node.programs.ready);
  }

  /** Somebody has changed the programs of this proxy. */
  programsChanged(): void {
    this.node?.programsChanged();
  }

  /** Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt> {
    return this.node?.publish(event) ?? Promise.resolve(NO_FLEET);
  }

  /** Brings the counters up to date. */
  sample(): void {
    if (this.counters !== null) this.node?.sample(this.counters);
  }

  async close(): Promise<void> {
    await this.loading.catch(() => {});
    await this.node?.close();
  }
}

async function atMost(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, enough]);
  clearTimeout(timer);
}
