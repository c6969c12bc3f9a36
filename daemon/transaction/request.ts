// One client request as the state machine and the config program see it, with its restarts. Each request of a
// connection is a new one, over the buffers that the connection keeps. The steps of request/ work on it; it has no
// control flow of its own beyond beginning, refusing, aborting and ending.
//
// Caution: the client may vanish while the request is parked. abort() only notes it and wakes the loop; every
// step that parks must check `aborted` when it resumes.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { OF_ESI, OF_GZIPPED, OF_UNSTREAMED } from '../cache/objcore.ts';
import type { SoftPurge } from '../cache/soft-purge.ts';
import { TRANSIENT } from '../cache/storage/stevedores.ts';
import {
  RequestSettings,
  VclContext,
  type VclObject,
  type VclProgram,
  type VclRequest,
} from '../contract/context.ts';
import { endPrivs, type PrivMap } from '../contract/priv.ts';
import type { Waiting } from '../contract/waiting.ts';
import type { DeliveryFacts } from '../filters/filter.ts';
import { usualDeliveryFilters } from '../filters/filter-table.ts';
import { own } from '../flow/piece.ts';
import { acceptsGzip } from '../http1/accept-encoding.ts';
import type { HeadResult } from '../http1/head-result.ts';
import type { Leniencies } from '../http1/leniency.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { HttpMessage } from '../http1/message.ts';
import { logRequestBody } from '../log/body-records.ts';
import { constantRecord, type TxLog } from '../log/tx-log.ts';
import { errorMessage } from '../system-error.ts';
import type { ClientSession } from './client-session.ts';
import type { Core, ProgramRef } from './core.ts';
import type { Step, Transaction } from './drive.ts';
import type { FragmentPlace } from './fragment-place.ts';
import { cacheBody, type KeptBody } from './kept-body.ts';
import { noteRefusal } from './note-refusal.ts';
import { purgeObjects } from './purge-objects.ts';
import { RequestAttempt } from './request-attempt.ts';
import { RequestBody } from './request-body.ts';
import type { ObjectView, RequestBuffers } from './request-buffers.ts';
import type { RequestFilters } from './request-filters.ts';

const HTTP_2 = constantRecord(Tag.ReqProtocol, 'HTTP/2.0');
const NO_STRANDS: readonly string[] = [];
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
const NO_PROGRAM = null as unknown as VclProgram;

/** Runs the requests of a session. */
export interface RequestMachine {
  start(req: Request): void;
  run(req: Request, step: Step<Request>): void;
}

export class Request implements VclRequest, Transaction, DeliveryFacts {
  readonly core: Core;
  readonly session: ClientSession;
  readonly http: HttpMessage;
  readonly resp: HttpMessage;
  readonly log: TxLog;
  readonly ctx: VclContext;
  /** The request for the page; itself where it is no fragment. */
  top: VclRequest;
  /** The place of a fragment in its page; null for what a client asks for. */
  fragment: FragmentPlace | null = null;
  readonly lookup: LookupResult;
  readonly query: LookupQuery;
  readonly objectView: ObjectView;
  /** From the beginning or one restart to the next. */
  attempt = new RequestAttempt();
  /** Set by the program; replaced when another program takes over. */
  settings = new RequestSettings();
  restarts = 0;
  esiLevel = 0;
  /** When the request came; restarts and waits do not move it. Epoch seconds. */
  tReq = 0;
  topPrivs: PrivMap | null = null;
  /** The whole body, once the program has had it cached. */
  cachedBody: KeptBody | null = null;
  late100Continue = false;
  /** The request as the client sent it, before the program changed it: for rollback. */
  http0: HttpMessage | null = null;
  isHead = false;
  isHttp10 = false;
  /** The client sent no Host. One that the program takes away is the backend's to replace. */
  hostless = false;
  programRef: ProgramRef | null = null;
  /** The program the request began with, once it continues in another; fragments begin in it too. */
  entryRef: ProgramRef | null = null;
  /** The program of return (vcl(label)), between the return and the switch. */
  nextProgram: ProgramRef | null = null;
  aborted = false;
  /** The transaction is over. */
  ended = false;
  /** Set while parked: called by abort(). */
  onAbort: (() => void) | null = null;
  body: RequestBody | null = null;
  /** req.filters; null where the body passes none. */
  filters: RequestFilters | null = null;
  headBytesIn = 0;
  /** 100 Continue, also from before a restart: accounted with the head of the response. */
  interimBytesOut = 0;
  /** Set by waits on the waiting list, so that a failed fetch does not make them queue up again. */
  wokenByFailure = false;
  /** The client waits for 100 Continue before it sends its body. */
  expectContinue = false;
  /** Ends without a response. */
  unanswered = false;
  /** The pipe replaces the ordinary end of the transaction. */
  pipe = false;
  private readonly buffers: RequestBuffers;
  private readonly run: (req: Request, step: Step<Request>) => void;

  /** @param run drives a request from a step on; given, since the steps know this class. */
  constructor(
    core: Core,
    session: ClientSession,
    buffers: RequestBuffers,
    run: (req: Request, step: Step<Request>) => void,
  ) {
    this.core = core;
    this.session = session;
    this.buffers = buffers;
    this.run = run;
    this.http = buffers.http;
    this.resp = buffers.resp;
    this.log = buffers.log;
    this.lookup = buffers.lookup;
    this.query = buffers.query;
    this.objectView = buffers.objectView;
    this.http.reset();
    this.resp.reset();
    this.ctx = new VclContext(core.host, NO_PROGRAM, this.log);
    this.ctx.req = this;
    this.top = this;
  }

  /** A request that the same machine runs, of the same client and within the same page. */
  derive(session: ClientSession, buffers: RequestBuffers): Request {
    const req = new Request(this.core, session, buffers, this.run);
    req.top = this.top;
    return req;
  }

  /** Goes on with a step after a wait. */
  resume(step: Step<Request>): void {
    this.attempt.fresh = false;
    this.run(this, step);
  }

  get obj(): VclObject | null {
    const { oc } = this.attempt;
    return oc === 0 ? null : this.objectView.show(oc, this.ctx.now);
  }

  /** By what the program has made of the request: a delivery asks again. */
  get canGzip(): boolean {
    return this.core.params.http_gzip_support !== 0 && acceptsGzip(this.http.getAll('accept-encoding'));
  }

  get isStoredGzip(): boolean {
    const { oc } = this.attempt;
    return oc !== 0 && this.core.cache.facts.has(oc, OF_GZIPPED);
  }

  get isPage(): boolean {
    const { oc, respDoEsi } = this.attempt;
    return oc !== 0 && respDoEsi && this.settings.esi && this.core.cache.facts.has(oc, OF_ESI);
  }

  /** Also of a body that came with its head: the fetch is not over while its own request is answered. */
  get respIsStreaming(): boolean {
    const { facts } = this.core.cache;
    const { oc, isHit } = this.attempt;
    if (oc === 0) return false;
    return !facts.isFinished(oc) || !(isHit || facts.has(oc, OF_UNSTREAMED));
  }

  /** Opens the transaction for a head that parsed; TRANSPORT continues. */
  begin(head: HeadResult, buf: LentBytes, now: number): void {
    if (this.http.n > 0 && !head.trimmed) this.http.lend(buf, head.lineStart[1] as number);
    this.open(head.headEnd - head.headStart, now);
  }

  /** The same for a head that has been decoded from `bytes` bytes. */
  open(bytes: number, now: number): void {
    const { core, session, log, attempt } = this;
    attempt.tStart = now;
    attempt.fresh = true;
    this.tReq = now;
    this.headBytesIn = bytes;
    this.isHttp10 = this.http.proto === 'HTTP/1.0';
    this.isHead = this.http.method === 'HEAD';
    const vxid = core.newVxid();
    attempt.vxid = vxid;
    log.begin(vxid, 'c');
    log.putConstant(session.beginRecord);
    log.timestamp('Start', session.tHead);
    if (session.stream !== null) log.putConstant(HTTP_2);
    log.timestamp('Req', now);
    session.log.open().text('req ').int(vxid).text(' rxreq').close(Tag.Link);
    this.http.log = log;
    this.resp.log = log;
  }

  /** The head was in an old form (feature lenient_lf); `bytes` of it came. */
  readLeniently(leniencies: Leniencies, bytes: number): void {
    this.headBytesIn = bytes;
    this.core.stats.client_req_lenient++;
    this.log.put(Tag.Notice, `Request read leniently: ${leniencies.text}`);
  }

  /** True when bytes after the head belong to this request. */
  get needsBytes(): boolean {
    const { http } = this;
    return http.has('content-length') || http.has('transfer-encoding');
  }

  attachBody(length: number): void {
    this.body = new RequestBody(this.session, length, this.session.stream !== null);
    this.session.body = this.body;
  }

  /** Tells a client that waits for it to send its body (RFC 9110 section 10.1.1). */
  askForBody(): void {
    if (!this.expectContinue) return;
    this.expectContinue = false;
    this.log.put(Tag.RespProtocol, this.session.stream === null ? 'HTTP/1.1' : 'HTTP/2.0');
    this.log.put(Tag.RespStatus, '100');
    this.log.put(Tag.RespReason, 'Continue');
    const { stream } = this.session;
    if (stream === null) {
      this.session.write(own(CONTINUE));
      this.interimBytesOut += CONTINUE.length;
      return;
    }
    const head = new HttpMessage(Tag.RespMethod);
    head.status = 100;
    this.interimBytesOut += stream.interim(head);
  }

  usualRespFilters(): string {
    return usualDeliveryFilters(this, this.core.params).text;
  }

  get bodyFilters(): string {
    return this.filters?.text ?? '';
  }

  setBodyFilters(text: string): boolean {
    const { body, programRef, log } = this;
    if (body === null || body.complete || body.started || this.cachedBody !== null || programRef === null)
      return false;
    this.filters = /\S/.test(text) ? { text, programRef, log } : null;
    return true;
  }

  cacheBody(limit: number): boolean | Waiting {
    return cacheBody(this, limit);
  }

  /** As in Varnish: a body has its place before the client is asked for it. */
  bodyBegins(): void {
    this.log.put(Tag.Storage, `malloc ${this.bodyStorage}`);
  }

  /** Name of the storage that the body goes to. */
  get bodyStorage(): string {
    return this.settings.storage ?? TRANSIENT;
  }

  dropBody(): void {
    this.cachedBody?.release();
    this.cachedBody = null;
    this.body = null;
  }

  bodySettled(): void {
    const { body } = this;
    const fault = body?.fault ?? null;
    if (body !== null && body.error.code !== '') this.log.put(Tag.FetchError, errorMessage(body.error));
    if (fault !== null) this.log.put(Tag.FetchError, fault);
    const broken = body?.broken ?? null;
    if (broken !== null) noteRefusal(this.log, this.core.stats, 'request body', broken.name, broken.place);
    if (body !== null && this.log.wants(Tag.VfpAcct)) logRequestBody(this.log, body);
    this.log.timestamp('ReqBody', this.core.clock.now());
  }

  purge(soft: SoftPurge | null, alone: boolean): number {
    return purgeObjects(this, soft, alone);
  }

  purgeOthers(): void {
    this.attempt.replacesOthers = true;
  }

  hashData(text: string, more: readonly string[] = NO_STRANDS): void {
    const { attempt } = this;
    attempt.hashKey = `${attempt.hashKey}${text}${more.length === 0 ? '' : more.join('')}\0`;
    if (text !== '\0') this.log.put(Tag.Hash, text);
    for (const strand of more) if (strand !== '\0') this.log.put(Tag.Hash, strand);
  }

  /** Keeps the head as it is now. */
  keepOriginal(): void {
    this.http0 = this.buffers.original;
    this.http0.copyFrom(this.http);
  }

  rollback(): void {
    if (this.http0 === null) return;
    this.http.copyFrom(this.http0);
  }

  /** The time for what follows the head in the same turn; a request that has waited asks the clock again. */
  turnTime(): number {
    return this.attempt.fresh ? this.attempt.tStart : this.core.clock.now();
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
    this.settings = new RequestSettings();
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

  held(): string[] {
    const { oc, busyOc, staleOc } = this.attempt;
    const held = {
      ...{ object: oc, 'busy object': busyOc, 'stale object': staleOc },
      ...{ program: this.programRef, 'kept body': this.cachedBody },
    };
    return Object.entries(held).flatMap(([name, value]) => (value === 0 || value === null ? [] : [name]));
  }

  dropObject(): void {
    const { oc } = this.attempt;
    this.attempt.oc = 0;
    this.attempt.releaseSlice();
    if (oc !== 0) this.core.cache.references.deref(oc);
  }
}
