// The services that transactions of one thread use (`Core`): parameters, log, cache, counters, ids, buffers. It exists
// before the programs do, and knows nothing of listeners, calls, or the start and stop of a worker (worker.ts).

import { randomInt } from 'node:crypto';
import type { Changes } from '../../protocol/tables/release-changes.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { ConnectionPool } from '../backend/pool.ts';
import { Cache } from '../cache/cache.ts';
import type { CacheLimits, SharedCache } from '../cache/cache-state.ts';
import { Clock } from '../clock.ts';
import type { VclHost } from '../contract/context.ts';
import type { FleetService } from '../contract/invalidation.ts';
import { OwnState } from '../contract/own-state.ts';
import type { SharedState } from '../contract/shared-state.ts';
import type { DiskTier } from '../disk/disk-tier.ts';
import type { SharedTier } from '../disk/shared-tier.ts';
import type { EdgeConnector } from '../edge/connector.ts';
import { ByteTurns } from '../flow/byte-turns.ts';
import type { Piece } from '../flow/piece.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import { flat } from '../http1/latin1.ts';
import type { FromWorker, InitMessage } from '../link.ts';
import { constantRecord, type PreparedRecords, type TxLog } from '../log/tx-log.ts';
import { WriteTrouble } from '../log/write-trouble.ts';
import { DescriptorGuard, descriptorLimit } from '../net/descriptor-guard.ts';
import { OutputBuffer } from '../net/output-buffer.ts';
import { Params } from '../params/parameter-set.ts';
import {
  newEdgeCounters,
  newMainCounters,
  newSmaCounters,
  newSmdCounters,
  newTlsCounters,
  newWaiterCounters,
  newWrkCounters,
  type SmaCounters,
} from '../stats/counter-fields.ts';
import type { Peers } from '../threads/peers.ts';
import { SharedCount } from '../threads/shared-count.ts';
import { ServerContexts } from '../tls/server-contexts.ts';
import { TicketKeys } from '../tls/session-tickets.ts';
import { NO_TLS } from '../tls/tls-settings.ts';
import type { Core, HotParams, ProgramRef, TlsServices } from '../transaction/core.ts';
import { StepChecks } from '../transaction/drive.ts';
import { EarlySlices } from '../transaction/early-slices.ts';
import { EsiState } from '../transaction/fragment-place.ts';
import { HeldLookups } from '../transaction/held-lookups.ts';
import { HotHeads, IdHeader } from '../transaction/hot-heads.ts';
import { OutgrownKeys } from '../transaction/outgrown-keys.ts';
import { TurnWatch } from '../turns/turn-watch.ts';
import { turns } from '../turns/turns.ts';
import { limitsOfCache, requestHeadLimits, responseHeadLimits } from './applied-params.ts';
import { compileBanRegex } from './ban-regex.ts';
import { MaintenanceTimer } from './maintenance-timer.ts';
import { ObjectLog } from './object-log.ts';
import { ThreadLog } from './thread-log.ts';
import { ThreadsState } from './threads-state.ts';
import { Vxids } from './vxids.ts';

const READ_BUFFER = 64 * 1024;

/** Start values that all threads share. */
export interface CommonStart {
  /** See clockBase(). */
  readonly clock: Float64Array;
  /** Epoch seconds. */
  readonly now: number;
  readonly seed: readonly [number, number];
}

/** State that a worker shares with those of other threads. */
export interface WorkerShare extends CommonStart {
  readonly peers: Peers;
}

export abstract class WorkerCore implements Core {
  readonly turns = turns;
  readonly clock: Clock;
  readonly turnWatch: TurnWatch;
  readonly stats = newMainCounters();
  readonly waiter = newWaiterCounters();
  protected readonly wrk = newWrkCounters();
  readonly descriptors = new DescriptorGuard({
    limit: descriptorLimit(),
    stats: this.stats,
    now: () => this.clock.now(),
    report: (text) => this.warn(text),
  });
  readonly params: HotParams;
  readonly allParams: Params;
  readonly cache: Cache;
  disk: DiskTier | SharedTier | null = null;
  readonly hotHeads: HotHeads;
  readonly spareFetchBuffers: object[] = [];
  readonly esi = new EsiState();
  /** Set by debug=+req_state. */
  stepChecks: StepChecks | null = null;
  readonly bgFetches: SharedCount;
  readonly held = new HeldLookups();
  readonly earlySlices = new EarlySlices();
  readonly outgrown = new OutgrownKeys();
  readonly pipes: SharedCount;
  /** State of extensions. */
  readonly shared: SharedState;
  readonly identity: string;
  idHeader: IdHeader;
  readonly via: string;
  readonly viaLine: string;
  readonly viaRecord: PreparedRecords;
  readonly viaOfRequest: PreparedRecords;
  readonly pool: ConnectionPool;
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER);
  readonly storages = new Map<string, SmaCounters>();
  readonly diskCounters = newSmdCounters();
  /** Made when the first program that imports it is loaded. */
  edge: EdgeConnector | null = null;
  readonly edgeCounters = newEdgeCounters();
  requestLimits: HeadLimits;
  responseLimits: HeadLimits;
  lenientDates = false;
  tracesAll = false;
  lenientLf = false;
  http2Plain = false;
  http2Tls = true;
  logsResets = true;
  logsMalformedStart = false;
  logsSessionErrors = false;
  countsAgain = true;
  readonly ticketKeys = new TicketKeys();
  readonly tls: TlsServices = {
    contexts: new ServerContexts(this.ticketKeys),
    counters: newTlsCounters(),
    lacksCertificate: (listener) => this.lacksCertificate(listener),
  };
  readonly sendTurns = new ByteTurns((run) => setImmediate(run));
  /** For records that belong to no transaction. */
  readonly workerLog: TxLog;
  /** Includes removals by the lurker under debug=+lurker. */
  readonly objectLog: ObjectLog;
  protected readonly log: ThreadLog;
  protected readonly maintenance: MaintenanceTimer;
  /** Epoch seconds. */
  protected readonly tStart: number;
  /** Number of this thread; 0 logs the calls, probes backends and maintains the cache. */
  readonly thread: number;
  private readonly send: (message: FromWorker) => void;
  private readonly vxids: Vxids;
  private readonly out = new OutputBuffer();
  private readonly cacheLimits: CacheLimits;
  private readonly listenerNames: readonly string[];
  /** For each of them: the minute of the epoch in which its lack of a certificate was reported last. */
  private readonly lackedAt: Int32Array;

  constructor(init: InitMessage, send: (message: FromWorker) => void, share: WorkerShare | null) {
    const peers = share?.peers ?? null;
    const thread = peers?.thread ?? 0;
    this.thread = thread;
    this.send = send;
    this.clock = new Clock(share?.clock);
    this.turnWatch = new TurnWatch(this.clock, ({ millis, work, of }) =>
      this.send({ t: 'turn', thread, millis, work, of }),
    );
    this.maintenance = new MaintenanceTimer(
      () => this.cache.maintenance,
      () => this.clock.now(),
      this.turnWatch,
    );
    this.identity = init.identity;
    this.via = `1.1 ${init.identity} (proxyd/0.1)`;
    this.viaLine = flat(`Via: ${this.via}`);
    this.viaRecord = constantRecord(Tag.RespHeader, this.viaLine);
    this.viaOfRequest = constantRecord(Tag.ReqHeader, this.viaLine);
    this.allParams = new Params(init.params);
    this.params = this.allParams.hot;
    this.turns.follow(() => this.params.turn_budget * 1000);
    this.idHeader = new IdHeader(this.allParams.text('id_header'), 0);
    this.requestLimits = requestHeadLimits(this.allParams);
    this.responseLimits = responseHeadLimits(this.allParams);
    const { vsl_space: space } = this.params;
    this.log = new ThreadLog({
      init,
      peers,
      space,
      counters: this.stats,
      trouble: this.trouble('The log'),
      cutTo: (bytes) => this.noteCutLog(bytes, space),
    });
    this.workerLog = this.log.own;
    this.objectLog = new ObjectLog(
      () => this.cache.facts,
      () => this.clock.now(),
      this.workerLog,
      this.newLog(),
    );
    this.tStart = share?.now ?? this.clock.now();
    this.bgFetches = new SharedCount(peers?.part('bgFetches').words(1));
    this.pipes = new SharedCount(peers?.part('pipes').words(1));
    this.listenerNames = init.listeners.map(({ name }) => name);
    const lacks = Math.max(1, init.listeners.length);
    this.lackedAt = peers?.part('lackedAt').words(lacks) ?? new Int32Array(lacks);
    this.vxids = new Vxids(peers?.part('vxids').words(1) ?? new Int32Array(1));
    if (thread === 0) this.vxids.begin(init.generation);
    this.cacheLimits = limitsOfCache(this.allParams);
    this.cache = new Cache({
      storages: init.storages,
      counters: this.stats,
      limits: this.cacheLimits,
      compileRegex: compileBanRegex,
      now: this.tStart,
      seed: share?.seed ?? [randomInt(2 ** 32), randomInt(2 ** 32)],
      events: this.objectLog,
      transactions: () => this.lastVxid(),
      wake: () => (thread === 0 ? this.maintenance.wake() : peers?.signals.wakeMaintenance()),
      ...(peers === null ? {} : { shared: sharedCache(peers) }),
    });
    peers?.signals.listen(this.cache.receiver, () => this.maintenance.wake());
    this.hotHeads = new HotHeads(this.cache.facts, this.cache.reading, this.viaLine, this.idHeader.key);
    this.cache.storages.behind = init.disk?.name ?? null;
    for (const name of this.cache.storages.names()) this.storages.set(name, newSmaCounters());
    this.pool = new ConnectionPool(this.params.backend_idle_timeout, this.waiter);
    const { settings, tickets, challenges } = init.tls ?? NO_TLS;
    this.ticketKeys.set(tickets);
    this.tls.contexts.set(settings);
    this.tls.contexts.setChallenges(challenges);
    this.shared = share === null ? new OwnState() : new ThreadsState(share.peers, share.seed);
  }

  abstract readonly host: VclHost;
  /** Null without --fleet. */
  abstract readonly fleet: FleetService | null;

  abstract get active(): ProgramRef | null;

  newVxid(): number {
    return this.vxids.next();
  }

  get changes(): Changes {
    return this.allParams.changes;
  }

  lastVxid(): number {
    return this.vxids.last();
  }

  setNextVxid(next: number): void {
    this.vxids.setNext(next);
  }

  newLog(): TxLog {
    return this.log.make();
  }

  output(size: number): Buffer {
    return this.out.room(size);
  }

  outputPiece(out: Buffer, start: number, end: number): Piece {
    return this.out.piece(out, start, end);
  }

  later(step: () => void): void {
    setImmediate(step);
  }

  /** Sends a message of std.syslog and the like to the manager's log. */
  note(priority: number, text: string): void {
    this.send({ t: 'note', level: priority <= 3 ? 'error' : priority <= 4 ? 'warning' : 'info', text });
  }

  /** Adds an entry to the manager's list of events. */
  happened(kind: 'health' | 'ban', text: string): void {
    this.send({ t: 'happened', kind, text });
  }

  /** A record that belongs to no transaction. */
  logNotice(text: string): void {
    this.log.notice(text);
  }

  /** Logs a warning and reports it to the operator. */
  protected warn(text: string): void {
    this.logNotice(text);
    this.note(4, text);
  }

  protected trouble(what: string): WriteTrouble {
    return new WriteTrouble(what, this.wrk, (text) => this.send({ t: 'trouble', text }));
  }

  /** Says so once a minute for each listener, whichever thread notices it. */
  private lacksCertificate(listener: string): void {
    const minute = Math.floor(this.clock.now() / 60);
    const place = Math.max(0, this.listenerNames.indexOf(listener));
    if (Atomics.exchange(this.lackedAt, place, minute) === minute) return;
    const text = `Listener ${listener} has no TLS certificate and refuses all clients: tls.cert.load brings one`;
    this.report(text);
  }

  /** Logs something that operators should see, and adds it to the manager's list of events. */
  protected report(text: string): void {
    this.logNotice(text);
    this.send({ t: 'trouble', text });
  }

  private noteCutLog(taken: number, wanted: number): void {
    const mb = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MB`;
    const text = `The log keeps ${mb(taken)} instead of ${mb(wanted)}: the working directory has no more room. Make room there, or ask for less with -l`;
    this.note(4, text);
  }

  /** Applies parameters after a change. */
  paramsChanged(): void {
    const { allParams, params } = this;
    this.requestLimits = requestHeadLimits(allParams);
    const idName = allParams.text('id_header');
    if (idName !== this.idHeader.name) {
      this.idHeader = new IdHeader(idName, this.clock.now());
      this.hotHeads.renameId(this.idHeader.key);
    }
    this.lenientDates = allParams.feature('http_date_postel');
    this.tracesAll = allParams.feature('trace');
    this.lenientLf = allParams.feature('lenient_lf');
    this.http2Plain = allParams.feature('http2');
    this.http2Tls = !allParams.featureDenied('http2');
    this.logsResets = allParams.feature('vcl_req_reset');
    this.logsMalformedStart = allParams.changes.malformedStart;
    this.logsSessionErrors = allParams.changes.sessionErrors;
    this.countsAgain = !allParams.changes.countsOnce;
    this.esi.set((bit) => allParams.feature(bit));
    this.responseLimits = responseHeadLimits(allParams);
    Object.assign(this.cacheLimits, limitsOfCache(allParams));
    this.objectLog.lurkerDebug = allParams.debug('lurker');
    this.objectLog.newerWords = allParams.changes.expiryWords;
    this.stepChecks = allParams.debug('req_state') ? (this.stepChecks ?? new StepChecks()) : null;
    this.cache.storages.overwriteFreed(this.stepChecks !== null);
    this.log.set(allParams.masked(), params.vsl_reclen);
    this.pool.setIdleTimeout(params.backend_idle_timeout);
  }
}

function sharedCache(peers: Peers): SharedCache {
  return {
    memory: peers.part('cache'),
    lock: peers.lock,
    signals: peers.signals,
    maintains: peers.thread === 0,
  };
}
