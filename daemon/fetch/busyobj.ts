// One fetch in progress: the request to the origin, its response, and the program's decisions about both.
// It belongs to no client: a client that leaves does not end it (unless the object is private to that client).
//
// Its state is BusyObj, which lasts from the first attempt to the end, and FetchAttempt, which is replaced whole. Messages and
// log are FetchBuffers, left to the next fetch because making them costs more than emptying them.

import { limitSeconds } from '../../protocol/tables/params.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { InterimCallback } from '../backend/exchange-roles.ts';
import type { Oc } from '../cache/objcore.ts';
import { TRANSIENT } from '../cache/storage/stevedores.ts';
import {
  type Director,
  type VclBusyobj,
  VclContext,
  type VclSession,
  type VclStaleObject,
} from '../contract/context.ts';
import { endPrivs } from '../contract/priv.ts';
import { State } from '../contract/program.ts';
import type { FetchChain } from '../filters/chain.ts';
import { usualFetchFilters } from '../filters/filter-table.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core, HotParams, ProgramRef } from '../transaction/core.ts';
import type { Step, Transaction } from '../transaction/drive.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import { type KeptBody, KeptBodySource } from '../transaction/kept-body.ts';
import type { Request } from '../transaction/request.ts';
import type { UploadSource } from '../transaction/request-body.ts';
import type { RequestFilters } from '../transaction/request-filters.ts';
import { FetchAttempt } from './fetch-attempt.ts';
import { recalculateLifetime } from './set-lifetime.ts';
import { StaleView } from './stale-view.ts';
import type { WantedPart } from './wanted-part.ts';

/** Sets kept for the next fetches, at most: about as many as a worker has under way at once. */
const MAX_SPARE = 64;

export class FetchBuffers {
  readonly bereq = new HttpMessage(Tag.BereqMethod);
  readonly beresp = new HttpMessage(Tag.BerespMethod);
  /** The request's head as first made, for retries and rollback. */
  readonly original = new HttpMessage(Tag.BereqMethod);
  /** The response's head as it goes into the store. */
  readonly stored = new HttpMessage(Tag.ObjMethod);
  readonly log: TxLog;

  constructor(core: Core) {
    this.log = core.newLog();
  }

  /** Those of a fetch that has ended, emptied, or new ones. */
  static take(core: Core): FetchBuffers {
    const spare = core.spareFetchBuffers.pop() as FetchBuffers | undefined;
    if (spare === undefined) return new FetchBuffers(core);
    spare.bereq.reset();
    spare.beresp.reset();
    spare.original.reset();
    spare.stored.reset();
    return spare;
  }

  giveBack(core: Core): void {
    if (core.spareFetchBuffers.length >= MAX_SPARE) return;
    // These may lie in the read buffer of a connection.
    this.beresp.raw = null;
    this.stored.raw = null;
    core.spareFetchBuffers.push(this);
  }
}

export type FetchMode = 'fetch' | 'bgfetch' | 'pass';

export class BusyObj implements VclBusyobj, Transaction {
  readonly core: Core;
  readonly bereq: HttpMessage;
  readonly beresp: HttpMessage;
  /** The request's head as first made, for retries and rollback. */
  readonly bereq0: HttpMessage;
  /** The response's head as it goes into the store. */
  readonly stored: HttpMessage;
  readonly log: TxLog;
  readonly ctx: VclContext;
  readonly mode: FetchMode;
  readonly programRef: ProgramRef;
  readonly session: VclSession;
  /** client.identity as vcl_recv has set it; null is the address. */
  readonly clientIdentity: string | null;
  /** Start of the fetch, of its first try when there are several. */
  readonly tStart: number;
  readonly isBgFetch: boolean;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  readonly reqVxid: number;
  /** The lookup key of the request, for what is chosen by its hash. */
  readonly hashKey: string;
  /** The object being filled; this fetch holds a reference. */
  readonly oc: Oc;
  /** A stale object that a 304 may bring back to life; this fetch holds a reference. */
  staleOc: Oc;
  /** Up to a retry, or from one retry to the next. */
  attempt: FetchAttempt;
  retries = 0;
  uncacheable: boolean;
  backend: Director | null;
  respBackend: Director | null = null;
  connectTimeout = -1;
  firstByteTimeout = -1;
  betweenBytesTimeout = -1;
  retryConnect = true;
  bodyFilters: string | null = null;
  /** Filters of the client's body, and that body's way through them, once it is open. */
  readonly requestFilters: RequestFilters | null;
  requestChain: FetchChain | null = null;
  /** Bytes of that body after the filters; -1 if unknown. */
  filteredLength = -1;
  transitBuffer: number;
  taskDeadline: number;
  trace: boolean | null;
  ttl = -1;
  grace = 0;
  keep = 0;
  tOrigin = 0;
  /** Name of the storage the object is to go to; the program may have made it none. */
  storage: string | null = TRANSIENT;
  /** The program made a pass of it: later requests under this key pass too. */
  hitForPass = false;
  /** Name of the storage the object went to. */
  storedIn = '';
  /** The client's body to send along, or null; `bodySent` once any of it may have reached an origin. */
  body: UploadSource | null;
  bodySent = false;
  /** Where that body lies in storage; this fetch holds it. */
  private readonly keptBody: KeptBody | null;
  /** Of the fetch of a fragment, which may be ahead of its turn. */
  readonly place: FragmentPlace | null;
  /** Called once when the fetch has no more use for the client's body; null when nothing waits for that. */
  onBodyDone: (() => void) | null = null;
  /** Passes interim responses on to the client, or null. */
  onInterim: InterimCallback | null = null;
  /** The slice that is asked for; null for the whole. */
  part: WantedPart | null;
  /** The Range that a part has to fit: that of the request as it was first made, or since Varnish 8.0 as the program left
   * it; null where it asked for the whole. */
  askedRange: string | null = null;
  /** The fetch is over. */
  ended = false;
  headBytesOut = 0;
  bodyBytesOut = 0;
  headBytesIn = 0;
  bodyBytesIn = 0;
  private readonly buffers: FetchBuffers;
  private staleView: StaleView | null = null;
  private readonly run: (bo: BusyObj, step: Step<BusyObj>) => void;

  /**
   * @param oc the object to fill; a reference to it comes along. `staleOc` may be 0.
   * @param run drives a fetch from a step on; given, since the steps know this class; a pipe has no steps.
   */
  constructor(
    req: Request,
    oc: Oc,
    staleOc: Oc,
    mode: FetchMode,
    run: (bo: BusyObj, step: Step<BusyObj>) => void = () => {},
    part: WantedPart | null = null,
  ) {
    const { core, settings, attempt } = req;
    const { backendHint } = settings;
    const programRef = req.programRef as ProgramRef;
    programRef.refs++;
    if (staleOc !== 0) core.cache.references.ref(staleOc);
    const buffers = FetchBuffers.take(core);
    this.core = core;
    this.buffers = buffers;
    this.run = run;
    this.bereq = buffers.bereq;
    this.beresp = buffers.beresp;
    this.bereq0 = buffers.original;
    this.stored = buffers.stored;
    this.log = buffers.log;
    this.ctx = new VclContext(core.host, programRef.program, this.log);
    this.ctx.bo = this;
    this.mode = mode;
    this.part = part;
    this.programRef = programRef;
    this.session = req.session;
    this.clientIdentity = settings.clientIdentity;
    this.trace = settings.trace;
    this.transitBuffer = core.params.transit_buffer;
    this.taskDeadline = limitSeconds(core.params.pipe_task_deadline);
    this.tStart = core.clock.now();
    this.isBgFetch = mode === 'bgfetch';
    this.isHitMiss = attempt.isHitMiss;
    this.isHitPass = attempt.isHitPass;
    this.reqVxid = attempt.vxid;
    this.hashKey = attempt.hashKey;
    this.oc = oc;
    this.staleOc = staleOc;
    this.attempt = new FetchAttempt(this, core.newVxid());
    this.uncacheable = mode === 'pass';
    this.backend = backendHint === undefined ? programRef.program.defaultDirector : backendHint;
    this.place = req.fragment;
    // Whoever reads an object in slices may have had a body to send, once.
    this.keptBody = part === null ? req.cachedBody : null;
    this.keptBody?.hold();
    this.requestFilters = this.keptBody === null ? req.filters : null;
    const own = part === null ? req.body : null;
    this.body = this.keptBody === null ? own : new KeptBodySource(this.keptBody);
  }

  /** Goes on with a step after a wait. */
  resume(step: Step<BusyObj>): void {
    this.run(this, step);
  }

  /** Leaves the buffers to another fetch; nothing may look at this one again. */
  recycle(): void {
    this.buffers.giveBack(this.core);
  }

  get stale(): VclStaleObject | null {
    if (this.ctx.state !== State.backend_refresh || this.staleOc === 0) return null;
    this.staleView ??= new StaleView(this);
    return this.staleView.show(this.staleOc, this.ctx.now);
  }

  get params(): HotParams {
    return this.core.params;
  }

  get age(): number {
    return Math.max(0, this.ctx.now - this.tOrigin);
  }

  usualFilters(): string {
    return this.attempt.hasBody ? usualFetchFilters(this.beresp, this.attempt, this.core.params).text : '';
  }

  /** A body that the program had cached goes with a GET that is passed, as in Varnish: nothing of it is kept here. */
  unsetBody(): void {
    if (this.body === null) return;
    const stays = this.uncacheable && this.body instanceof KeptBodySource && this.bereq.method === 'GET';
    if (stays && !this.ctx.vcl.changes.keptBodyDropped) return;
    this.bereq.unset('content-length');
    this.bereq.unset('transfer-encoding');
    this.body = null;
  }

  rollback(): void {
    this.bereq.copyFrom(this.bereq0);
    const { state } = this.ctx;
    if (state !== State.backend_response && state !== State.backend_refresh) return;
    // For a retry: there is nothing left to deliver.
    this.attempt.rolledBack = true;
    this.attempt.giveUp();
  }

  recalculateLifetime(): void {
    recalculateLifetime(this);
  }

  /** The client's body has been sent, or will not be. */
  bodyDone(): void {
    const { onBodyDone } = this;
    this.onBodyDone = null;
    onBodyDone?.();
  }

  /** Ends the transaction's log and releases everything that the fetch holds. */
  end(): void {
    const { log, core } = this;
    // An extension may log something at the end of a task.
    endPrivs(this.ctx.priv);
    log.acct(
      Tag.BereqAcct,
      this.headBytesOut,
      this.bodyBytesOut,
      this.headBytesOut + this.bodyBytesOut,
      this.headBytesIn,
      this.bodyBytesIn,
      this.headBytesIn + this.bodyBytesIn,
    );
    log.end();
    if (this.isBgFetch) core.bgFetches.add(-1);
    this.part?.coming?.settle(false);
    this.dropStale();
    this.programRef.refs--;
    core.cache.filling.takeBackHead(this.oc);
    core.cache.references.deref(this.oc);
    this.bodyDone();
    this.keptBody?.release();
    this.part?.of?.release();
  }

  held(): string[] {
    const held = { 'stale object': this.staleOc, connection: this.attempt.connection };
    return Object.entries(held).flatMap(([name, value]) => (value === 0 || value === null ? [] : [name]));
  }

  dropStale(): void {
    if (this.staleOc !== 0) this.core.cache.references.deref(this.staleOc);
    this.staleOc = 0;
  }
}
