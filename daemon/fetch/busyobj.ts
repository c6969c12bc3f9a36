// One fetch in progress: the request to the origin, its response, and what the program decides about both.
// It belongs to no client: a client that leaves does not end it (unless the object is private to that client).

import { Tag } from '../../protocol/tables/tags.ts';
import type { ConnectionEnds } from '../backend/address.ts';
import type { Oc } from '../cache/cache.ts';
import { endPrivs } from '../extensions/priv.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import { CachedBody } from '../net/cached-body.ts';
import type { BodySource } from '../net/request-body.ts';
import type { Core, ProgramRef } from '../request/core.ts';
import type { Request } from '../request/request.ts';
import { type Director, type VclBusyobj, VclContext, type VclSession } from '../vcl/context.ts';
import { State } from '../vcl/program.ts';
import type { BodyPump } from './body.ts';
import { Exchange } from './exchange.ts';
import type { FetchStep } from './steps.ts';

export type FetchMode = 'fetch' | 'bgfetch' | 'pass';

/** `testgunzip` only checks that a gzipped body is whole. */
export type BodyFilter = 'none' | 'testgunzip' | 'gunzip' | 'gzip';

export class BusyObj implements VclBusyobj {
  readonly core: Core;
  readonly mode: FetchMode;
  readonly bereq = new HttpMessage(Tag.BereqMethod);
  readonly beresp = new HttpMessage(Tag.BerespMethod);
  readonly log: TxLog;
  readonly ctx: VclContext;
  readonly programRef: ProgramRef;
  readonly session: VclSession | null;
  readonly isBgFetch: boolean;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  vxid: number;
  readonly reqVxid: number;
  /** The lookup key of the request, for what is chosen by its hash. */
  readonly hashKey: string;
  /** The object being filled; this fetch holds a reference. */
  readonly oc: Oc;
  /** A stale object that a 304 may bring back to life; this fetch holds a reference. */
  staleOc: Oc;
  retries = 0;
  was304 = false;
  uncacheable: boolean;
  backend: Director | null;
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
  body: BodySource | null;
  bodySent = false;
  /** Passes interim responses on to the client, or null. */
  onInterim: ((head: HttpMessage) => void) | null = null;
  /** vcl_backend_response has taken the request back: its answer is not for keeping. */
  rolledBack = false;
  /** The request's head as first made, for retries and rollback. */
  readonly bereq0 = new HttpMessage(Tag.BereqMethod);
  readonly exchange = new Exchange(this);
  /** How the answer's body is framed. */
  framing: BodyFraming = NO_BODY;
  /** The body on its way into the store; null before it comes and where there is none. */
  pump: BodyPump | null = null;
  /** The fetch is over. */
  ended = false;
  /** Goes on with a step after a wait. */
  readonly resume: (step: FetchStep) => void;
  headBytesOut = 0;
  bodyBytesOut = 0;
  headBytesIn = 0;
  bodyBytesIn = 0;

  /** @param run drives a fetch from a step on; given, since the steps know this class; a pipe has no steps. */
  constructor(
    req: Request,
    oc: Oc,
    staleOc: Oc,
    mode: FetchMode,
    run: (bo: BusyObj, step: FetchStep) => void = () => {},
  ) {
    this.resume = (step) => run(this, step);
    const { core } = req;
    this.core = core;
    this.mode = mode;
    this.vxid = core.newVxid();
    this.reqVxid = req.vxid;
    this.hashKey = req.hashKey;
    this.log = core.newLog();
    this.programRef = req.programRef as ProgramRef;
    this.programRef.refs++;
    this.session = req.session;
    this.isBgFetch = mode === 'bgfetch';
    this.isHitMiss = req.isHitMiss;
    this.isHitPass = req.isHitPass;
    this.oc = oc;
    this.staleOc = staleOc;
    if (staleOc !== 0) core.cache.ref(staleOc);
    this.uncacheable = mode === 'pass';
    const { backendHint } = req;
    this.backend = backendHint === undefined ? this.programRef.program.defaultDirector : backendHint;
    this.body =
      mode === 'bgfetch' ? null : req.cachedBody === null ? req.body : new CachedBody(req.cachedBody);
    this.ctx = new VclContext(core.host, this.programRef.program, this.log);
    this.ctx.bo = this;
  }

  get age(): number {
    return Math.max(0, this.ctx.now - this.tOrigin);
  }

  unsetBody(): void {
    if (this.body === null) return;
    this.bereq.unset('content-length');
    this.bereq.unset('transfer-encoding');
    this.body = null;
  }

  rollback(): void {
    this.bereq.copyFrom(this.bereq0);
    this.rolledBack = this.ctx.state === State.backend_response;
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
    this.dropStale();
    this.programRef.refs--;
    core.cache.deref(this.oc);
  }

  dropStale(): void {
    if (this.staleOc !== 0) this.core.cache.deref(this.staleOc);
    this.staleOc = 0;
  }
}
