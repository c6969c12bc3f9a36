// One fetch in progress: the request to the origin, its response, and what the program decides about both.
// It belongs to no client: a client that leaves does not end it (unless the object is private to that client).

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { ConnectionEnds } from '../backend/address.ts';
import type { InterimTold } from '../backend/exchange-roles.ts';
import type { Oc } from '../cache/cache.ts';
import { type Director, type VclBusyobj, VclContext, type VclSession } from '../contract/context.ts';
import { endPrivs } from '../contract/priv.ts';
import { State, type VclProgram } from '../contract/program.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import { CachedBody } from '../transaction/cached-body.ts';
import type { Core, ProgramRef } from '../transaction/core.ts';
import type { Request } from '../transaction/request.ts';
import type { BodySource } from '../transaction/request-body.ts';
import type { BodyPump } from './body.ts';
import { Exchange } from './exchange.ts';
import type { FetchStep } from './steps.ts';

export type FetchMode = 'fetch' | 'bgfetch' | 'pass';

/** `testgunzip` only checks that a gzipped body is whole. */
export type BodyFilter = 'none' | 'testgunzip' | 'gunzip' | 'gzip';

/** Ended fetches kept for the next ones, at most. */
const MAX_SPARE = 64;
const NO_PROGRAM = null as unknown as VclProgram;
const NO_REF = null as unknown as ProgramRef;

export class BusyObj implements VclBusyobj {
  readonly core: Core;
  readonly bereq = new HttpMessage(Tag.BereqMethod);
  readonly beresp = new HttpMessage(Tag.BerespMethod);
  /** The request's head as first made, for retries and rollback. */
  readonly bereq0 = new HttpMessage(Tag.BereqMethod);
  /** The response's head as it goes into the store. */
  readonly stored = new HttpMessage(Tag.ObjMethod);
  readonly log: TxLog;
  readonly ctx: VclContext;
  readonly exchange = new Exchange(this);
  /** Goes on with a step after a wait. */
  readonly resume: (step: FetchStep) => void;
  mode: FetchMode = 'fetch';
  programRef = NO_REF;
  session: VclSession | null = null;
  /** What vcl_recv made of client.identity; null is the address. */
  clientIdentity: string | null = null;
  /** Start of the fetch, of its first try when there are several. */
  tStart = 0;
  isBgFetch = false;
  isHitMiss = false;
  isHitPass = false;
  vxid = 0;
  reqVxid = 0;
  /** The lookup key of the request, for what is chosen by its hash. */
  hashKey = '';
  /** The object being filled; this fetch holds a reference. */
  oc: Oc = 0;
  /** A stale object that a 304 may bring back to life; this fetch holds a reference. */
  staleOc: Oc = 0;
  retries = 0;
  was304 = false;
  /** The stale object stands in for an error of the origin. */
  standsIn = false;
  /** Bytes of the stale object's body that have been copied, and why no more can be. */
  copied = 0;
  copyFailure: FetchFailure | null = null;
  uncacheable = false;
  backend: Director | null = null;
  respBackend: Director | null = null;
  respEnds: ConnectionEnds | null = null;
  connectTimeout = -1;
  firstByteTimeout = -1;
  betweenBytesTimeout = -1;
  ttl = -1;
  grace = 0;
  keep = 0;
  tOrigin = 0;
  doEsi = false;
  doGzip = false;
  doGunzip = false;
  doStream = true;
  /** Name of the storage the object is to go to. */
  storage = 'Transient';
  filters: string | null = null;
  hasBody = false;
  /** The program made a pass of it: later requests under this key pass too. */
  hitForPass = false;
  /** An error that only those who wait for it shall share. */
  forWaiters = false;
  /** What happens to the body on its way into the store. */
  filter: BodyFilter = 'none';
  /** Name of the storage the object went to. */
  storedIn = '';
  synthBody: string | null = null;
  /** The client's body to send along, or null; `bodySent` once any of it may have reached an origin. */
  body: BodySource | null = null;
  bodySent = false;
  /** Told once when the fetch has no more use for the client's body; null when nobody waits for that. */
  onBodyDone: (() => void) | null = null;
  /** Passes interim responses on to the client, or null. */
  onInterim: InterimTold | null = null;
  /** vcl_backend_response has taken the request back: its answer is not for keeping. */
  rolledBack = false;
  /** The Range of the request as it was first made; null where it asked for the whole. */
  askedRange: string | null = null;
  /** How the answer's body is framed. */
  framing: BodyFraming = NO_BODY;
  /** The body on its way into the store; null before it comes and where there is none. */
  pump: BodyPump | null = null;
  /** The fetch is over. */
  ended = false;
  headBytesOut = 0;
  bodyBytesOut = 0;
  headBytesIn = 0;
  bodyBytesIn = 0;

  /** @param run drives a fetch from a step on; given, since the steps know this class; a pipe has no steps. */
  constructor(core: Core, run: (bo: BusyObj, step: FetchStep) => void = () => {}) {
    this.core = core;
    this.log = core.newLog();
    this.ctx = new VclContext(core.host, NO_PROGRAM, this.log);
    this.ctx.bo = this;
    this.resume = (step) => run(this, step);
  }

  /** Begins a fetch into `oc`; nothing of a former one stays. */
  begin(req: Request, oc: Oc, staleOc: Oc, mode: FetchMode): void {
    const { core, ctx } = this;
    const { backendHint } = req;
    const programRef = req.programRef as ProgramRef;
    programRef.refs++;
    if (staleOc !== 0) core.cache.ref(staleOc);
    this.bereq.reset();
    this.beresp.reset();
    this.bereq0.reset();
    ctx.begin(programRef.program);
    this.mode = mode;
    this.programRef = programRef;
    this.session = req.session;
    this.clientIdentity = req.clientIdentity;
    this.tStart = core.clock.now();
    this.isBgFetch = mode === 'bgfetch';
    this.isHitMiss = req.isHitMiss;
    this.isHitPass = req.isHitPass;
    this.vxid = core.newVxid();
    this.reqVxid = req.vxid;
    this.hashKey = req.hashKey;
    this.oc = oc;
    this.staleOc = staleOc;
    this.retries = 0;
    this.was304 = false;
    this.standsIn = false;
    this.copied = 0;
    this.copyFailure = null;
    this.uncacheable = mode === 'pass';
    this.backend = backendHint === undefined ? programRef.program.defaultDirector : backendHint;
    this.respBackend = null;
    this.respEnds = null;
    this.connectTimeout = -1;
    this.firstByteTimeout = -1;
    this.betweenBytesTimeout = -1;
    this.ttl = -1;
    this.grace = 0;
    this.keep = 0;
    this.tOrigin = 0;
    this.doEsi = false;
    this.doGzip = false;
    this.doGunzip = false;
    this.doStream = true;
    this.storage = 'Transient';
    this.filters = null;
    this.hasBody = false;
    this.hitForPass = false;
    this.forWaiters = false;
    this.filter = 'none';
    this.storedIn = '';
    this.synthBody = null;
    this.body = req.cachedBody === null ? req.body : new CachedBody(req.cachedBody);
    this.bodySent = false;
    this.onBodyDone = null;
    this.onInterim = null;
    this.rolledBack = false;
    this.askedRange = null;
    this.framing = NO_BODY;
    this.pump = null;
    this.ended = false;
    this.headBytesOut = 0;
    this.bodyBytesOut = 0;
    this.headBytesIn = 0;
    this.bodyBytesIn = 0;
  }

  /** Keeps what has ended in order for another fetch, and lets go of what it knew. */
  recycle(): void {
    const { spareFetches } = this.core;
    if (spareFetches.length >= MAX_SPARE) return;
    this.programRef = NO_REF;
    this.ctx.begin(NO_PROGRAM);
    this.session = null;
    this.backend = null;
    this.respBackend = null;
    this.body = null;
    this.onInterim = null;
    this.pump = null;
    this.beresp.raw = null;
    this.stored.raw = null;
    spareFetches.push(this);
  }

  get age(): number {
    return Math.max(0, this.ctx.now - this.tOrigin);
  }

  /** A body that the program had cached goes with a GET that is passed, as in Varnish: nothing of it is kept here. */
  unsetBody(): void {
    if (this.body === null) return;
    if (this.uncacheable && this.body instanceof CachedBody && this.bereq.method === 'GET') return;
    this.bereq.unset('content-length');
    this.bereq.unset('transfer-encoding');
    this.body = null;
  }

  rollback(): void {
    this.bereq.copyFrom(this.bereq0);
    if (this.ctx.state !== State.backend_response) return;
    // For a retry: there is nothing left to deliver.
    this.rolledBack = true;
    this.exchange.giveUp();
  }

  /** The client's body has been sent, or will not be. */
  bodyDone(): void {
    const told = this.onBodyDone;
    this.onBodyDone = null;
    told?.();
  }

  /** Ends the transaction's log and lets go of what the fetch held. */
  end(): void {
    const { log, core } = this;
    // What an extension does at the end of a task, it may say in the task's log.
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
    log.put(Tag.End, '');
    if (this.isBgFetch) core.bgFetches--;
    this.dropStale();
    this.programRef.refs--;
    core.cache.takeBackHead(this.oc);
    core.cache.deref(this.oc);
    this.bodyDone();
  }

  dropStale(): void {
    if (this.staleOc !== 0) this.core.cache.deref(this.staleOc);
    this.staleOc = 0;
  }
}
