// The HTTP/1 requests of one client connection: reads heads, runs one request after another, feeds body bytes to the request's
// body, and what a client sends in a pipe to its sink. Pipelined requests wait in `rest` while one is running, while
// the client has not taken the last answer, and for a later turn once this one has served enough of them; the connection
// is paused when they grow. It never decides anything about a request beyond its framing.
//
// Caution: bytes arrive in a buffer shared by all sessions of the worker, so whatever is not used before
// receive() returns is copied. And a client may end its side before its requests are answered: what it sent
// before that still counts.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { Http2Limits } from '../contract/context.ts';
import type { Sink } from '../flow/flow.ts';
import { NOTHING, own } from '../flow/piece.ts';
import { HEAD_COMPLETE, HEAD_INCOMPLETE } from '../http1/head-result.ts';
import { keep, type LentBytes } from '../http1/lent-bytes.ts';
import type { ClientSession } from '../transaction/client-session.ts';
import type { Core } from '../transaction/core.ts';
import { refuseHead } from '../transaction/refuse.ts';
import { Request, type RequestMachine } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { keepBuffers, type RequestBuffers, takeBuffers } from '../transaction/request-buffers.ts';
import { ClientConnection } from './client-connection.ts';
import type { ClientWire } from './client-wire.ts';
import type { Endpoint } from './endpoint.ts';
import { RequestHeadReader } from './request-head.ts';

/** Bytes a client may send ahead of what is being worked on before its connection is paused. */
const READ_AHEAD = 64 * 1024;
/** Seconds that a client of a worker that ends has for a request that may be on its way: the first of a connection, or the rest
 * of one (chosen). */
export const NOTICE = 1;
/** Of the preface of HTTP/2. */
const CAPITAL_P = 0x50;
/** Close reasons by which the client has announced that the request was its last (RFC 9112 section 9.6). */
const LAST_REQUESTS: ReadonlySet<CloseReason> = new Set(['REQ_CLOSE', 'REQ_HTTP10']);

export abstract class Http1Input extends ClientConnection implements ClientSession {
  /** When the first byte of the head being received arrived, 0 when none did. */
  tHead = 0;
  body: RequestBody | null = null;
  readonly stream = null;
  readonly requests: RequestMachine;
  /** The request under way, or the last one; null once the client speaks HTTP/2. */
  protected req: Request | null;
  /** There was a request. */
  protected begun = false;
  /** The worker ends: the next request is the last. */
  protected leaves = false;
  /** The client has ended its side. */
  protected inputEnded = false;
  /** Of the requests; null once the client speaks HTTP/2. */
  private buffers: RequestBuffers | null;
  private readonly reader = new RequestHeadReader();
  private parsing = false;
  /** The packet of the request under way continues after it. */
  private sentMore = false;
  /** The former `rest`, which is being used now. */
  private own: Buffer | null = null;

  /** @param requests runs requests; given, since the steps know sessions. */
  constructor(core: Core, wire: ClientWire, endpoint: Endpoint, requests: RequestMachine) {
    super(core, wire, endpoint);
    this.requests = requests;
    this.buffers = takeBuffers(core);
    this.req = new Request(core, this, this.buffers, requests.run);
  }

  /** The client speaks HTTP/2 from here on. @param prefaced bytes of its preface that have been read */
  protected abstract startHttp2(prefaced: number): void;

  abstract get http2(): Http2Limits | null;

  get hasEnded(): boolean {
    return this.inputEnded;
  }

  /** Bytes of HTTP/2, of a PROXY preamble or of a TLS handshake; lent until this returns. */
  protected abstract receiveOther(buf: LentBytes, start: number, end: number): void;

  /** Bytes from the client, lent until this returns. */
  receive(buf: LentBytes, start: number, end: number): void {
    switch (this.phase) {
      case 'head':
        if (this.rest === null) this.parse(buf, start, end);
        else {
          this.keep(buf, start, end);
          this.parseRest();
        }
        break;
      case 'request':
      case 'ahead':
      case 'unsent':
        this.keep(buf, start, end);
        break;
      case 'body':
        if (this.rest !== null || this.body === null || !this.body.wantsData) this.keep(buf, start, end);
        else this.feedBody(buf, start, end);
        break;
      case 'pipe':
        this.intoPipe(keep(buf, start, end));
        break;
      default:
        this.receiveOther(buf, start, end);
        break;
    }
  }

  /** Gives the buffers to another connection, unless a request still uses them. */
  protected endHttp1(): void {
    this.reader.release();
    const { buffers } = this;
    if (buffers !== null && (!this.begun || this.req?.ended === true)) {
      this.buffers = null;
      keepBuffers(this.core, buffers);
    }
  }

  /** No request of HTTP/1 will follow. Returns the bytes that came after the last one. */
  protected leaveHttp1(): Buffer | null {
    this.reader.release();
    const { buffers } = this;
    this.buffers = null;
    this.req = null;
    if (buffers !== null) keepBuffers(this.core, buffers);
    const rest = this.takeRest();
    this.own = null;
    return rest;
  }

  /** The current request is over and its response has been handed to the connection. */
  requestDone(): void {
    const body = this.body;
    if (this.phase === 'closed') {
      this.finish(this.closeAfter ?? 'REM_CLOSE');
      return;
    }
    if (body !== null && !body.complete) this.closeAfter ??= 'RX_BODY';
    this.body = null;
    if (this.closeAfter !== null) {
      // Some clients send a line end after a body. Bytes that come later are answered with a reset, which may destroy
      // the response.
      const isLast = LAST_REQUESTS.has(this.closeAfter) && body === null;
      const sentMore = this.sentMore || this.rest !== null || this.paused;
      this.close(this.closeAfter, (isLast && !sentMore) || this.inputEnded);
      return;
    }
    this.output.responseDone();
    if (this.wire.isFull) {
      // No further answers pile up before a client that does not read (SAFETY rule 11).
      this.phase = 'unsent';
      this.deadline = Number.POSITIVE_INFINITY;
      const room = (): void => {
        if (this.phase === 'unsent') this.awaitHead(this.core.clock.now());
      };
      this.onRoom({ room });
      return;
    }
    this.awaitHead(this.req?.log.tPrev ?? this.core.clock.now());
  }

  /** @param ahead what has come already was sent ahead of an answer */
  protected awaitHead(now: number, ahead = true): void {
    if (this.closeAfter !== null) {
      this.close(this.closeAfter);
      return;
    }
    if (this.leaves && this.begun && this.rest === null) {
      this.close('RESP_CLOSE', true);
      return;
    }
    this.phase = 'head';
    this.tHead = 0;
    this.deadline = now + (this.leaves ? NOTICE : this.timeoutIdle);
    this.lingerEnd = now + this.timeoutLinger;
    this.output.responseDone();
    if (this.parsing) return;
    if (ahead && this.rest !== null) this.core.stats.sess_readahead++;
    this.parseRest();
  }

  /** Whether this turn has time for another request of the client: one that sends many at once is served as others are,
   * some in each turn. */
  private mayServe(): boolean {
    const { turns } = this.core;
    turns.tookLong();
    if (turns.mayContinue()) return true;
    this.phase = 'ahead';
    this.deadline = Number.POSITIVE_INFINITY;
    return false;
  }

  /** The requests that wait are served in a later turn. Until then nothing is read: the runtime would otherwise read, and
   * have served, the next ones in this turn. */
  private giveWay(): void {
    this.pauseReading();
    this.core.turns.later(() => {
      // The connection may be closed or lost meanwhile.
      if (this.phase !== 'ahead') return;
      this.resumeReading();
      this.awaitHead(this.core.clock.now());
    });
  }

  startPipe(sink: Sink): void {
    this.phase = 'pipe';
    this.pipeSink = sink;
    this.body = null;
    this.deadline = Number.POSITIVE_INFINITY;
    sink.connect({ room: () => this.resumeReading(), stop: () => undefined });
    const rest = this.rest;
    this.rest = null;
    this.resumeReading();
    if (rest !== null) this.intoPipe(rest);
    if (this.inputEnded) sink.end(NOTHING);
  }

  private intoPipe(bytes: Buffer): void {
    if (this.pipeSink?.write(own(bytes)) === 'wait') this.pauseReading();
  }

  interruptPipe(): void {
    this.pipeSink = null;
    if (this.phase === 'pipe') this.phase = 'request';
  }

  /** The pipe is over; the request ends like any other and the connection with it. */
  pipeEnded(reason: CloseReason): void {
    this.interruptPipe();
    this.closeAfter ??= reason;
  }

  bodyBegins(): void {
    this.req?.bodyBegins();
  }

  bodyWanted(): void {
    if (!this.isOpen) {
      this.body?.fail('closed', this.wire.error);
      return;
    }
    this.phase = 'body';
    this.deadline = this.core.clock.now() + this.timeoutIdle;
    const rest = this.takeRest();
    if (rest !== null) this.feedBody(rest, 0, rest.length);
    else this.req?.askForBody();
    this.own = null;
    const { body } = this;
    if (body?.wantsData !== true) return;
    if (this.inputEnded) body.fail('eof');
    else this.resumeReading();
  }

  bodySettled(): void {
    this.req?.bodySettled();
    if (this.phase === 'body') {
      this.phase = 'request';
      this.deadline = Number.POSITIVE_INFINITY;
    }
  }

  protected keep(buf: LentBytes, start: number, end: number): void {
    const { own } = this;
    // Most of what was kept already need not be copied again; a small part of it must not hold all of it.
    const isOwn = own !== null && buf === own && (end - start) * 2 > own.length;
    const fresh = isOwn ? own.subarray(start, end) : keep(buf, start, end);
    this.rest = this.rest === null ? fresh : Buffer.concat([this.rest, fresh]);
    const limit = this.phase === 'head' ? Number.POSITIVE_INFINITY : READ_AHEAD;
    if (this.rest.length > limit) this.pauseReading();
  }

  private takeRest(): Buffer | null {
    const { rest } = this;
    this.own = rest;
    this.rest = null;
    return rest;
  }

  private feedBody(buf: LentBytes, start: number, end: number): void {
    const body = this.body as RequestBody;
    this.deadline = this.core.clock.now() + this.timeoutIdle;
    let at = start;
    while (at < end && body.wantsData) {
      const used = body.feed(buf, at, end);
      at += used;
      if (used === 0) break;
    }
    if (at >= end || !this.isOpen) return;
    if (this.phase === 'head' && !this.parsing) {
      // The last bytes of the body ended the request: what follows is the next one.
      this.parse(buf, at, end);
      return;
    }
    this.keep(buf, at, end);
    if (body.paused) this.pauseReading();
  }

  private parseRest(): void {
    const rest = this.takeRest();
    if (rest !== null) this.parse(rest, 0, rest.length);
    else if (this.inputEnded) this.close('REM_CLOSE', true);
    if (this.phase === 'head') this.resumeReading();
  }

  /** Parses as many requests as are there; stops when one cannot be finished at once. */
  private parse(buf: LentBytes, start: number, end: number): void {
    this.parsing = true;
    let at = this.parseSome(buf, start, end);
    // A request with a body has put aside what follows it.
    while (at >= end && this.phase === 'head' && this.rest !== null && this.mayServe()) {
      const rest = this.takeRest() as Buffer;
      this.core.stats.sess_readahead++;
      buf = rest;
      end = rest.length;
      at = this.parseSome(rest, 0, end);
    }
    this.parsing = false;
    if (at < end && this.isOpen) this.keep(buf, at, end);
    this.own = null;
    if (this.phase === 'ahead') this.giveWay();
    else if (this.phase === 'head' && this.inputEnded) this.close('REM_CLOSE', true);
  }

  /** Whether a head that was read begins with the first byte of its line, and not with what is skipped. */
  private get isAtFirstByte(): boolean {
    const { bytes, start, leniencies } = this.reader;
    return bytes[start] === CAPITAL_P && leniencies === null;
  }

  /** Returns how far it came: short of `end` when a head is incomplete or a request has to wait. */
  private parseSome(buf: LentBytes, start: number, end: number): number {
    let at = start;
    while (this.phase === 'head' && at < end) {
      if (at > start && !this.mayServe()) break;
      const now = this.core.clock.now();
      const { reader } = this;
      const { head } = reader;
      if (at > start) this.core.stats.sess_readahead++;
      if (this.tHead === 0) {
        // A head that comes in pieces continues where its last piece ended; only a new one starts over.
        this.tHead = now;
        if (now > this.lingerEnd) {
          this.core.stats.sess_herd++;
          this.core.waiter.action++;
        }
        this.deadline = now + (this.leaves ? NOTICE : this.timeoutIdle);
        head.reset();
        // The first one is made with the session.
        if (this.begun && this.buffers !== null)
          this.req = new Request(this.core, this, this.buffers, this.requests.run);
      }
      const { req } = this;
      if (req === null) break;
      const { requestLimits, lenientLf } = this.core;
      const status = reader.read(buf, at, end, requestLimits, lenientLf, req.http);
      if (status === HEAD_INCOMPLETE) break;
      const isFirst = !this.begun;
      this.begun = true;
      this.phase = 'request';
      this.deadline = Number.POSITIVE_INFINITY;
      if (status !== HEAD_COMPLETE) {
        refuseHead(req, head, reader.bytes, reader.start, reader.end, now);
        return end;
      }
      if (isFirst && head.preface && this.core.http2Plain && this.isAtFirstByte) {
        const past = reader.past;
        if (past < end) this.keep(buf, past, end);
        this.startHttp2(past - reader.start);
        return end;
      }
      if (this.leaves) this.closeAfter = 'RESP_CLOSE';
      req.begin(head, reader.bytes, now);
      if (reader.leniencies !== null) req.readLeniently(reader.leniencies, reader.past - at);
      at = reader.past;
      if (req.needsBytes && at < end) {
        this.keep(buf, at, end);
        at = end;
      }
      this.sentMore = at < end;
      this.requests.start(req);
    }
    return at;
  }
}
