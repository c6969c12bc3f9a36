// This proxy as a node of a fleet: joins the bus, publishes local invalidations, applies those of other nodes, and
// reports its state. One per manager; loaded only with --fleet. The proxy serves even if the bus is absent for any
// length of time.

import { randomBytes } from 'node:crypto';
import type { FleetReceipt, FleetService, Invalidation } from '../contract/invalidation.ts';
import type { FleetCounters } from '../stats/counter-fields.ts';
import { BucketFollower } from './bucket-follower.ts';
import type { Bus, BusListener } from './bus.ts';
import type { FleetCache } from './fleet-cache.ts';
import { FleetLog } from './fleet-log.ts';
import { HEARTBEAT } from './fleet-names.ts';
import { FleetPublisher, type PublisherTimes } from './fleet-publisher.ts';
import { FleetReader } from './fleet-reader.ts';
import type { LogRow, NodeRow } from './fleet-rows.ts';
import { type NodeFigures, type NodeState, readApplied, readState, writeState } from './node-messages.ts';
import { NodeRegistry } from './node-registry.ts';
import type { ProgramHost } from './program-follower.ts';
import { ProgramService } from './program-service.ts';

export interface FleetHost extends PublisherTimes {
  readonly cache: FleetCache;
  /** Null: the node accepts invalidations only. */
  readonly programs: ProgramHost | null;
  /** Milliseconds that an operator waits for nodes to load and use a program. */
  programTimeout(): number;
  /** Milliseconds that old objects are held while catching up; null: they are served meanwhile. */
  catchUp(): number | null;
  /** Status figures of this node. @param address of this machine as seen by the bus; null while unknown */
  figures(address: string | null): Promise<NodeFigures>;
  log(level: 'info' | 'warning', text: string): void;
}

/** Milliseconds between attempts to reach the bus for the first time. */
const RETRY = 1000;
/** A heartbeat timer delayed by more than this many milliseconds means that the process was suspended. */
const SUSPENDED = 3000;

export class FleetNode implements FleetService {
  private readonly bus: Bus;
  private readonly host: FleetHost;
  private readonly node: string;
  private readonly version: string;
  private readonly life = randomBytes(8).toString('hex');
  private readonly registry: NodeRegistry;
  private readonly publisher: FleetPublisher;
  private readonly reader: FleetReader;
  private readonly history = new FleetLog();
  readonly programs: ProgramService | null;
  /** The bucket of certificates; nothing of it is read before it is followed. */
  readonly certificates: BucketFollower;
  /** As of the last heartbeat. */
  private figures: NodeFigures | null = null;
  private beats: NodeJS.Timeout | null = null;
  private beatAt = performance.now();
  private twinReported = false;
  private closed = false;
  private wake: (() => void) | null = null;
  private settle: () => void = () => {};
  /** Resolves when the position in the stream is known, or the first attempt to join has failed. */
  readonly settled = new Promise<void>((resolve) => {
    this.settle = resolve;
  });

  constructor(node: string, version: string, makeBus: (listener: BusListener) => Bus, host: FleetHost) {
    this.node = node;
    this.version = version;
    this.host = host;
    this.registry = new NodeRegistry(
      node,
      () => performance.now(),
      () => this.reader.stream,
    );
    this.bus = makeBus({
      connected: () => this.joined(),
      disconnected: (why) => {
        host.log('warning', `Fleet: ${why}; this node continues to serve, and may lack invalidations`);
        this.reader.away();
      },
      closed: () => void this.join(),
      beat: (name, data, age) => this.onBeat(name, data, age),
      applied: (name, data) => {
        const place = readApplied(data);
        if (place !== null) this.registry.applied(name, place.seq, place.stream);
      },
      warn: (text) => host.log('warning', `Fleet: ${text}`),
    });
    this.publisher = new FleetPublisher(this.bus, this.registry, node, this.life, {
      timeout: () => host.timeout(),
      wait: () => host.wait(),
      place: () => this.reader.place,
      doubt: () => this.reader.doubt(),
    });
    this.reader = new FleetReader({
      bus: this.bus,
      cache: host.cache,
      node,
      log: this.history,
      isOwn: (id) => this.publisher.isOwn(id),
      catchUp: () => host.catchUp(),
      report: (level, text) => host.log(level, text),
      changed: () => {
        if (this.reader.current) this.settle();
        void this.beat();
      },
    });
    this.certificates = new BucketFollower({
      bus: this.bus,
      node,
      nodes: () => this.nodes(),
      report: (level, text) => host.log(level, text),
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

  /** The local programs have changed. */
  programsChanged(): void {
    this.programs?.localChange();
    void this.beat();
  }

  /** Starts to join, and retries until it succeeds. */
  start(): void {
    this.beats = setInterval(() => this.tick(), HEARTBEAT);
    this.beats.unref();
    void this.join();
  }

  private async join(): Promise<void> {
    for (let reported = ''; !this.closed; ) {
      try {
        await this.bus.open();
        return;
      } catch (cause) {
        const { message } = cause as Error;
        if (message !== reported)
          this.host.log('warning', `Fleet: cannot join the bus: ${message}; retrying`);
        reported = message;
        this.settle();
        this.programs?.absent();
      }
      await this.pause();
    }
  }

  async publish(event: Invalidation): Promise<FleetReceipt> {
    const receipt = await this.publisher.publish(event);
    const { state, detail } = receipt;
    if (state !== 'stored') this.history.unconfirmed(this.node, event, state, detail);
    return receipt;
  }

  nodes(): NodeRow[] {
    const { life: _, stream: _stream, current, ...state } = this.state();
    const ownState = !this.bus.connected ? 'away' : current ? 'current' : 'behind';
    const own: NodeRow = { node: this.node, self: true, ...state, state: ownState, seen: 0 };
    return [own, ...this.registry.list()];
  }

  log(count: number): LogRow[] {
    return this.history
      .last(count)
      .map((entry) => ({ ...entry, reach: entry.seq === null ? null : this.registry.reach(entry.seq) }));
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
    this.certificates.close();
    await this.bus.close(this.node);
  }

  /** A worker serves. */
  workerStarted(): void {
    this.reader.workerStarted();
  }

  private joined(): void {
    this.host.log('info', `Fleet: joined as ${this.node}`);
    // The place of a cache that is kept is known to the worker.
    if (this.host.cache.kept !== null) this.settle();
    void this.reader.run();
    void this.programs?.run();
    void this.certificates.run();
  }

  private tick(): void {
    const now = performance.now();
    const late = now - this.beatAt - HEARTBEAT;
    this.beatAt = now;
    // Messages missed during a suspension may or may not arrive.
    if (late > SUSPENDED) this.reader.away();
    this.programs?.tick();
    void this.beat();
  }

  private async beat(): Promise<void> {
    const { host, bus, node } = this;
    this.figures = await host.figures(bus.address);
    // It would arrive after the node has left.
    if (this.closed) return;
    // The next heartbeat follows soon.
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
      stream: reader.stream,
      lag: messages,
      lag_seconds: seconds,
      ...figures,
      accept: programs === null ? 'invalidate' : 'all',
      ...programs?.figures,
    };
  }

  private onBeat(name: string, data: Uint8Array | null, age: number): void {
    if (data === null) {
      this.registry.left(name);
      return;
    }
    const state = readState(data);
    if (state === null) return;
    if (name === this.node && age === 0 && state.life !== this.life && !this.twinReported) {
      this.twinReported = true;
      this.host.log('warning', `Fleet: another proxy has the name ${name}, too: name each with --node`);
    }
    this.registry.beat(name, state, age);
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RETRY);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
