// A worker in one thread, from start to stop: builds programs, listeners and the counters file around its core
// (worker-core.ts) from the manager's first message. It holds no logic of its own;
// every part has its folder.

import { randomInt } from 'node:crypto';
import type { BackendEnvironment } from '../backend/backend-surroundings.ts';
import type { VclHost } from '../contract/context.ts';
import type { FleetReceipt, FleetService } from '../contract/invalidation.ts';
import { DirectoryFiles } from '../disk/disk-files.ts';
import { DISK_SYNC } from '../disk/disk-options.ts';
import { DiskTier, type Underway } from '../disk/disk-tier.ts';
import { SharedTier } from '../disk/shared-tier.ts';
import type { QueueElsewhere } from '../edge/connector.ts';
import type { DiskSpec, FromWorker, InitMessage, ListenerAddress } from '../link.ts';
import type { AcceptorHost } from '../net/acceptor.ts';
import type { Session } from '../net/session.ts';
import { SessionList } from '../net/session-list.ts';
import type { Peers } from '../threads/peers.ts';
import type { ProgramRef } from '../transaction/core.ts';
import { turns } from '../turns/turns.ts';
import { makeBackendEnvironment } from './backend-environment.ts';
import { BackendThreads } from './backend-threads.ts';
import { logCommand, logReply } from './cli-log.ts';
import { leaveSpare, lockDisk } from './disk-lock.ts';
import { Drain } from './drain.ts';
import { answerOthers, queueOfFirst } from './edge-connection.ts';
import { FleetConnection, fleetOfFirst } from './fleet-connection.ts';
import { makeHost } from './host.ts';
import { Listening } from './listening.ts';
import { type CarriesOut, ProgramTable } from './program-table.ts';
import { WorkerCore, type WorkerShare } from './worker-core.ts';
import { type PublicCounters, WorkerCounters } from './worker-counters.ts';

/** How often sessions are checked for timeouts, in milliseconds. */
const SWEEP = 250;
/** Milliseconds in which requests that were given up end, and are logged (chosen). */
const LAST_WORDS = 100;

export class Worker extends WorkerCore implements AcceptorHost {
  readonly host: VclHost;
  readonly programs: ProgramTable;
  readonly backendEnvironment: BackendEnvironment;
  readonly backendThreads: BackendThreads | null;
  readonly fleet: FleetService | null;
  private readonly fleetConnection: FleetConnection | null;
  /** The first thread's edge queue; null in the first thread. */
  readonly queueElsewhere: QueueElsewhere | null;
  readonly countersFile: PublicCounters;
  /** Called a few times a second while the event loop turns. */
  swept: () => void = () => undefined;
  private readonly init: InitMessage;
  private readonly ready: (listeners: ListenerAddress[]) => void;
  private readonly counters: WorkerCounters;
  private readonly sessions = new SessionList<Session>();
  private readonly listeners: Listening;
  private readonly drainage: Drain;
  private started = false;
  private stopping = false;
  private unlockDisk: () => void = () => undefined;
  /** With several threads. */
  private readonly sharedDisk: SharedTier | null;

  constructor(init: InitMessage, send: (message: FromWorker) => void, share: WorkerShare | null = null) {
    super(init, send, share);
    const peers = share?.peers ?? null;
    this.init = init;
    this.ready = (listeners) => send({ t: 'ready', listeners });
    this.queueElsewhere = peers === null || this.thread === 0 ? null : queueOfFirst(peers.channel);
    if (peers !== null && this.thread === 0) answerOthers(peers.channel, this);
    const channel = peers?.channel ?? null;
    this.fleetConnection = init.fleet && this.thread === 0 ? new FleetConnection(send, channel) : null;
    this.fleet =
      init.fleet && this.thread > 0 && channel !== null ? fleetOfFirst(channel) : this.fleetConnection;
    this.listeners = new Listening({
      core: this,
      host: this,
      specs: init.listeners,
      readBuffer: this.readBuffer,
      peers,
      backlog: () => this.params.listen_depth,
      changed: () => this.readyWhenBound(),
      failed: (reason) => send({ t: 'failed', reason }),
    });
    this.sharedDisk =
      peers === null || init.disk === undefined ? null : this.shareDisk(init.disk.name, peers);
    this.backendEnvironment = makeBackendEnvironment(this);
    this.backendThreads = peers === null ? null : new BackendThreads(peers);
    this.host = makeHost(this);
    this.programs = new ProgramTable(this);
    this.drainage = new Drain({
      sessions: this.sessions,
      transactions: () => this.programs.transactions,
      stopListening: () => this.listeners.close(),
      report: (requests) => send({ t: 'draining', thread: this.thread, requests }),
    });
    this.counters = new WorkerCounters({
      dir: init.dir,
      files: init.files,
      trouble: this.trouble('The file of counters'),
      main: this.stats,
      wrk: this.wrk,
      storages: this.storages,
      disk: init.disk === undefined ? null : { name: init.disk.name, counters: this.diskCounters },
      pools: this.pool.counters,
      idle: this.waiter,
      tls: this.tls.counters,
      hasTls: init.listeners.some(({ tls }) => tls === true),
      edge: this.edgeCounters,
      peers,
      facts: {
        sessions: () => this.sessions.count,
        lockWaits: () => peers?.lockWaits ?? 0,
      },
      turnWatch: this.turnWatch,
      sample: () => this.sampleGauges(),
    });
    this.countersFile = this.counters.public;
    this.paramsChanged();
  }

  get active(): ProgramRef | null {
    return this.programs.active;
  }

  /** Loads the programs; the listeners arrive one by one. @param call executes a call of the manager: programs are loaded
   * by such calls at the start, too */
  async start(call: CarriesOut): Promise<void> {
    await this.openDisk();
    // Until the manager knows what they have missed.
    if (this.init.fleet && this.disk !== null) this.held.hold(this.clock.now());
    await this.programs.begin(this.init, call);
    this.listeners.begin();
    this.countersFile.start();
    // In the check phase, after pending reads: a client that has sent something is not idle, however late it is read.
    setInterval(
      () => setImmediate(() => this.turnWatch.run('timeouts of sessions', () => this.sweep())),
      SWEEP,
    );
    if (this.init.generation > 0 && this.thread === 0) this.warnOfLoss();
    this.started = true;
    if (this.thread === 0) {
      this.maintenance.start();
      logCommand(this.workerLog, 'start');
      logReply(this.workerLog, 200, '');
    }
    this.readyWhenBound();
  }

  /** Listens on the handle that the manager bound, or on this thread's own descriptor. */
  listen(index: number, handle: unknown): void {
    this.listeners.listen(index, handle);
  }

  /** All threads listen. */
  allReady(): void {
    this.listeners.handover?.openWays();
  }

  /** A program that imports the edge connector was loaded. */
  showEdge(): void {
    this.counters.showEdge();
  }

  /** The manager's reply to a published invalidation. */
  published(id: number, receipt: FleetReceipt): void {
    this.fleetConnection?.published(id, receipt);
  }

  /** Call before the process exits for whatever reason. */
  flush(): void {
    this.log.flushAtEnd();
    this.countersFile.publish();
  }

  readonly listening = (): readonly ListenerAddress[] => this.listeners.plain;

  sessionOpened(session: Session): void {
    this.listeners.handover?.opened();
    this.sessions.add(session);
    if (this.stopping) session.shutdown();
  }

  sessionClosed(session: Session): void {
    this.listeners.handover?.closed();
    this.sessions.remove(session);
  }

  /** A new worker has neither the objects nor the bans of its predecessor. */
  private warnOfLoss(): void {
    const cache = this.disk === null ? 'an empty cache' : 'what is on disk';
    this.warn(`A new worker begins with ${cache} and an empty list of bans`);
  }

  private sampleGauges(): void {
    this.stats.summs++;
    this.stats.uptime = Math.floor(this.clock.now() - this.tStart);
    for (const [name, counters] of this.storages) Object.assign(counters, this.cache.storages.stats(name));
    this.disk?.sample();
    this.cache.maintenance.sample();
    this.edge?.sample();
  }

  /** Finishes what was begun; resolves with how much of it is left after this time. */
  drain(seconds: number): Promise<number> {
    this.stopping = true;
    return this.drainage.run(seconds);
  }

  /** Requests that are still under way are given up. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.listeners.close();
    this.sessions.each((session) => session.giveUp());
    const end = performance.now() + LAST_WORDS;
    while (this.drainage.left > 0 && performance.now() < end) await turns.next();
    this.programs.close();
    void this.edge?.close();
    await this.disk?.close().catch(() => undefined);
    this.unlockDisk();
    this.flush();
    this.countersFile.close();
  }

  private shareDisk(name: string, peers: Peers): SharedTier {
    const sizes = this.cache.storages.names().map((each) => this.cache.storages.size(each));
    return new SharedTier({
      name,
      objects: this.cache.tier,
      channel: peers.channel,
      memory: peers.part('disk'),
      now: () => this.clock.now(),
      smallest: Math.min(...sizes.filter((size) => size > 0)),
    });
  }

  /** Before any program: what a program purges must be known to be on disk. */
  private async openDisk(): Promise<void> {
    const spec = this.init.disk;
    if (spec === undefined) return;
    const { sharedDisk } = this;
    // There may be pages on disk, whose fragments need the request as it came.
    this.esi.pages = true;
    if (sharedDisk === null) {
      this.disk = this.reportStart(await this.openTier(spec));
    } else {
      if (this.thread === 0)
        this.reportStart(await sharedDisk.own((underway) => this.openTier(spec, underway)));
      else await sharedDisk.follow();
      this.disk = sharedDisk;
    }
  }

  private async openTier({ path, size, name }: DiskSpec, underway?: Underway): Promise<DiskTier> {
    const { release, fault } = await lockDisk(path);
    this.unlockDisk = release;
    const tier = await DiskTier.over(new DirectoryFiles(path), size, {
      cache: this.cache,
      now: () => this.clock.now(),
      sync: () => DISK_SYNC[this.params.disk_sync] ?? 'group',
      log: (text) => this.logNotice(text),
      name,
      figures: this.diskCounters,
      seed: () => [randomInt(2 ** 32), randomInt(2 ** 32)],
      report: (text) => this.report(`Storage ${name}: ${text}`),
      ...(underway !== undefined && { underway }),
      ...(fault !== null && { fault }),
    });
    if (fault === null) leaveSpare(path);
    return tier;
  }

  private reportStart(tier: DiskTier): DiskTier {
    const { name, store } = tier;
    if (store === null) return tier;
    const { start, objects, ofOtherVersion, isCopy } = store;
    if (ofOtherVersion > 0)
      this.report(`Storage ${name}: ${ofOtherVersion} files of another version of proxyd were removed`);
    if (start !== 'new' && start !== 'whole') this.report(`Storage ${name} begins empty: ${start}`);
    else this.logNotice(`disk: ${objects} objects${isCopy ? ', in a copy of their directory' : ''}`);
    return tier;
  }

  private sweep(): void {
    const now = this.clock.now();
    // The clock is the same in all threads.
    const step = this.thread === 0 ? this.clock.correct() : 0;
    if (step < -this.params.clock_step) this.warn(`The clock was set back by ${(-step).toFixed(3)} s`);
    let idle = this.pool.size();
    this.sessions.each((session) => {
      session.checkTimeout(now);
      if (session.isWaiting(now)) idle++;
    });
    this.waiter.conns = idle;
    this.programs.sweep();
    this.swept();
  }

  private readyWhenBound(): void {
    const { listeners } = this.init;
    if (!this.started || this.stopping) return;
    const { bound } = this.listeners;
    if (bound.length === listeners.length) this.ready(bound);
  }
}
