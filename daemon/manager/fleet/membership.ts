// The manager's optional membership of a fleet: loads the node and the bus client only with --fleet, and delays the
// start of a worker until its position in the stream is known, or until a time limit.

import { FLEET_COUNTERS } from '../../../protocol/tables/counters.ts';
import type { FleetReceipt, Invalidation } from '../../contract/invalidation.ts';
import type { FleetNode } from '../../fleet/fleet-node.ts';
import { type FleetCounters, newFleetCounters } from '../../stats/counter-fields.ts';
import type { ManagerGroup } from '../../stats/counters-reader.ts';
import type { FleetOptions } from '../options/fleet-option.ts';
import { atMost } from '../time-limit.ts';
import type { FleetParts } from './fleet-host.ts';

/** Milliseconds that a worker's start waits for the bus (chosen). */
const JOIN_TIMEOUT = 1500;

/** Milliseconds that it waits for the fleet's program once the bus is connected: it has to arrive and be compiled
 * (chosen). */
const PROGRAM_TIMEOUT = 10_000;

const NO_FLEET: FleetReceipt = {
  state: 'lost',
  seq: 0,
  applied: 1,
  nodes: 1,
  behind: [],
  detail: 'the fleet is not connected',
};

export class Membership {
  /** Null without --fleet. */
  private readonly counters: FleetCounters | null;
  private readonly options: FleetOptions | null;
  /** Null without --fleet, and while it is being loaded. */
  node: FleetNode | null = null;
  private loading: Promise<void> = Promise.resolve();

  constructor(options: FleetOptions | null) {
    this.options = options;
    this.counters = options === null ? null : newFleetCounters();
  }

  /** Starts to join. Rejects with an OptionError if the configuration is wrong; an absent bus is not an error. */
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

  /** Resolves when a worker may start: it then begins with an empty cache at a known position in the stream, and
   * runs the fleet's program. If the bus is absent it starts all the same, after a timeout. */
  async settled(): Promise<void> {
    await this.loading;
    const { node } = this;
    if (node === null) return;
    await atMost(JOIN_TIMEOUT, node.settled);
    if (node.connected && node.programs !== null) await atMost(PROGRAM_TIMEOUT, node.programs.ready);
  }

  /** The local programs have changed. */
  programsChanged(): void {
    this.node?.programsChanged();
  }

  /** A worker serves. */
  workerStarted(): void {
    this.node?.workerStarted();
  }

  /** Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt> {
    return this.node?.publish(event) ?? Promise.resolve(NO_FLEET);
  }

  /** For the streams of counters: none without --fleet. */
  get groups(): ManagerGroup[] {
    const { counters } = this;
    return counters === null ? [] : [{ prefix: 'FLEET', rows: FLEET_COUNTERS, values: counters }];
  }

  /** Updates the counters. */
  sample(): void {
    if (this.counters !== null) this.node?.sample(this.counters);
  }

  async close(): Promise<void> {
    await this.loading.catch(() => {});
    await this.node?.close();
  }
}
