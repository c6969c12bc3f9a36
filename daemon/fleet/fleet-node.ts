// A node of a fleet: joins the bus, publishes what is invalidated here, follows what others publish, and shows how it is.
// Of one manager; without --fleet nothing here is loaded. The bus may be absent for as long as it likes: the proxy serves.

import { randomBytes } from 'node:crypto';
import type { FleetReceipt, FleetService, Invalidation } from '../contract/invalidation.ts';
import type { FleetCounters } from '../stats/counter-fields.ts';
import type { Bus, BusListener } from './bus.ts';
import { FleetLog } from './fleet-log.ts';
import { HEARTBEAT } from './fleet-names.ts';
import { FleetPublisher, type PublisherSettings } from './fleet-publisher.ts';
import { type FleetCache, FleetReader } from './fleet-reader.ts';
import type { LogRow, NodeRow } from './fleet-rows.ts';
import { type NodeFigures, type NodeState, readApplied, readState, writeState } from './node-messages.ts';
import { NodeRegistry } from './node-registry.ts';
import type { ProgramHost } from './program-follower.ts';
import { ProgramService } from './program-service.ts';

export interface FleetHost extends PublisherSettings {
  readonly cache: FleetCache;
  /** Null: it takes invalidations only. */
  readonly programs: ProgramHost | null;
  /** Milliseconds that an operator waits for nodes to load and use a program. */
  programTimeout(): number;
  /** Milliseconds; null: old objects are served meanwhile. */
  catchUp(): number | null;
  /** How this node does. @param address of this machine, as the bus sees it; null while that is not known */
  figures(address: string | null): Promise<NodeFigures>;
  log(level: 'info' | 'warning', text: string): void;
}

/** Between two tries to reach the bus for the first time, in milliseconds. */
const AGAIN = 1000;
/** A beat that comes so much later than it should: the process stood still. */
const STOOD_STILL = 3000;

export class FleetNode implements FleetService {
  private readonly bus: Bus;
  private readonly host: FleetHost;
  private readonly node: string;
  private readonly version: string;
  private readonly life = randomBytes(8).toString('hex');
  private readonly registry: NodeRegistry;
  private readonly publisher: FleetPublisher;
  private readonly reader: FleetReader;
  private readonly heardOf = new FleetLog();
  readonly programs: ProgramService | null;
  /** As the last sign of life had them. */
  private figures: NodeFigures | null = null;
  private beats: NodeJS.Timeout | null = null;
  private beatAt = performance.now();
  private saidTwin = false;
  private closed = false;
  private wake: (() => void) | null = null;
  private settle: () => void = () => {};
  /** Its place in the stream is known, or the first try to join has failed. */
  readonly settled = new Promise<void>((resolve) => {
    this.settle = resolve;
  });

  constructor(node: string, version: string, makeBus: (listener: BusListener) => Bus, host: FleetHost) {
    this.node = node;
    this.version = version;
    this.host = host;
    this.registry = new NodeRegistry(node, () => performance.now());
    this.bus = makeBus({
      connected: () => this.joined(),
      disconnected: (why) => {
        host.log('warning', `Fleet: ${why}; this node serves on, and may lack invalidations`);
        this.reader.away();
      },
      closed: () => void this.join(),
      beat: (name, data, age) => this.heard(name, data, age),
      applied: (name, data) => {
        const seq = readApplied(data);
        if (seq !== null) this.registry.applied(name, seq);
      },
      warn: (text) => host.log('warning', `Fleet: ${text}`),
    });
    this.publisher = new FleetPublisher(this.bus, this.registry, node, this.life, host);
    this.reader = new FleetReader({
      bus: this.bus,
      cache: host.cache,
      node,
      log: this.heardOf,
      isOwn: (id) => this.publisher.isOwn(id),
      catchUp: () => host.catchUp(),
      report: (level, text) => host.log(level, text),
      changed: () => {
        if (this.reader.current) this.settle();
        void this.beat();
      },
    });
    this.programs =
      host.programs === null
        ? null
        : new ProgramService({
            bus: this.bus,
            host: host.programs,
            node,
            nodes: () => this.nodes(),
            programTimeout: () => host.programTimeout(),
            report: (level, text) => host.log(level, text),
            changed: () => void this.beat(),
          });
  }

  get connected(): boolean {
    return this.bus.connected;
  }

  /** Somebody has changed the programs of this proxy. */
  programsChanged(): void {
    this.programs?.localChange();
    void this.beat();
  }

  /** Joins as soon as it can. */
  start(): void {
    this.beats = setInterval(() => this.tick(), HEARTBEAT);
    this.beats.unref();
    void this.join();
  }

  private async join(): Promise<void> {
    for (let said = ''; !this.closed; ) {
      try {
        await this.bus.open();
        return;
      } catch (cause) {
        const { message } = cause as Error;
        if (message !== said)
          this.host.log('warning', `Fleet: the bus cannot be joined: ${message}; it is tried again`);
        said = message;
        this.settle();
        this.programs?.absent();
      }
      await this.pause();
    }
  }

  async publish(event: Invalidation): Promise<FleetReceipt> {
    const receipt = await this.publisher.publish(event);
    const { state, detail } = receipt;
    if (state !== 'stored') this.heardOf.unconfirmed(this.node, event, state, detail);
    return receipt;
  }

  nodes(): NodeRow[] {
    const { life: _, current, ...state } = this.state();
    const standing = !this.bus.connected ? 'away' : current ? 'current' : 'behind';
    const own: NodeRow = { node: this.node, self: true, ...state, state: standing, seen: 0 };
    return [own, ...this.registry.list()];
  }

  log(count: number): LogRow[] {
    return this.heardOf
      .last(count)
      .map((heard) => ({ ...heard, reach: heard.seq === null ? null : this.registry.reach(heard.seq) }));
  }

  sample(counters: FleetCounters): void {
    const { reader, publisher, bus, registry } = this;
    const { messages, seconds } = reader.lag;
    const programs = this.programs?.figures;
    Object.assign(counters, reader.counters, publisher.counters, {
      connected: Number(bus.connected),
      behind: Number(!reader.current),
      nodes: registry.count,
      lag: messages,
      lag_seconds: seconds,
      programs_failed: programs?.programs.filter(({ problem }) => problem !== undefined).length ?? 0,
      own_program: Number(programs?.own_program === true),
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.beats !== null) clearInterval(this.beats);
    this.wake?.();
    this.settle();
    this.reader.close();
    this.programs?.close();
    await this.bus.close(this.node);
  }

  private joined(): void {
    this.host.log('info', `Fleet: joined as ${this.node}`);
    void this.reader.run();
    void this.programs?.run();
  }

  private tick(): void {
    const now = performance.now();
    const late = now - this.beatAt - HEARTBEAT;
    this.beatAt = now;
    // What was missed meanwhile is still on its way, or is not.
    if (late > STOOD_STILL) this.reader.away();
    this.programs?.tick();
    void this.beat();
  }

  private async beat(): Promise<void> {
    const { host, bus, node } = this;
    this.figures = await host.figures(bus.address);
    // It would come after what it leaves behind.
    if (this.closed) return;
    // The next one comes soon.
    await bus.beat(node, writeState(this.state())).catch(() => undefined);
  }

  private state(): NodeState {
    const { life, version, reader, figures, programs } = this;
    const { messages, seconds } = reader.lag;
    return {
      life,
      version,
      current: reader.current,
      applied: reader.place ?? 0,
      lag: messages,
      lag_seconds: seconds,
      ...figures,
      accept: programs === null ? 'invalidate' : 'all',
      ...programs?.figures,
    };
  }

  private heard(name: string, data: Uint8Array | null, age: number): void {
    if (data === null) {
      this.registry.left(name);
      return;
    }
    const state = readState(data);
    if (state === null) return;
    if (name === this.node && age === 0 && state.life !== this.life && !this.saidTwin) {
      this.saidTwin = true;
      this.host.log('warning', `Fleet: another proxy is called ${name} too: give each a name with --node`);
    }
    this.registry.beat(name, state, age);
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, AGAIN);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
