// The manager's membership of a fleet, or that it has none: loads what speaks to the bus with --fleet only, and lets a worker
// begin when its place in the stream is known, or when the bus has had time enough.

import type { FleetReceipt, Invalidation } from '../contract/invalidation.ts';
import type { Fleet } from '../fleet/fleet-node.ts';
import type { FleetOverview } from '../fleet/fleet-overview.ts';
import { type FleetCounters, newFleetCounters } from '../stats/counter-fields.ts';
import type { FleetManager } from './fleet-host.ts';
import type { FleetOptions } from './fleet-option.ts';

/** How long the start of a worker waits for the bus, in milliseconds (chosen). */
const PATIENCE = 1500;

/** The same for the program that the fleet runs, once the bus is there: it has to come, and to be compiled (chosen). */
const PROGRAM_PATIENCE = 10_000;

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
  private fleet: Fleet | null = null;
  private loading: Promise<void> = Promise.resolve();

  constructor(options: FleetOptions | null) {
    this.options = options;
    this.counters = options === null ? null : newFleetCounters();
  }

  /** Begins to join. Rejects with an OptionError when that cannot work; a bus that is absent is no reason. */
  join(version: string, manager: FleetManager): Promise<void> {
    const { options } = this;
    if (options !== null) {
      this.loading = this.load(options, version, manager);
      this.loading.catch(() => {});
    }
    return this.loading;
  }

  private async load(options: FleetOptions, version: string, manager: FleetManager): Promise<void> {
    const { makeFleet } = await import('./fleet-host.ts');
    this.fleet = await makeFleet(options, version, manager);
    this.fleet.start();
  }

  /** A worker whose fleet knows its place begins there with an empty cache, and runs what the fleet runs. One whose bus is
   * absent serves all the same. */
  async settled(): Promise<void> {
    await this.loading;
    const { fleet } = this;
    if (fleet === null) return;
    await atMost(PATIENCE, fleet.settled);
    if (fleet.connected && fleet.programs !== null) await atMost(PROGRAM_PATIENCE, fleet.programs.ready);
  }

  /** Somebody has changed the programs of this proxy. */
  programsChanged(): void {
    this.fleet?.programsChanged();
  }

  /** The fleet as commands see it; null where there is none. */
  get overview(): FleetOverview | null {
    return this.fleet;
  }

  /** Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt> {
    return this.fleet?.publish(event) ?? Promise.resolve(NO_FLEET);
  }

  /** Brings the counters up to date. */
  sample(): void {
    if (this.counters !== null) this.fleet?.sample(this.counters);
  }

  async close(): Promise<void> {
    await this.loading.catch(() => {});
    await this.fleet?.close();
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
