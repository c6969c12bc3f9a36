// One client request as the state machine and the config program see it. A session owns one and reuses it, so
// a hit allocates little. The steps in this folder work on it; it has no control flow of its own beyond
// beginning, refusing, aborting and ending.
//
// Awkward: the client may vanish while the request is parked. abort() only notes it and wakes the loop; every
// step that parks must look at `aborted` when it goes on.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Oc, SoftPurge } from '../cache/cache.ts';
import { LookupQuery, LookupResult } from '../cache/cache.ts';
import type { Director, VclObject, VclRequest } from '../contract/context.ts';
import { VclContext } from '../contract/context.ts';
import { endPrivs, type PrivMap } from '../contract/priv.ts';
import type { VclProgram } from '../contract/program.ts';
import type { Waiting } from '../contract/waiting.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import type { HeadResult } from '../http1/head-parser.ts';
import type { Leniencies } from '../http1/leniency.ts';
import { HttpMessage } from '../http1/message.ts';
import { logRequestBody } from '../log/filter-records.ts';
import type { TxLog } from '../log/tx-log.ts';
import { cacheBody } from './cache-body.ts';
import type { ClientSession } from './client-session.ts';
import type { Core, ProgramRef } from './core.ts';
import { usualDeliveryFilters } from './delivery-filters.ts';
import { ObjectView } from './object-view.ts';
import { purgeObjects } from './purge-objects.ts';
import { noteRefusal, refuseHead } from './refuse.ts';
import { RequestBody } from './request-body.ts';
import type { Step } from './steps.ts';

const NO_STRANDS: readonly string[] = [];
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
const NO_PROGRAM = null as unknown as VclProgram;

export class Request implements VclRequest {
  readonly core: Core;
  readonly session: ClientSession;
  readonly http = new HttpMessage(Tag.ReqMethod);
  readonly resp = new HttpMessage(Tag.RespMethod);
  readonly log: TxLog;
  readonly ctx: VclContext;
  readonly top: VclRequest;
  readonly lookup = new LookupResult();
  readonly query: LookupQuery;
  /** Set by the loop: goes on with a step after a wait. */
  readonly resume: (step: Step) => void;
  readonly objectView: ObjectView;
  vxid = 0;
  /** The request this one is a restart of, or 0; and the id of the top request for Begin records. */
  parentVxid = 0;
  restarts = 0;
  esiLevel = 0;
  tStart = 0;
  /** When the request came; restarts and waits do not move it. */
  tReq = 0;
  esi = true;
  hashAlwaysMiss = false;
  hashIgnoreBusy = false;
  hashIgnoreVary = false;
  ttl = -1;
  grace = -1;
  backendHint: Director | null | undefined = undefined;
  clientIdentity: string | null = null;
  storage: string | null = null;
  hashKey = '';
  topPrivs: PrivMap | null = null;
  respDoEsi = true;
  respFilters: string | null = null;
  synthBody: string | null = null;
  /** The whole body, once the program has had it cached. */
  cachedBody: Buffer | null = null;
  /** What vcl_recv returned after it had to wait. */
  recvCode = 0;
  late100Continue = false;
  isHitMiss = false;
  isHitPass = false;
  /** What the client asked, before the program changed it: rollback and HEAD handling need it. */
  http0: HttpMessage | null = null;
  private kept: HttpMessage | null = null;
  isHead = false;
  isHttp10 = false;
  /** The client sent no Host. One that the program takes away is the backend's to replace. */
  hostless = false;
  programRef: ProgramRef | null = null;
  /** The program the request began with, once it goes on in another; fragments begin in it too. */
  entryRef: ProgramRef | null = null;
  /** Where return (vcl(label)) goes on, between the return and the switch. */
  nextProgram: ProgramRef | null = null;
  /** The object being delivered and the busy object this request fetches into; 0 is none. */
  oc: Oc = 0;
  busyOc: Oc = 0;
  staleOc: Oc = 0;
  /** True when the object came from cache. */
  isHit = false;
  /** That object is stale. */
  isGrace = false;
  isPass = false;
  /** The object's transaction id, which the header of ids names on a hit. */
  hitVxid = 0;
  synthStatus = 0;
  synthReason = '';
  aborted = false;
  /** No wait and no restart has come between the head and now. */
  fresh = false;
  /** How it waits for what it fetches; null until it has had to. */
  fetchWait: { begin(): void } | null = null;
  /** Set while parked: called by abort(). */
  onAbort: (() => void) | null = null;
  body: RequestBody | null = null;
  headBytesIn = 0;
  headBytesOut = 0;
  /** 100 Continue, also from before a restart: accounted with the head of the response. */
  interimBytesOut = 0;
  bodyBytesOut = 0;
  /** Pieces in which the body was written, when there was more than one. */
  bodyWrites = 1;
  /** The hit is counted already. */
  counted = false;
  /** The lookup has waited for somebody else's fetch. */
  waited = false;
  /** Set by waits on the waiting list, so that a failed fetch does not make them queue up again. */
  wokenByFailure = false;
  /** The client waits for 100 Continue before it sends its body. */
  expectContinue = false;
  /** Ends without a response. */
  unanswered = false;
  /** The pipe replaces the ordinary end of the transaction. */
  pipe = false;

  constructor(core: Core, session: ClientSession, run: (req: Request, step: Step) => void) {
    this.core = core;
    this.session = session;
    this.log = core.newLog();
    this.ctx = new VclContext(core.host, NO_PROGRAM, this.log);
    this.ctx.req = this;
    this.top = this;
    this.query = new LookupQuery(this.http);
    this.query.onBanned = (vxid) => this.log.put(Tag.ExpBan, `${vxid} banned lookup`);
    this.resume = (step) => {
      this.fresh = false;
      run(this, step);
    };
    this.objectView = new ObjectView(core);
  }

  get obj(): VclObject | null {
    return this.oc === 0 ? null : this.objectView.show(this.oc, this.ctx.now);
  }

  /** By what the program has made of the request: a delivery asks again. */
  get canGzip(): boolean {
    return this.core.params.http_gzip_support !== 0 && acceptsGzip(this.http.getAll('accept-encoding'));
  }

  /** Also of a body that came with its head: the fetch is not over while its own request is answered. */
  get respIsStreaming(): boolean {
    const { oc, core } = this;
    if (oc === 0) return false;
    return !core.cache.isFinished(oc) || !(this.isHit || core.cache.isUnstreamed(oc));
  }

  /** Forgets the former request. */
  reset(): void {
    this.http.reset();
    this.resp.reset();
    this.vxid = 0;
    this.parentVxid = 0;
    this.restarts = 0;
    this.esiLevel = 0;
    this.resetForRestart();
    this.backendHint = undefined;
    this.clientIdentity = null;
    this.esi = true;
    this.hashAlwaysMiss = false;
    this.hashIgnoreBusy = false;
    this.hashIgnoreVary = false;
    this.ttl = -1;
    this.grace = -1;
    this.storage = null;
    this.http0 = null;
    this.programRef = null;
    this.entryRef = null;
    this.nextProgram = null;
    this.aborted = false;
    this.onAbort = null;
    this.body = null;
    this.headBytesIn = 0;
    this.interimBytesOut = 0;
    this.wokenByFailure = false;
    this.pipe = false;
    this.unanswered = false;
    this.expectContinue = false;
    this.cachedBody = null;
    this.late100Continue = false;
    this.ctx.roomTaken = 0;
    this.ctx.overflowed = false;
  }

  /** What a restart does not keep; what the program has set in req.* and client.* it does. */
  resetForRestart(): void {
    this.hashKey = '';
    this.respDoEsi = true;
    this.respFilters = null;
    this.synthBody = null;
    this.isHitMiss = false;
    this.isHitPass = false;
    this.oc = 0;
    this.busyOc = 0;
    this.staleOc = 0;
    this.isHit = false;
    this.isGrace = false;
    this.counted = false;
    this.waited = false;
    this.isPass = false;
    this.hitVxid = 0;
    this.synthStatus = 0;
    this.synthReason = '';
    this.headBytesOut = 0;
    this.bodyBytesOut = 0;
    this.bodyWrites = 1;
  }

  /** Opens the transaction for a head that parsed; TRANSPORT goes on from here. */
  begin(head: HeadResult, buf: Buffer, now: number): void {
    if (this.http.n > 0 && !head.trimmed) this.http.lend(buf, head.lineStart[1] as number);
    const { core, session, log } = this;
    this.tStart = now;
    this.tReq = now;
    this.headBytesIn = head.headEnd - head.headStart;
    this.isHttp10 = this.http.proto === 'HTTP/1.0';
    this.isHead = this.http.method === 'HEAD';
    this.vxid = core.newVxid();
    log.begin(this.vxid, 'c');
    this.fresh = true;
    log.putConstant(session.beginRecord);
    log.timestamp('Start', session.tHead);
    log.timestamp('Req', now);
    session.log.open().text('req ').int(this.vxid).text(' rxreq').close(Tag.Link);
    this.http.log = log;
    this.resp.log = log;
  }

  /** The head was in an old form (feature lenient_lf); `bytes` of it came. */
  readLeniently(leniencies: Leniencies, bytes: number): void {
    this.headBytesIn = bytes;
    this.core.stats.client_req_lenient++;
    this.log.put(Tag.Notice, `Request read leniently: ${leniencies.text}`);
  }

  /** Answers a head that broke a rule, and closes. */
  refuse(head: HeadResult, buf: Buffer, start: number, end: number, now: number): void {
    this.tStart = now;
    refuseHead(this, head, buf, start, end);
  }

  /** True when bytes after the head belong to this request. */
  get needsBytes(): boolean {
    const { http } = this;
    return http.has('content-length') || http.has('transfer-encoding');
  }

  attachBody(length: number): void {
    this.body = new RequestBody(this.session, length);
    this.session.body = this.body;
  }

  /** Tells a client that waits for it to send its body (RFC 9110 section 10.1.1). */
  askForBody(): void {
    if (!this.expectContinue) return;
    this.expectContinue = false;
    this.log.put(Tag.RespProtocol, 'HTTP/1.1');
    this.log.put(Tag.RespStatus, '100');
    this.log.put(Tag.RespReason, 'Continue');
    this.session.write(CONTINUE);
    this.interimBytesOut += CONTINUE.length;
  }

  usualRespFilters(): string {
    return usualDeliveryFilters(this);
  }

  cacheBody(limit: number): boolean | Waiting {
    return cacheBody(this, limit);
  }

  bodySettled(): void {
    this.log.put(Tag.Storage, 'malloc Transient');
    const { body } = this;
    const fault = body?.fault ?? null;
    if (fault !== null) this.log.put(Tag.FetchError, fault);
    const broken = body?.broken ?? null;
    if (broken !== null) noteRefusal(this.log, this.core.stats, 'request body', broken.name, broken.place);
    if (body !== null && this.log.wants(Tag.VfpAcct)) logRequestBody(this.log, body);
    this.log.timestamp('ReqBody', this.core.clock.now());
  }

  purge(soft: SoftPurge | null, alone: boolean): number {
    return purgeObjects(this, soft, alone);
  }

  hashData(text: string, more: readonly string[] = NO_STRANDS): void {
    this.hashKey = `${this.hashKey}${text}${more.length === 0 ? '' : more.join('')}\0`;
    if (text !== '\0') this.log.put(Tag.Hash, text);
    for (const strand of more) if (strand !== '\0') this.log.put(Tag.Hash, strand);
  }

  /** Keeps the head as it is now; the message that holds it serves all requests of this session. */
  keepOriginal(): void {
    this.kept ??= new HttpMessage(this.http.base);
    this.http0 = this.kept;
    this.http0.copyFrom(this.http);
  }

  rollback(): void {
    if (this.http0 === null) return;
    this.http.copyFrom(this.http0);
  }

  /** The time for what follows the head in the same turn; a request that has waited asks the clock again. */
  turnTime(): number {
    return this.fresh ? this.tStart : this.core.clock.now();
  }

  takeProgram(ref: ProgramRef): void {
    this.releaseProgram();
    ref.refs++;
    this.programRef = ref;
    this.ctx.vcl = ref.program;
  }

  /** The program of new requests as far as this one and its fragments are concerned. */
  get firstProgram(): ProgramRef | null {
    return this.entryRef ?? this.programRef;
  }

  /** return (vcl(label)): once, and only ahead of any restart; otherwise the request fails a little later. */
  selectProgram(label: string): void {
    const to = this.programRef?.labels.get(label)?.target;
    if (to === undefined || this.restarts > 0 || this.entryRef !== null) return;
    this.nextProgram = to;
    this.log.put(Tag.VCL_use, `${to.name} via ${label}`);
  }

  /** Goes on in the selected program with the request as it came; the former stays referenced until the end. */
  switchProgram(to: ProgramRef): void {
    this.rollback();
    if (this.ctx.priv !== null) endPrivs(this.ctx.priv);
    this.nextProgram = null;
    this.entryRef = this.programRef;
    to.refs++;
    this.programRef = to;
    this.ctx.vcl = to.program;
    this.backendHint = undefined;
    this.clientIdentity = null;
    this.ttl = -1;
    this.grace = -1;
    this.esi = true;
    this.hashAlwaysMiss = false;
    this.hashIgnoreBusy = false;
    this.hashIgnoreVary = false;
    this.storage = null;
  }

  releaseProgram(): void {
    if (this.entryRef !== null) this.entryRef.refs--;
    this.entryRef = null;
    if (this.ctx.priv !== null) endPrivs(this.ctx.priv);
    if (this.topPrivs !== null) endPrivs(this.topPrivs);
    if (this.programRef !== null) this.programRef.refs--;
    this.programRef = null;
  }

  /** Ends with this reason after the response; the first reason stays. */
  closeAfter(reason: CloseReason): void {
    this.session.closeAfter ??= reason;
  }

  /** The client is gone. */
  abort(): void {
    this.aborted = true;
    const wake = this.onAbort;
    this.onAbort = null;
    wake?.();
  }

  dropObject(): void {
    if (this.oc !== 0) this.core.cache.deref(this.oc);
    this.oc = 0;
  }
}
