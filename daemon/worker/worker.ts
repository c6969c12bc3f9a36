// The worker's composition: makes the services, the listeners and the programs from the manager's first message
// and answers its calls. It holds no logic of its own; every part has its folder.

import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandReply } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { BackendEnvironment } from '../backend/backend.ts';
import { ConnectionPool } from '../backend/pool.ts';
import { Cache } from '../cache/cache.ts';
import type { CacheLimits, SharedCache } from '../cache/cache-state.ts';
import { headerNames } from '../cache/tags/tag-headers.ts';
import { Clock } from '../clock.ts';
import { runCommand } from '../commands/worker-dispatch.ts';
import type { VclHost } from '../contract/context.ts';
import type { FleetReceipt, FleetService } from '../contract/invalidation.ts';
import { OwnState } from '../contract/own-state.ts';
import type { SharedState } from '../contract/shared-state.ts';
import type { EdgeConnector, QueueElsewhere } from '../edge/connector.ts';
import { isStrict } from '../fetch/rfc9111.ts';
import { fieldLimit, type HeadLimits } from '../http1/head-parser.ts';
import { flat } from '../http1/latin1.ts';
import type { FromWorker, InitMessage, ListenerAddress, WorkerCall } from '../link.ts';
import { LogMask } from '../log/log-mask.ts';
import { RING_FILE } from '../log/ring-format.ts';
import { RingPlace } from '../log/ring-place.ts';
import { RingWriter } from '../log/ring-writer.ts';
import { constantRecord, LogShared, type PreparedRecords, TxLog } from '../log/tx-log.ts';
import { WriteTrouble } from '../log/write-trouble.ts';
import type { AcceptorHost } from '../net/acceptor.ts';
import { DescriptorGuard, descriptorLimit } from '../net/descriptor-guard.ts';
import { OutputBuffer } from '../net/output-buffer.ts';
import type { Session } from '../net/session.ts';
import { SessionList } from '../net/session-list.ts';
import { Params } from '../params/parameter-set.ts';
import {
  newEdgeCounters,
  newMainCounters,
  newSmaCounters,
  newWrkCounters,
  type SmaCounters,
} from '../stats/counter-fields.ts';
import type { Companions } from '../threads/seat.ts';
import { SharedCount } from '../threads/shared-count.ts';
import { NO_LOCK } from '../threads/shared-lock.ts';
import { ownMemory } from '../threads/shared-memory.ts';
import type { Core, HotParams, ProgramRef } from '../transaction/core.ts';
import { EsiState } from '../transaction/esi-state.ts';
import { HeldLookups } from '../transaction/held-lookups.ts';
import { HotHeads } from '../transaction/hot-heads.ts';
import { IdHeader } from '../transaction/id-header.ts';
import { SendTurns } from '../transaction/send-turns.ts';
import { StepChecks } from '../transaction/step-checks.ts';
import { makeBackendEnvironment } from './backend-environment.ts';
import { BackendThreads } from './backend-threads.ts';
import { compileBanRegex } from './ban-regex.ts';
import { cliText, loadedText, logHeard, logSaid } from './cli-log.ts';
import type { CommonStart } from './crew.ts';
import { answerOthers, connectEdge, queueOfFirst } from './edge-connection.ts';
import { applyEvents, FleetConnection, fleetOfFirst, flush } from './fleet-connection.ts';
import { makeHost } from './host.ts';
import { Listening } from './listening.ts';
import { MaintenanceTimer } from './maintenance-timer.ts';
import { ObjectLog } from './object-log.ts';
import { ProgramTable } from './program-table.ts';
import { ThreadsState } from './threads-state.ts';
import { type PublicCounters, WorkerCounters } from './worker-counters.ts';

/** How often sessions are checked for timeouts, in milliseconds. */
const SWEEP = 250;
const READ_BUFFER = 64 * 1024;

/** What a worker has in common with those of other threads. */
export interface WorkerShare extends CommonStart {
  readonly companions: Companions;
}

export class Worker implements Core, AcceptorHost {
  readonly clock = new Clock();
  readonly stats = newMainCounters();
  readonly descriptors = new DescriptorGuard({
    limit: descriptorLimit(),
    stats: this.stats,
    now: () => this.clock.now(),
    tell: (text) => this.tell(text),
  });
  readonly params: HotParams;
  readonly allParams: Params;
  readonly cache: Cache;
  readonly hotHeads: HotHeads;
  readonly spareFetchBuffers: object[] = [];
  readonly esi = new EsiState();
  /** debug=+req_state. */
  stepChecks: StepChecks | null = null;
  readonly bgFetches: SharedCount;
  readonly pipes: SharedCount;
  /** Of extensions. */
  readonly shared: SharedState;
  readonly host: VclHost;
  /** Made by the first program that imports it. */
  edge: EdgeConnector | null = null;
  /** Null without --fleet. */
  readonly fleet: FleetService | null;
  private readonly fleetConnection: FleetConnection | null;
  readonly held = new HeldLookups();
  /** Of the edge connector, for all threads but the first. */
  readonly queueElsewhere: QueueElsewhere | null;
  readonly identity: string;
  idHeader: IdHeader;
  readonly via: string;
  readonly viaLine: string;
  readonly viaRecord: PreparedRecords;
  readonly programs: ProgramTable;
  readonly pool: ConnectionPool;
  readonly backendEnvironment: BackendEnvironment;
  readonly backendThreads: BackendThreads | null;
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER);
  readonly mask = new LogMask();
  readonly storages = new Map<string, SmaCounters>();
  readonly countersFile: PublicCounters;
  private readonly counters: WorkerCounters;
  requestLimits: HeadLimits;
  responseLimits: HeadLimits;
  lenientDates = false;
  lenientLf = false;
  private readonly init: InitMessage;
  private readonly send: (message: FromWorker) => void;
  private readonly ring: RingWriter;
  private readonly logShared: LogShared;
  private readonly sessions = new SessionList<Session>();
  private readonly listeners: Listening;
  /** The number of the next transaction: in memory that all threads have. */
  private readonly vxids: Int32Array;
  private readonly out = new OutputBuffer();
  readonly sendTurns = new SendTurns((run) => setImmediate(run));
  private started = false;
  private stopping = false;
  private readonly maintenance = new MaintenanceTimer(
    () => this.cache.maintenance,
    () => this.clock.now(),
  );
  /** debug=+lurker. */
  readonly objectLog: ObjectLog;
  private readonly tStart: number;
  private readonly wrk = newWrkCounters();
  readonly edgeCounters = newEdgeCounters();
  /** For what belongs to no transaction. */
  readonly workerLog: TxLog;
  private readonly cacheLimits: CacheLimits;
  /** Of several; the first one logs what is asked of all, probes backends and takes care of the cache. */
  private readonly thread: number;

  constructor(init: InitMessage, send: (message: FromWorker) => void, share: WorkerShare | null = null) {
    const { thread } = share?.companions ?? FIRST;
    this.thread = thread;
    this.init = init;
    this.send = send;
    this.identity = init.identity;
    this.via = `1.1 ${init.identity} (proxyd/0.1)`;
    this.viaLine = flat(`Via: ${this.via}`);
    this.viaRecord = constantRecord(Tag.RespHeader, this.viaLine);
    this.allParams = new Params(init.params);
    this.params = this.allParams.hot;
    this.idHeader = new IdHeader(this.allParams.text('id_header'), 0);
    this.requestLimits = { maxLine: 0, maxFields: 1, maxSize: 0 };
    this.responseLimits = { maxLine: 0, maxFields: 1, maxSize: 0 };
    // A daemon begins a log of its own; a worker that replaces a dead one goes on with it.
    if (init.generation === 0 && thread === 0) rmSync(join(init.dir, RING_FILE), { force: true });
    this.ring = this.openRing(share?.companions ?? null);
    this.logShared = new LogShared(this.ring, this.mask);
    this.workerLog = new TxLog(this.logShared);
    this.objectLog = new ObjectLog(() => this.cache.facts, this.workerLog, new TxLog(this.logShared));
    this.tStart = share?.now ?? this.clock.now();
    this.bgFetches = new SharedCount(share?.companions.part('bgFetches').words(1));
    this.pipes = new SharedCount(share?.companions.part('pipes').words(1));
    this.vxids = share?.companions.part('vxids').words(1) ?? new Int32Array(1);
    if (thread === 0) this.vxids[0] = 1 + (init.generation % 1000) * 1_000_000;
    this.queueElsewhere = share === null || thread === 0 ? null : queueOfFirst(share.companions.talk);
    if (share !== null && thread === 0) answerOthers(share.companions.talk, this);
    const talk = share?.companions.talk ?? null;
    this.fleetConnection = init.fleet && thread === 0 ? new FleetConnection(send, talk) : null;
    this.fleet = init.fleet && thread > 0 && talk !== null ? fleetOfFirst(talk) : this.fleetConnection;
    this.listeners = new Listening({
      core: this,
      host: this,
      specs: init.listeners,
      readBuffer: this.readBuffer,
      companions: share?.companions ?? null,
      backlog: () => this.params.listen_depth,
      changed: () => this.readyWhenBound(),
      failed: (reason) => send({ t: 'failed', reason }),
    });
    this.cacheLimits = this.limitsOfCache();
    this.cache = new Cache({
      storages: init.storages,
      counters: this.stats,
      limits: this.cacheLimits,
      compileRegex: compileBanRegex,
      now: this.tStart,
      seed: share?.seed ?? [randomInt(2 ** 32), randomInt(2 ** 32)],
      events: this.objectLog,
      wake: () => (thread === 0 ? this.maintenance.wake() : share?.companions.peers.wakeMaintenance()),
      ...(share === null ? {} : { shared: sharedCache(share.companions) }),
    });
    share?.companions.peers.listen(this.cache.peerCalls, () => this.maintenance.wake());
    this.hotHeads = new HotHeads(this.cache.facts, this.cache.reading, this.viaLine, this.idHeader.key);
    for (const name of this.cache.storages.names()) this.storages.set(name, newSmaCounters());
    this.pool = new ConnectionPool(this.params.backend_idle_timeout);
    this.shared = share === null ? new OwnState() : new ThreadsState(share.companions, share.seed);
    this.backendEnvironment = makeBackendEnvironment(this);
    this.backendThreads = share === null ? null : new BackendThreads(share.companions);
    this.host = makeHost(this);
    this.programs = new ProgramTable(this);
    this.counters = new WorkerCounters({
      dir: init.dir,
      files: init.files,
      trouble: this.trouble('The file of counters'),
      main: this.stats,
      wrk: this.wrk,
      storages: this.storages,
      edge: this.edgeCounters,
      companions: share?.companions ?? null,
      facts: {
        sessions: () => this.sessions.count,
        lockWaits: () => share?.companions.lockWaits ?? 0,
      },
      sample: () => this.sampleGauges(),
    });
    this.countersFile = this.counters.public;
    this.paramsChanged();
  }

  get active(): ProgramRef | null {
    return this.programs.active;
  }

  /** Loads the programs and opens what the manager did not bind; the handles of the rest come one by one. */
  async start(): Promise<void> {
    await this.programs.begin(this.init);
    this.listeners.begin();
    this.countersFile.start();
    // Behind what has come in meanwhile: a client that has sent is not idle, however late it is read.
    setInterval(() => setImmediate(() => this.sweep()), SWEEP);
    if (this.init.generation > 0 && this.thread === 0) this.tellLoss();
    this.started = true;
    if (this.thread === 0) {
      this.maintenance.start();
      logHeard(this.workerLog, 'start');
      logSaid(this.workerLog, 200, '');
    }
    this.readyWhenBound();
  }

  /** Listens on the handle that the manager bound, or with the descriptor that this thread was given. */
  listen(index: number, handle: unknown): void {
    this.listeners.listen(index, handle);
  }

  /** All threads listen. */
  allReady(): void {
    this.listeners.handover?.openWays();
  }

  async call(call: WorkerCall): Promise<CommandReply> {
    const text = cliText(call);
    if (text === null || this.thread > 0) return this.answer(call);
    logHeard(this.workerLog, text);
    const reply = await this.answer(call);
    const said = call.op === 'vcl.load' && reply.status === 200 ? loadedText(call.load.name) : reply.body;
    logSaid(this.workerLog, reply.status, said);
    return reply;
  }

  private async answer(call: WorkerCall): Promise<CommandReply> {
    switch (call.op) {
      case 'cli':
        return runCommand(this, call.command);
      case 'vcl.load': {
        const problem = await this.programs.load(call.load);
        if (problem !== null) return { status: 300, body: problem };
        const { edge } = call.load.program;
        if (edge !== undefined) {
          this.counters.showEdge();
          this.edge = await connectEdge(this, edge);
        }
        return OK;
      }
      case 'vcl.use':
        return this.programs.use(call.name)
          ? OK
          : { status: 106, body: `No configuration named ${call.name} known.` };
      case 'vcl.discard':
        this.programs.discard(call.name);
        return OK;
      case 'vcl.label':
        return this.programs.label(call.name, call.target)
          ? OK
          : { status: 106, body: `No configuration named ${call.target} known.` };
      case 'vcl.state': {
        const problem = this.programs.setState(call.name, call.state, call.warm);
        return problem === null ? OK : { status: 300, body: problem };
      }
      case 'vcl.list':
        return { status: 200, body: JSON.stringify(this.programs.list()) };
      case 'ping':
        return { status: 200, body: `PONG ${Math.floor(this.clock.now())} 1.0` };
      case 'param.set':
        this.allParams.apply(call.name, call.value);
        this.paramsChanged();
        return OK;
      case 'fleet.apply':
        return { status: 200, body: JSON.stringify(applyEvents(this, call.events)) };
      case 'fleet.flush':
        flush(this, call.why);
        return OK;
      case 'fleet.hold':
        if (call.on) this.held.hold(this.clock.now());
        else this.held.letGo();
        return OK;
      case 'stop':
        this.stop();
        return OK;
    }
  }

  /** The manager's answer to what was published. */
  published(id: number, receipt: FleetReceipt): void {
    this.fleetConnection?.published(id, receipt);
  }

  /** Called before the process ends for whatever reason. */
  flush(): void {
    this.ring.flushAtEnd();
    this.countersFile.publish();
  }

  /** std.syslog and the like: the manager's log takes it. */
  note(priority: number, text: string): void {
    this.send({ t: 'note', level: priority <= 3 ? 'error' : priority <= 4 ? 'warning' : 'info', text });
  }

  /** A record that belongs to no transaction. */
  logNotice(text: string): void {
    this.workerLog.put(Tag.Notice, text);
  }

  readonly listening = (): readonly ListenerAddress[] => this.listeners.plain;

  lastVxid(): number {
    return (this.vxids[0] as number) - 1;
  }

  setNextVxid(next: number): void {
    Atomics.store(this.vxids, 0, next);
  }

  newVxid(): number {
    const id = Atomics.add(this.vxids, 0, 1);
    if (id < LAST_VXID) return id;
    // Whoever comes first begins again; numbers beyond the last one are nobody's.
    Atomics.compareExchange(this.vxids, 0, id + 1, 1);
    return id === LAST_VXID ? id : this.newVxid();
  }

  newLog(): TxLog {
    return new TxLog(this.logShared);
  }

  output(size: number): Buffer {
    return this.out.room(size);
  }

  outputPart(out: Buffer, start: number, end: number): Buffer {
    return this.out.part(out, start, end);
  }

  outputTaken(): void {
    this.out.taken();
  }

  later(step: () => void): void {
    setImmediate(step);
  }

  sessionOpened(session: Session): void {
    this.listeners.handover?.opened();
    this.sessions.add(session);
  }

  sessionClosed(session: Session): void {
    this.listeners.handover?.closed();
    this.sessions.remove(session);
  }

  /** The ring that all threads write; the first one begins it. */
  private openRing(companions: Companions | null): RingWriter {
    const path = join(this.init.dir, RING_FILE);
    const { vsl_space: space } = this.params;
    const memory = companions?.part('ring') ?? ownMemory();
    const isFirst = this.thread === 0;
    const place = isFirst
      ? RingPlace.begin(path, space, this.init.files, memory)
      : RingPlace.join(path, memory);
    if (place.cutTo > 0) this.tellCutLog(place.cutTo, space);
    const lock = companions?.makeLock('ring') ?? NO_LOCK;
    return new RingWriter(place, this.stats, this.trouble('The log'), lock);
  }

  private trouble(what: string): WriteTrouble {
    return new WriteTrouble(what, this.wrk, (text) => this.send({ t: 'trouble', text }));
  }

  private tellCutLog(taken: number, wanted: number): void {
    const mb = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MB`;
    const text = `The log keeps ${mb(taken)} instead of ${mb(wanted)}: the working directory has no more room. Make room there, or ask for less with -l`;
    this.note(4, text);
  }

  /** A new worker has neither the objects nor the bans of the one before it. */
  private tellLoss(): void {
    this.tell('A new worker begins with an empty cache and an empty list of bans');
  }

  /** For the log, and for the operator. */
  private tell(text: string): void {
    this.logNotice(text);
    this.note(4, text);
  }

  private sampleGauges(): void {
    this.stats.uptime = Math.floor(this.clock.now() - this.tStart);
    for (const [name, counters] of this.storages) Object.assign(counters, this.cache.storages.stats(name));
    this.cache.maintenance.sample();
    this.edge?.sample();
  }

  private stop(): void {
    this.stopping = true;
    this.listeners.close();
    this.sessions.each((session) => session.shutdown());
    this.programs.close();
    void this.edge?.close();
    this.flush();
    this.countersFile.close();
  }

  private sweep(): void {
    const now = this.clock.now();
    const step = this.clock.correct();
    if (step < -this.params.clock_step) this.tell(`The clock was set back by ${(-step).toFixed(3)} s`);
    this.sessions.each((session) => session.checkTimeout(now));
    this.programs.sweep();
  }

  private readyWhenBound(): void {
    const { listeners } = this.init;
    if (!this.started || this.stopping) return;
    const { bound } = this.listeners;
    if (bound.length === listeners.length) this.send({ t: 'ready', listeners: bound });
  }

  private paramsChanged(): void {
    const p = this.params;
    this.requestLimits = {
      maxLine: p.http_req_hdr_len,
      maxFields: fieldLimit(p.http_max_hdr),
      maxSize: p.http_req_size,
    };
    const idName = this.allParams.text('id_header');
    if (idName !== this.idHeader.name) {
      this.idHeader = new IdHeader(idName, this.clock.now());
      this.hotHeads.renameId(this.idHeader.key);
    }
    this.lenientDates = this.allParams.feature('http_date_postel');
    this.lenientLf = this.allParams.feature('lenient_lf');
    this.esi.set((bit) => this.allParams.feature(bit));
    this.responseLimits = {
      maxLine: p.http_resp_hdr_len,
      maxFields: fieldLimit(p.http_max_hdr),
      maxSize: p.http_resp_size,
    };
    Object.assign(this.cacheLimits, this.limitsOfCache());
    this.objectLog.lurkerDebug = this.allParams.debug('lurker');
    this.stepChecks = this.allParams.debug('req_state') ? (this.stepChecks ?? new StepChecks()) : null;
    this.mask.leaveOut(this.allParams.masked());
    this.logShared.reclen = p.vsl_reclen;
    this.pool.setIdleTimeout(p.backend_idle_timeout);
  }

  private limitsOfCache(): CacheLimits {
    const p = this.params;
    return {
      nukeLimit: p.nuke_limit,
      rushExponent: p.rush_exponent,
      lruInterval: p.lru_interval,
      gzipSupport: p.http_gzip_support !== 0,
      normaliseVary: isStrict(p),
      banDups: p.ban_dups !== 0,
      tagHeaders: headerNames(this.allParams.text('xkey_fields')),
      tagSpace: p.xkey_space,
      lurker: {
        age: p.ban_lurker_age,
        batch: p.ban_lurker_batch,
        sleep: p.ban_lurker_sleep,
        cutoff: p.ban_cutoff,
        holdoff: p.ban_lurker_holdoff,
      },
    };
  }
}

/** Two bits of the log's word mark the side. */
const LAST_VXID = (1 << 30) - 1;
/** A worker without others. */
const FIRST = { thread: 0 };

function sharedCache(companions: Companions): SharedCache {
  return {
    memory: companions.part('cache'),
    lock: companions.lock,
    peers: companions.peers,
    maintains: companions.thread === 0,
  };
}

const OK: CommandReply = { status: 200, body: '' };
