// return (pipe): the request goes to the origin as it is, and from then on bytes pass both ways unread, until both sides
// have ended, nothing moved for pipe_timeout, or bereq.task_deadline is over. A side's end is passed on alone, so a
// half-closed exchange still finishes.

import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { Deadline } from '../backend/deadline.ts';
import { OriginFailure } from '../backend/origin-failure.ts';
import { CUT } from '../backend/tls-failures.ts';
import { type ReturnCode, State } from '../contract/program.ts';
import { BusyObj } from '../fetch/busyobj.ts';
import { closeText } from '../fetch/close-text.ts';
import { addHost, chosen, pendingChoice, resolve } from '../fetch/exchange-steps.ts';
import { DISCARD, type Sink, type Writer } from '../flow/flow.ts';
import { type AnyPiece, buffersOf, copyOf, own } from '../flow/piece.ts';
import { headSize, writeRequestHead } from '../http1/head-writer.ts';
import { copyOnward, HOP_PIPE } from '../http1/hop-by-hop.ts';
import { isRequestLine } from '../http1/start-line.ts';
import type { ClientSession } from '../transaction/client-session.ts';
import type { Core } from '../transaction/core.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { noteRefusal } from '../transaction/note-refusal.ts';
import type { Request } from '../transaction/request.ts';
import { FAIL, FINISH, inClientState, SYNTH } from './request-steps.ts';

export function pipe(req: Request): Step<Request> {
  const { core, log, ctx } = req;
  if (req.http.method === 'CONNECT') {
    // The one method that would make a tunnel to wherever the client likes (SAFETY rule 10).
    noteRefusal(log, core.stats, 'request', 'connect', '');
    req.attempt.synthStatus = 405;
    req.attempt.synthReason = 'Method Not Allowed';
    req.closeAfter('RX_BAD');
    return SYNTH;
  }
  core.stats.s_pipe++;
  const bo = new BusyObj(req, 0, 0, 'pass');
  bo.log.begin(bo.attempt.vxid, 'b');
  bo.log.put(Tag.Begin, `bereq ${req.attempt.vxid} pipe`);
  log.put(Tag.Link, `bereq ${bo.attempt.vxid} pipe`);
  makePipeBereq(bo, req);
  ctx.now = core.clock.now();
  ctx.bo = bo;
  return inClientState(req, State.pipe, (_req, ret) => afterPipe(req, bo, ret));
}

function afterPipe(req: Request, bo: BusyObj, ret: ReturnCode): Step<Request> {
  const { core, log, ctx } = req;
  ctx.bo = null;
  // Directors resolve in the bereq's context and want what vcl_pipe has set.
  bo.ctx.priv = ctx.priv;
  bo.ctx.now = ctx.now;
  if (ret !== RETURN.pipe) {
    endBereq(bo);
    if (ret !== RETURN.synth) return FAIL;
    req.attempt.synthStatus = ctx.synthStatus;
    req.attempt.synthReason = ctx.synthReason;
    return SYNTH;
  }
  log.timestamp('Process', core.clock.now());
  bo.log.timestamp('Process', core.clock.now());
  if (!core.pipes.take(core.params.pipe_sess_max)) {
    core.stats.pipe_limited++;
    endBereq(bo);
    req.attempt.synthStatus = 503;
    req.attempt.synthReason = 'VCL failed';
    req.closeAfter('VCL_FAILURE');
    return SYNTH;
  }
  connectAndRun(req, bo).catch((error: Error) => broken(req, error));
  return PARKED;
}

function makePipeBereq(bo: BusyObj, req: Request): void {
  const { bereq, log } = bo;
  const { http } = req;
  const { idHeader } = req.core;
  log.timestamp('Start', bo.tStart);
  copyOnward(http, bereq, HOP_PIPE);
  bereq.method = http.method;
  bereq.url = http.url;
  bereq.proto = http.proto === 'HTTP/1.0' ? 'HTTP/1.0' : 'HTTP/1.1';
  bereq.push(idHeader.key, `${idHeader.start}${req.attempt.vxid}`);
  log.put(Tag.BereqMethod, bereq.method);
  log.put(Tag.BereqURL, bereq.url);
  log.put(Tag.BereqProtocol, bereq.proto);
  // The origin must not take what follows for another request (SAFETY rule 10). The log has the client's word first.
  const asked = bereq.getAll('connection');
  if (asked === null) bereq.push('connection', 'Connection: close');
  bereq.logFields(log);
  bereq.log = log;
  if (asked === null || asked === 'close') return;
  bereq.unset('connection');
  bereq.add('Connection', 'close', 'connection');
}

/** The backend, once its director knows; null for none, which is logged. */
async function backendFor(bo: BusyObj): Promise<ReturnType<typeof resolve>> {
  const backend = chosen(bo);
  if (backend !== null) return backend;
  await pendingChoice(bo);
  return resolve(bo);
}

/** @param fresh not on a kept connection */
async function connectAndRun(req: Request, bo: BusyObj, fresh = false): Promise<void> {
  const { core, session, log } = req;
  const backend = await backendFor(bo);
  if (backend === null) {
    // As Varnish: without a backend the connection closes without an answer.
    bo.log.put(Tag.VCL_Error, 'Backend does not support pipe');
    endPipe(core, bo);
    req.unanswered = true;
    session.cut('TX_ERROR');
    req.resume(FINISH);
    return;
  }
  // HTTP/1.0 knows no Host.
  if (bo.bereq.proto !== 'HTTP/1.0') addHost(bo, backend);
  const conn = isRequestLine(bo.bereq.method, bo.bereq.url)
    ? await backend.acquire({
        connectTimeout: bo.connectTimeout,
        now: core.clock.now(),
        fresh,
        client: session,
      })
    : new OriginFailure('request-body', '', 'Illegal request line');
  const refused = conn instanceof OriginFailure;
  if (refused && conn.reason === 'tls') bo.log.put(Tag.BackendSSL, conn.text.slice('backend '.length));
  if (refused) bo.log.put(Tag.FetchError, conn.text);
  if (refused || !session.isOpen) {
    if (!refused) conn.destroy();
    endPipe(core, bo);
    // Where the client has left it is a pipe only if it was one already, to the connection that is replaced.
    if (session.isOpen || req.pipe) {
      log.put(Tag.PipeAcct, `${req.headBytesIn} 0 0 0`);
      core.stats.s_pipe_hdrbytes += req.headBytesIn;
      req.pipe = true;
    }
    // As Varnish: the client's protocol is unknown, so there is no answer in HTTP.
    if (session.isOpen) session.cut('TX_ERROR');
    req.resume(FINISH);
    return;
  }
  bo.log.timestamp('Connected', core.clock.now());
  bo.log.put(Tag.BackendOpen, conn.ends.openText(backend.vclName, conn.reused));
  if (conn.tls !== null && !conn.reused) bo.log.put(Tag.BackendSSL, conn.tls.recordText(backend.vclName));
  bo.log.put(Tag.BackendStart, conn.ends.startText);
  const lead = backend.requestLead(session);
  if (lead !== null) {
    conn.socket.write(lead);
    bo.headBytesOut = lead.length;
    backend.counters.bereq_hdrbytes += lead.length;
  }
  const head = Buffer.allocUnsafe(headSize(bo.bereq));
  const length = writeRequestHead(head, 0, bo.bereq);
  bo.log.timestamp('Bereq', core.clock.now());
  log.timestamp('Pipe', core.clock.now());
  req.pipe = true;
  core.stats.n_pipe++;
  const { changes } = bo.ctx.vcl;
  const left =
    bo.taskDeadline > 0 ? bo.tStart + bo.taskDeadline - core.clock.now() : Number.POSITIVE_INFINITY;
  const limits = { idle: core.params.pipe_timeout, left: Math.max(0, left) };
  const run = new Pipe(session, conn, limits, (bytes, untouched, end) => {
    core.stats.n_pipe--;
    const reason = end === 'deadline' || (end === 'idle' && changes.pipeTimeouts) ? 'RX_TIMEOUT' : 'TX_PIPE';
    bo.log.put(Tag.BackendClose, `${conn.ends.fd} ${backend.vclName} close ${closeText(reason, changes)}`);
    if (untouched && conn.reused && session.isOpen && mayRepeat(req)) {
      // It had closed while it was idle: retried like any request that is safe to repeat (SAFETY rule 14).
      session.interruptPipe();
      connectAndRun(req, bo, true).catch((error: Error) => broken(req, error));
      return;
    }
    log.timestamp('PipeSess', core.clock.now());
    log.put(Tag.PipeAcct, `${req.headBytesIn} ${length} ${bytes.fromClient} ${bytes.toClient}`);
    const { stats } = core;
    stats.s_pipe_hdrbytes += req.headBytesIn;
    stats.s_pipe_in += bytes.fromClient;
    stats.s_pipe_out += bytes.toClient;
    backend.counters.pipe_hdrbytes += length;
    backend.counters.pipe_out += bytes.fromClient;
    backend.counters.pipe_in += bytes.toClient;
    endPipe(core, bo);
    session.closeAfter = null;
    session.pipeEnded(reason);
    req.resume(FINISH);
  });
  // The client's body comes only after this.
  req.askForBody();
  const sent = head.subarray(0, length);
  run.start(req.cachedBody === null ? sent : Buffer.concat([sent, req.cachedBody.bytes()]));
}

function mayRepeat(req: Request): boolean {
  const { method } = req.http;
  return (method === 'GET' || method === 'HEAD') && req.body === null && req.cachedBody === null;
}

function broken(req: Request, error: Error): void {
  req.log.put(Tag.Error, `Internal error: ${error.stack ?? error.message}`);
  req.session.cut('TX_ERROR');
  req.resume(FINISH);
}

/** The place of a pipe is taken before there is a connection: many may be on the way to one. */
function endPipe(core: Core, bo: BusyObj): void {
  core.pipes.add(-1);
  endBereq(bo);
}

function endBereq(bo: BusyObj): void {
  bo.log.acct(Tag.BereqAcct, bo.headBytesOut, 0, bo.headBytesOut, 0, 0, 0);
  bo.log.end();
  bo.programRef.refs--;
}

/** Why a pipe is over: its ends, or one of its limits. */
type PipeEnd = 'closed' | 'idle' | 'deadline';

/** Seconds without any byte, and until the pipe is over in any case. */
interface PipeLimits {
  readonly idle: number;
  readonly left: number;
}

interface PipeBytes {
  fromClient: number;
  toClient: number;
}

/** The two directions of a pipe: the client's bytes into the origin's socket, and the other way. */
class Pipe {
  private readonly session: ClientSession;
  private readonly conn: OriginConnection;
  private readonly done: (bytes: PipeBytes, untouched: boolean, end: PipeEnd) => void;
  private readonly limits: PipeLimits;
  private readonly deadline = new Deadline(() => this.finish('deadline'));
  private readonly bytes: PipeBytes = { fromClient: 0, toClient: 0 };
  private client: Writer | null = null;
  private originDone = false;
  private over = false;

  /**
   * @param done gets the bytes that passed, whether the origin has left before any did, and the reason
   */
  constructor(
    session: ClientSession,
    conn: OriginConnection,
    limits: PipeLimits,
    done: (bytes: PipeBytes, untouched: boolean, end: PipeEnd) => void,
  ) {
    this.session = session;
    this.conn = conn;
    this.limits = limits;
    this.done = done;
  }

  start(head: Buffer): void {
    const origin = this.conn.socket;
    origin.setTimeout(this.limits.idle * 1000, () => this.finish('idle'));
    this.deadline.start(this.limits.left);
    origin.on('end', () => {
      // An end without close_notify counts as one without TLS: only the protocol inside could tell whether more was to come.
      const { endError } = this.conn;
      this.originEnded(endError !== CUT && endError.code !== '');
    });
    origin.on('drain', () => this.client?.room());
    origin.on('error', () => this.originEnded(true));
    origin.on('close', () => this.finish());
    origin.write(head);
    this.session.startPipe(this.toOrigin);
    const room = this.conn.handOver(this.toClient);
    if (room === null) this.originEnded(false);
    else if (room === 'more') origin.resume();
  }

  private readonly toOrigin: Sink = {
    ...DISCARD,
    connect: (writer) => {
      this.client = writer;
    },
    write: (piece) => {
      if (this.over || this.originDone) return 'more';
      this.bytes.fromClient += piece.length;
      return this.conn.socket.write(buffersOf(piece)[0] as Buffer) ? 'more' : 'wait';
    },
    end: () => {
      this.conn.socket.end();
      return 'more';
    },
    abort: () => this.finish(),
  };

  private readonly toClient: Sink<AnyPiece> = {
    ...DISCARD,
    write: (piece) => {
      this.bytes.toClient += piece.length;
      const room = this.session.write(own(copyOf(piece)));
      if (room === 'wait') this.session.onRoom(this.conn);
      return room;
    },
  };

  /** An origin whose request had `Connection: close` needs no further input once it has answered. */
  private originEnded(reset: boolean): void {
    this.originDone = true;
    this.finish('closed', reset);
  }

  /** @param broken the origin's answer did not come to its end, and the client shall see that */
  private finish(end: PipeEnd = 'closed', broken = false): void {
    if (this.over) return;
    this.over = true;
    this.deadline.stop();
    this.conn.destroy();
    const { fromClient, toClient } = this.bytes;
    const untouched = this.originDone && toClient === 0 && fromClient === 0;
    if (broken && !untouched) this.session.reset('TX_PIPE');
    this.done(this.bytes, untouched, end);
  }
}
