// A client connection from its first byte to its end: a PROXY preamble, a TLS handshake, then requests of HTTP/1, or HTTP/2;
// what becomes of requests under way when the client leaves, takes too long, or the worker ends. The requests themselves
// are those of Http1Input and Http2Connection.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { ClientTls, Http2Limits } from '../contract/context.ts';
import { NOTHING, own } from '../flow/piece.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { NOTHING_CAME } from '../system-error.ts';
import type { Core } from '../transaction/core.ts';
import type { RequestMachine } from '../transaction/request.ts';
import type { ClientWire, WireUser } from './client-wire.ts';
import type { Endpoint } from './endpoint.ts';
import { Http1Input, NOTICE } from './http1-input.ts';
import { Http2Connection } from './http2/http2-connection.ts';
import type { Http2Owner } from './http2/http2-control.ts';
import { type PreambleTarget, receivePreamble } from './proxy-protocol.ts';
import { Handshake, type HandshakeOwner } from './tls-handshake.ts';
import type { SecurableWire } from './tls-wire.ts';

/** The list that a session leaves when it has ended. */
export interface SessionOwner {
  sessionClosed(session: Session): void;
}

export class Session extends Http1Input implements PreambleTarget, WireUser, HandshakeOwner, Http2Owner {
  /** In the worker's list. */
  place = 0;
  private readonly owner: SessionOwner;
  /** Until the first request of a TLS connection; null of a plain one. */
  private handshake: Handshake | null;
  /** Once the client speaks HTTP/2. */
  private frames: Http2Connection | null = null;
  /** The connection is gone, and requests of HTTP/2 are not over yet. */
  private awaitsStreams = false;

  /** @param requests runs requests; given, since the steps know sessions. */
  constructor(
    core: Core,
    owner: SessionOwner,
    wire: ClientWire,
    endpoint: Endpoint,
    requests: RequestMachine,
  ) {
    super(core, wire, endpoint, requests);
    this.handshake = endpoint.tls ? new Handshake(this, wire as SecurableWire) : null;
    this.owner = owner;
  }

  protected closing(reason: CloseReason): void {
    this.handshake?.ended(reason, this.phase === 'preamble');
    this.frames?.account();
  }

  protected ended(): void {
    this.endHttp1();
    this.owner.sessionClosed(this);
  }

  protected receiveOther(buf: LentBytes, start: number, end: number): void {
    switch (this.phase) {
      case 'http2':
        this.frames?.receive(buf, start, end);
        break;
      case 'preamble':
        this.keep(buf, start, end);
        this.takePreamble();
        break;
      case 'hello':
        this.keep(buf, start, end);
        this.handshake?.take(this.rest as Buffer);
        break;
      default:
        break;
    }
  }

  /** The client closed its sending side. */
  receivedEnd(): void {
    this.inputEnded = true;
    switch (this.phase) {
      case 'preamble':
      case 'hello':
      case 'handshake':
      case 'head':
        this.close('REM_CLOSE', true);
        break;
      case 'pipe':
        this.pipeSink?.end(NOTHING);
        break;
      case 'http2':
        this.frames?.inputEnded();
        break;
      case 'closing':
        // The connection ends by itself when everything has been sent.
        if (!this.wire.isSending) this.wire.finish();
        break;
      case 'closed':
        break;
      default:
        // A half-closed client may still read its answers; a body of which nothing waits can no longer become whole.
        if (this.rest === null) this.body?.fail('eof');
        break;
    }
  }

  /** The connection is gone. */
  lost(): void {
    if (this.phase === 'closed') return;
    const busy = this.phase === 'request' || this.phase === 'body';
    // Varnish learns it when it writes, unless it still reads a body.
    const reads = this.body !== null && !this.body.complete;
    const isOwed = this.phase === 'ahead' || this.phase === 'unsent';
    if ((this.phase === 'request' && !reads) || isOwed) this.lossReason = 'TX_ERROR';
    if (this.frames !== null) {
      // The last of its requests ends the session; one that is closing waits for none.
      this.awaitsStreams = this.phase !== 'closing' && this.frames.running > 0;
      if (this.phase !== 'closing') this.phase = 'closed';
      const isLast = !this.awaitsStreams;
      this.frames.lost();
      if (isLast) this.finish(this.closeAfter ?? this.lossReason);
      return;
    }
    this.pipeSink?.abort('closed');
    this.pipeSink = null;
    if (this.phase === 'closing' || this.isIdle || isOwed) {
      this.finish(this.lossReason);
      return;
    }
    this.phase = 'closed';
    this.closeAfter = this.lossReason;
    this.body?.fail('closed', this.wire.error);
    if (busy) this.req?.abort();
    else this.finish(this.lossReason);
  }

  /** Called by the sweep: gives up on a client that takes too long. */
  checkTimeout(now: number): void {
    if (this.output.isStalled(now)) {
      this.lossReason = 'TX_ERROR';
      this.wire.destroy();
      return;
    }
    if (now < this.deadline) return;
    switch (this.phase) {
      case 'preamble':
        this.close('RX_TIMEOUT');
        break;
      case 'hello':
      case 'handshake':
        this.lossReason = 'RX_TIMEOUT';
        this.wire.destroy();
        break;
      case 'http2':
        this.frames?.checkTimeout(now);
        break;
      case 'head':
        this.close(this.rest === null ? 'RX_CLOSE_IDLE' : 'RX_TIMEOUT');
        break;
      case 'body':
        if (this.body?.paused === true) {
          // It is the origin that is slow: the upload has a limit of its own.
          this.deadline = now + this.timeoutIdle;
          break;
        }
        this.closeAfter ??= 'RX_BODY';
        this.body?.fail('timeout', NOTHING_CAME);
        break;
      default:
        this.destroy();
        break;
    }
  }

  /** The worker ends: idle clients go at once, the others after their response. One that has just come gets an answer. */
  shutdown(): void {
    this.leaves = true;
    switch (this.phase) {
      case 'http2':
        this.frames?.shutdown();
        break;
      case 'request':
      case 'body':
      case 'pipe':
        this.closeAfter ??= 'RESP_CLOSE';
        break;
      case 'head':
        if (this.begun && this.tHead === 0) this.close('RX_CLOSE_IDLE', true);
        else this.hasten();
        break;
      case 'preamble':
      case 'hello':
      case 'handshake':
        this.hasten();
        break;
      default:
        break;
    }
  }

  private hasten(): void {
    this.deadline = Math.min(this.deadline, this.core.clock.now() + NOTICE);
  }

  /** The worker has ended: what is not over never will be. */
  giveUp(): void {
    this.lossReason = this.isIdle ? 'RX_CLOSE_IDLE' : 'TX_ERROR';
    this.wire.destroy();
  }

  /** Requests under way, and answers that have not left. */
  get running(): number {
    switch (this.phase) {
      case 'http2':
        return this.frames?.running ?? 0;
      case 'request':
      case 'body':
      case 'pipe':
      case 'unsent':
      case 'ahead':
        return 1;
      case 'closing':
        return this.isSending ? 1 : 0;
      default:
        return 0;
    }
  }

  get http2(): Http2Limits | null {
    return this.frames?.limits ?? null;
  }

  protected startHttp2(prefaced: number): void {
    this.phase = 'http2';
    // The connection has limits of its own.
    this.deadline = 0;
    const rest = this.leaveHttp1();
    this.frames = new Http2Connection(this, prefaced);
    if (rest !== null) this.frames.receive(rest, 0, rest.length);
    if (this.leaves) this.frames.shutdown();
  }

  http2Over(): void {
    if (!this.awaitsStreams) return;
    this.awaitsStreams = false;
    this.finish(this.closeAfter ?? this.lossReason);
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
    if (this.handshake === null) {
      this.awaitHead(this.core.clock.now(), false);
      return;
    }
    this.phase = 'hello';
    this.deadline = this.core.clock.now() + this.core.params.tls_handshake_timeout;
    if (this.rest !== null) this.handshake.take(this.rest);
  }

  handshakeBegins(): Buffer {
    const hello = this.rest as Buffer;
    this.rest = null;
    this.phase = 'handshake';
    this.paused = false;
    return hello;
  }

  handshakeDone(tls: ClientTls): void {
    this.tls = tls;
    if (tls.alpn === 'h2') this.startHttp2(0);
    else this.awaitHead(this.core.clock.now(), false);
  }

  handshakeValidated(): void {
    this.close('REQ_CLOSE');
  }

  handshakeRefused(answer: Buffer): void {
    if (answer.length > 0) this.write(own(answer));
    this.close('RX_JUNK');
  }

  handshakeFailed(): void {
    this.lossReason = 'RX_JUNK';
  }
}
