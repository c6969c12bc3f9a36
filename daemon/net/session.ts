// One client connection: reads heads, runs one request after another, hands body bytes to whoever wants them
// and closes with a reason. Pipelined requests wait in `rest` while one is running or while the client has not
// taken the last answer; the socket is paused when they grow. It never decides anything about a request beyond
// its framing.
//
// Awkward: bytes arrive in a buffer shared by all sessions of the worker, so whatever is not used before
// receive() returns is copied. And a client may end its side before its requests are answered: what it sent
// before that still counts.

import type { Socket } from 'node:net';
import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { PeerCredentials } from '../contract/context.ts';
import { HEAD_COMPLETE, HEAD_INCOMPLETE } from '../http1/head-parser.ts';
import { flat } from '../http1/latin1.ts';
import { constantRecord, type PreparedRecords, type TxLog } from '../log/tx-log.ts';
import type { ClientSession, PipeTap } from '../transaction/client-session.ts';
import type { Core } from '../transaction/core.ts';
import { Request } from '../transaction/request.ts';
import type { RequestBody } from '../transaction/request-body.ts';
import { type Step, TRANSPORT } from '../transaction/steps.ts';
import { ClientOutput } from './client-output.ts';
import { countClose } from './close-count.ts';
import type { Endpoint } from './endpoint.ts';
import { type PreambleTarget, receivePreamble } from './preamble.ts';
import type { ProxyAddress } from './proxy-protocol.ts';
import { RequestHeadReader } from './request-head.ts';
import { fileDescriptor } from './socket-handle.ts';

/** Told when a session has ended. */
export interface SessionOwner {
  sessionClosed(session: Session): void;
}

/** Bytes a client may send ahead of what is being worked on before its socket is paused. */
const READ_AHEAD = 64 * 1024;
/** After an answer that closes, unread input is discarded for so long (seconds), so that no reset destroys it. */
const LINGER = 1;

/** `preamble`: a PROXY listener's connection before its first request. `unsent`: the request is over, but the client
 * has not taken all of the response yet. */
type Phase = 'preamble' | 'head' | 'request' | 'body' | 'unsent' | 'pipe' | 'closing' | 'closed';

/** An IPv4 client of a listener on `::` has its own address, not the mapped one, so that acls know it. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return '0.0.0.0';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

export class Session implements ClientSession, PreambleTarget {
  readonly core: Core;
  readonly socket: Socket;
  readonly endpoint: Endpoint;
  readonly vxid: number;
  readonly log: TxLog;
  readonly tOpen: number;
  readonly remoteIp: string;
  readonly remotePort: number;
  readonly localIp: string;
  readonly localPort: number;
  readonly endpointName: string;
  readonly endpointSocket: string;
  clientIp: string;
  clientPort: number;
  serverIp: string;
  serverPort: number;
  timeoutIdle: number;
  timeoutLinger: number;
  idleSendTimeout: number;
  sendTimeout: number;
  /** Texts that every request of the session logs or sends. */
  readonly beginRecord: PreparedRecords;
  startRecord: PreparedRecords;
  forwardedLine: string;
  forwardedRecord: PreparedRecords;
  proxyAttributes: ReadonlyMap<number, Uint8Array> | null = null;
  /** The process at the other end of a Unix socket, where a program asks. */
  peer: PeerCredentials | null = null;
  /** Set when the connection must end after the current response. */
  closeAfter: CloseReason | null = null;
  /** When the connection is given up (clock seconds); Infinity while a fetch or a pipe has its own timers. */
  deadline: number;
  /** Until then a client that has sent nothing yet is waited for at no cost (clock seconds). */
  private lingerEnd: number;
  /** When the first byte of the head being received arrived, 0 when none did. */
  tHead = 0;
  body: RequestBody | null = null;
  private readonly owner: SessionOwner;
  private readonly run: (req: Request, step: Step) => void;
  private readonly req: Request;
  private readonly output: ClientOutput;
  private readonly reader = new RequestHeadReader();
  private phase: Phase = 'head';
  private pipeTap: PipeTap | null = null;
  private rest: Buffer | null = null;
  private paused = false;
  private parsing = false;
  /** The client has ended its side. */
  private inputEnded = false;
  /** What a socket that is suddenly gone means: the client left, unless we made it go. */
  private lossReason: CloseReason = 'REM_CLOSE';

  /** @param run drives a request from a step on; given, since the steps know sessions. */
  constructor(
    core: Core,
    owner: SessionOwner,
    socket: Socket,
    endpoint: Endpoint,
    run: (req: Request, step: Step) => void,
  ) {
    this.run = run;
    this.core = core;
    this.owner = owner;
    this.socket = socket;
    this.endpoint = endpoint;
    this.endpointName = endpoint.name;
    this.endpointSocket = endpoint.socketText;
    this.vxid = core.newVxid();
    this.log = core.newLog();
    this.tOpen = core.clock.now();
    this.remoteIp = plainAddress(socket.remoteAddress);
    this.remotePort = socket.remotePort ?? 0;
    this.localIp = plainAddress(socket.localAddress);
    this.localPort = socket.localPort ?? 0;
    this.clientIp = this.remoteIp;
    this.clientPort = this.remotePort;
    this.serverIp = this.localIp;
    this.serverPort = this.localPort;
    this.beginRecord = constantRecord(Tag.Begin, `req ${this.vxid} rxreq`);
    this.startRecord = constantRecord(Tag.ReqStart, `${this.clientIp} ${this.clientPort} ${endpoint.name}`);
    this.forwardedLine = flat(`X-Forwarded-For: ${this.clientIp}`);
    this.forwardedRecord = constantRecord(Tag.ReqHeader, this.forwardedLine);
    this.timeoutIdle = core.params.timeout_idle;
    this.timeoutLinger = core.params.timeout_linger;
    this.idleSendTimeout = core.params.idle_send_timeout;
    this.sendTimeout = core.params.send_timeout;
    this.deadline = this.tOpen + this.timeoutIdle;
    this.lingerEnd = this.tOpen + this.timeoutLinger;
    this.req = new Request(core, this, run);
    this.output = new ClientOutput(core, socket, this);
    this.log.begin(this.vxid, 'c');
    this.log.put(Tag.Begin, endpoint.proxy ? 'sess 0 PROXY' : 'sess 0 HTTP/1');
    if (endpoint.proxy) this.phase = 'preamble';
    this.log.put(
      Tag.SessOpen,
      `${this.remoteIp} ${this.remotePort} ${endpoint.name} ${this.localIp} ${this.localPort} ${this.tOpen.toFixed(6)} ${fileDescriptor(socket)}`,
    );
    core.stats.sess_conn++;
    core.stats.s_sess++;
  }

  peerCredentials(): PeerCredentials | null {
    return this.peer;
  }

  /** Other ends than those of the connection: what the program and the log call client and server. */
  setAddresses(client: ProxyAddress, server: ProxyAddress): void {
    this.clientIp = client.ip;
    this.clientPort = client.port;
    this.serverIp = server.ip;
    this.serverPort = server.port;
    this.startRecord = constantRecord(Tag.ReqStart, `${client.text} ${client.port} ${this.endpoint.name}`);
    this.forwardedLine = flat(`X-Forwarded-For: ${client.text}`);
    this.forwardedRecord = constantRecord(Tag.ReqHeader, this.forwardedLine);
  }

  /** Bytes from the socket; the buffer is only valid until this returns. False asks the caller to stop. */
  receive(buf: Buffer, start: number, end: number): boolean {
    switch (this.phase) {
      case 'head':
        if (this.rest === null) this.parse(buf, start, end);
        else {
          this.keep(buf, start, end);
          this.parseRest();
        }
        break;
      case 'request':
      case 'unsent':
        this.keep(buf, start, end);
        break;
      case 'body':
        if (this.rest !== null || this.body === null || !this.body.wantsData) this.keep(buf, start, end);
        else this.feedBody(buf, start, end);
        break;
      case 'pipe':
        this.pipeTap?.fromClient(Buffer.from(buf.subarray(start, end)));
        break;
      case 'preamble':
        this.keep(buf, start, end);
        this.takePreamble();
        break;
      default:
        break;
    }
    return !this.paused;
  }

  /** The client closed its sending side. */
  receivedEnd(): void {
    this.inputEnded = true;
    switch (this.phase) {
      case 'preamble':
      case 'head':
        this.close('REM_CLOSE');
        break;
      case 'pipe':
        this.pipeTap?.clientEnded();
        break;
      case 'closing':
        // What is still on its way out ends the socket by itself.
        if (!this.output.isSending) this.destroy();
        break;
      case 'closed':
        break;
      default:
        // A half-closed client may still read its answers; a body of which nothing waits can no longer become whole.
        if (this.rest === null) this.body?.fail('eof');
        break;
    }
  }

  /** The socket is gone. */
  lost(): void {
    if (this.phase === 'closed') return;
    const busy = this.phase === 'request' || this.phase === 'body';
    // Varnish learns it when it writes.
    if (this.phase === 'request' || this.phase === 'unsent') this.lossReason = 'TX_ERROR';
    this.pipeTap?.clientLost();
    this.pipeTap = null;
    if (this.phase === 'closing' || this.isIdle || this.phase === 'unsent') {
      this.finish(this.lossReason);
      return;
    }
    this.phase = 'closed';
    this.closeAfter = this.lossReason;
    this.body?.fail('closed');
    if (busy) this.req.abort();
    else this.finish(this.lossReason);
  }

  /** Called by the sweep: gives up on a client that takes too long. */
  checkTimeout(now: number): void {
    if (this.output.isStalled(now)) {
      this.lossReason = 'TX_ERROR';
      this.socket.destroy();
      return;
    }
    if (now < this.deadline) return;
    switch (this.phase) {
      case 'preamble':
        this.close('RX_TIMEOUT');
        break;
      case 'head':
        this.close(this.rest === null ? 'RX_CLOSE_IDLE' : 'RX_TIMEOUT');
        break;
      case 'body':
        if (this.body?.paused === true) {
          // It is the origin that is slow: whoever sends to it has a limit of its own.
          this.deadline = now + this.timeoutIdle;
          break;
        }
        this.closeAfter ??= 'RX_BODY';
        this.body?.fail('timeout');
        break;
      default:
        this.destroy();
        break;
    }
  }

  /** The worker ends: idle clients go at once, the others after their response. */
  shutdown(): void {
    if (this.isIdle) this.close('OVERLOAD');
    else this.closeAfter ??= 'OVERLOAD';
  }

  get isIdle(): boolean {
    return this.phase === 'head' || this.phase === 'preamble';
  }

  /** The client has sent more than what has been worked on. */
  get hasInput(): boolean {
    return this.rest !== null;
  }

  /** Bytes of it. */
  get inputLength(): number {
    return this.rest?.length ?? 0;
  }

  get isOpen(): boolean {
    return this.phase !== 'closed' && this.phase !== 'closing';
  }

  /** Writes buf[start, end) of the worker's shared output buffer. */
  writeOutput(buf: Buffer, start: number, end: number): void {
    this.output.writeShared(buf, start, end);
  }

  /** Writes bytes that stay unchanged until sent. Returns false when the reader is behind: wait for `drained`. */
  write(buf: Uint8Array): boolean {
    return this.socket.write(buf);
  }

  /** Calls back once when everything written has left; never when the connection goes first. */
  drained(callback: () => void): void {
    this.output.drained(callback);
  }

  socketDrained(): void {
    this.output.socketDrained();
  }

  /** The current request is over and its response has been handed to the socket. */
  requestDone(): void {
    const body = this.body;
    if (this.phase === 'closed') {
      this.finish(this.closeAfter ?? 'REM_CLOSE');
      return;
    }
    if (body !== null && !body.complete) this.closeAfter ??= 'RX_BODY';
    this.body = null;
    if (this.closeAfter !== null) {
      this.close(this.closeAfter);
      return;
    }
    this.output.responseDone();
    if (this.output.unsent) {
      // No further answers pile up before a client that does not read (SAFETY rule 11).
      this.phase = 'unsent';
      this.deadline = Number.POSITIVE_INFINITY;
      this.drained(() => {
        if (this.phase === 'unsent') this.awaitHead(this.core.clock.now());
      });
      return;
    }
    this.awaitHead(this.req.log.tPrev);
  }

  /** @param ahead what has come already was sent ahead of an answer */
  private awaitHead(now: number, ahead = true): void {
    if (this.closeAfter !== null) {
      this.close(this.closeAfter);
      return;
    }
    this.phase = 'head';
    this.tHead = 0;
    this.deadline = now + this.timeoutIdle;
    this.lingerEnd = now + this.timeoutLinger;
    this.output.responseDone();
    if (this.parsing) return;
    if (ahead && this.rest !== null) this.core.stats.sess_readahead++;
    this.parseRest();
  }

  /** From now on bytes go to and from the tap; requestDone() is not called any more. */
  startPipe(tap: PipeTap): void {
    this.phase = 'pipe';
    this.pipeTap = tap;
    this.body = null;
    this.deadline = Number.POSITIVE_INFINITY;
    const rest = this.rest;
    this.rest = null;
    if (rest !== null) tap.fromClient(rest);
    if (this.inputEnded) tap.clientEnded();
    this.resumeReading();
  }

  /** The pipe is over; the request ends like any other and the connection with it. */
  pipeEnded(): void {
    this.pipeTap = null;
    this.closeAfter ??= 'TX_PIPE';
    if (this.phase === 'pipe') this.phase = 'request';
  }

  pauseReading(): void {
    if (this.paused) return;
    this.paused = true;
    this.socket.pause();
  }

  resumeReading(): void {
    if (!this.paused) return;
    this.paused = false;
    this.socket.resume();
  }

  bodyWanted(): void {
    if (!this.isOpen) {
      this.body?.fail('closed');
      return;
    }
    this.phase = 'body';
    this.deadline = this.core.clock.now() + this.timeoutIdle;
    const rest = this.rest;
    this.rest = null;
    if (rest !== null) this.feedBody(rest, 0, rest.length);
    else this.req.askForBody();
    const { body } = this;
    if (body?.wantsData !== true) return;
    if (this.inputEnded) body.fail('eof');
    else this.resumeReading();
  }

  bodySettled(): void {
    this.req.bodySettled();
    if (this.phase === 'body') {
      this.phase = 'request';
      this.deadline = Number.POSITIVE_INFINITY;
    }
  }

  /** Ends the connection in an orderly way: the response is flushed, unread input discarded for a moment. */
  close(reason: CloseReason): void {
    if (this.phase === 'closed' || this.phase === 'closing') return;
    this.closeAfter = reason;
    this.logClose(reason);
    this.phase = 'closing';
    this.rest = null;
    this.pipeTap = null;
    const { clock } = this.core;
    if (this.output.isSending && !this.socket.destroyed) {
      // The client takes its time: it has what a client has that reads any other response.
      this.deadline = Number.POSITIVE_INFINITY;
      this.drained(() => {
        this.deadline = clock.now() + LINGER;
      });
    } else this.deadline = clock.now() + LINGER;
    this.socket.end();
    this.resumeReading();
  }

  /** Cuts the connection: what was promised cannot be delivered. */
  cut(reason: CloseReason): void {
    if (this.phase === 'closed') return;
    this.closeAfter = reason;
    // Whatever the log calls it, this side closed.
    if (reason === 'REM_CLOSE') this.core.stats.sess_closed++;
    this.socket.destroy();
  }

  /** Cuts so that the client cannot take it for an orderly end, where the end would mean that all was sent. */
  reset(reason: CloseReason): void {
    // A Unix socket has no reset.
    if (this.phase !== 'closed' && this.localPort > 0) this.socket.resetAndDestroy();
    this.cut(reason);
  }

  private destroy(): void {
    this.socket.destroy();
    this.finish(this.closeAfter ?? 'REM_CLOSE');
  }

  private finish(reason: CloseReason): void {
    if (this.phase !== 'closing') this.logClose(reason);
    this.phase = 'closed';
    this.rest = null;
    this.owner.sessionClosed(this);
  }

  private logClose(reason: CloseReason): void {
    const now = this.core.clock.now();
    if (this.phase === 'head') this.countIdle(now, reason);
    this.log.put(Tag.SessClose, `${reason} ${(now - this.tOpen).toFixed(3)}`);
    this.log.put(Tag.End, '');
    countClose(this.core.stats, reason, this.phase === 'preamble');
  }

  /** Between two requests: whether the client was waited for longer than it takes to send one at once. */
  private countIdle(now: number, reason: CloseReason): void {
    const { stats } = this.core;
    // An unfinished head was received all the same.
    if (this.rest !== null) stats.s_req_hdrbytes += this.rest.length;
    else if (now > this.lingerEnd || reason === 'RX_CLOSE_IDLE') stats.sess_herd++;
  }

  /** Reads the preamble as far as it is there; then the first request. */
  private takePreamble(): void {
    const bytes = this.rest as Buffer;
    const outcome = receivePreamble(this, bytes, this.core.params.workspace_session, this.core.stats);
    if (outcome === null) return;
    if (typeof outcome === 'string') {
      this.close(outcome);
      return;
    }
    this.rest = bytes.length > outcome ? bytes.subarray(outcome) : null;
    this.awaitHead(this.core.clock.now(), false);
  }

  private keep(buf: Buffer, start: number, end: number): void {
    const fresh = buf.subarray(start, end);
    this.rest = this.rest === null ? Buffer.from(fresh) : Buffer.concat([this.rest, fresh]);
    const limit = this.phase === 'head' ? Number.POSITIVE_INFINITY : READ_AHEAD;
    if (this.rest.length > limit) this.pauseReading();
  }

  private feedBody(buf: Buffer, start: number, end: number): void {
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
    const rest = this.rest;
    this.rest = null;
    if (rest !== null) this.parse(rest, 0, rest.length);
    else if (this.inputEnded) this.close('REM_CLOSE');
    if (this.phase === 'head') this.resumeReading();
  }

  /** Parses as many requests as are there; stops when one cannot be finished at once. */
  private parse(buf: Buffer, start: number, end: number): void {
    this.parsing = true;
    let at = this.parseSome(buf, start, end);
    // A request with a body has put aside what follows it.
    while (at >= end && this.phase === 'head' && this.rest !== null) {
      const { rest } = this;
      this.rest = null;
      this.core.stats.sess_readahead++;
      buf = rest;
      end = rest.length;
      at = this.parseSome(rest, 0, end);
    }
    this.parsing = false;
    if (at < end && this.isOpen) this.keep(buf, at, end);
    if (this.phase === 'head' && this.inputEnded) this.close('REM_CLOSE');
  }

  /** Returns how far it came: short of `end` when a head is incomplete or a request has to wait. */
  private parseSome(buf: Buffer, start: number, end: number): number {
    let at = start;
    while (this.phase === 'head' && at < end) {
      const now = this.core.clock.now();
      const { req, reader } = this;
      const { head } = reader;
      if (at > start) this.core.stats.sess_readahead++;
      if (this.tHead === 0) {
        // A head that comes in pieces goes on where its last piece ended; only a new one starts afresh.
        this.tHead = now;
        if (now > this.lingerEnd) this.core.stats.sess_herd++;
        this.deadline = now + this.timeoutIdle;
        head.reset();
        req.reset();
      }
      const { requestLimits, lenientLf } = this.core;
      const status = reader.read(buf, at, end, requestLimits, lenientLf, req.http);
      if (status === HEAD_INCOMPLETE) break;
      this.phase = 'request';
      this.deadline = Number.POSITIVE_INFINITY;
      if (status !== HEAD_COMPLETE) {
        req.refuse(head, reader.bytes, reader.start, reader.end, now);
        return end;
      }
      req.begin(head, reader.bytes, now);
      if (reader.leniencies !== null) req.readLeniently(reader.leniencies, reader.past - at);
      at = reader.past;
      if (req.needsBytes && at < end) {
        this.keep(buf, at, end);
        at = end;
      }
      this.run(req, TRANSPORT);
    }
    return at;
  }
}
