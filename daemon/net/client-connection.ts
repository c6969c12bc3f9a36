// The connection of a client: what is written to it, whether it is read from, and how it ends: in an orderly way, cut,
// or with a reset; logged and counted once. What its bytes mean is the session's business.

import { CLOSE_REASONS, type CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Room, Sink, Writer } from '../flow/flow.ts';
import type { Piece } from '../flow/piece.ts';
import type { MainCounters } from '../stats/counter-fields.ts';
import type { Core } from '../transaction/core.ts';
import { ClientEnds } from './client-ends.ts';
import type { ClientWire } from './client-wire.ts';
import type { Endpoint } from './endpoint.ts';

/** Seconds for which unread input is discarded after an answer that closes, so that no reset destroys it. */
const LINGER = 1;

/** `preamble`: a PROXY listener's connection before its first request. `hello`, `handshake`: a TLS listener's before the
 * handshake has begun, and is done. `unsent`: the request is over, but the client has not taken all of the response yet.
 * `http2`: its frames, until it ends. `ahead`: the next requests are there and wait for a later turn. */
type Phase =
  | 'preamble'
  | 'hello'
  | 'handshake'
  | 'head'
  | 'request'
  | 'body'
  | 'unsent'
  | 'ahead'
  | 'http2'
  | 'pipe'
  | 'closing'
  | 'closed';
const BEFORE_REQUESTS: ReadonlySet<Phase> = new Set(['preamble', 'hello', 'handshake']);

export abstract class ClientConnection extends ClientEnds {
  /** Set when the connection must end after the current response. */
  closeAfter: CloseReason | null = null;
  /** When the connection is given up (clock seconds); Infinity while a fetch or a pipe has its own timers. */
  deadline: number;
  /** Until then a client that has sent nothing yet is waited for at no cost (clock seconds). */
  protected lingerEnd: number;
  protected readonly output: SendDeadline;
  protected phase: Phase = 'head';
  /** Where the client's bytes go in a pipe. */
  protected pipeSink: Sink | null = null;
  /** Bytes that came and are not used yet. */
  protected rest: Buffer | null = null;
  protected paused = false;
  /** The reason in SessClose for a connection that is suddenly gone: the client left, unless this side destroyed it. */
  protected lossReason: CloseReason = 'REM_CLOSE';

  constructor(core: Core, wire: ClientWire, endpoint: Endpoint) {
    super(core, wire, endpoint);
    this.deadline = this.tOpen + this.timeoutIdle;
    this.lingerEnd = this.tOpen + this.timeoutLinger;
    this.output = new SendDeadline(core, wire, this);
    if (endpoint.proxy) this.phase = 'preamble';
    else if (endpoint.tls) {
      this.phase = 'hello';
      this.deadline = this.tOpen + core.params.tls_handshake_timeout;
    }
  }

  /** The connection ends, for this reason; its log is still open. */
  protected abstract closing(reason: CloseReason): void;

  /** The connection is gone, and logged. */
  protected abstract ended(): void;

  get isIdle(): boolean {
    return this.phase === 'head' || BEFORE_REQUESTS.has(this.phase);
  }

  /** Between two requests for longer than it takes to send one at once. */
  isWaiting(now: number): boolean {
    return this.phase === 'head' && this.rest === null && now > this.lingerEnd;
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

  /** The client has yet to take some of what was written. */
  get isSending(): boolean {
    return this.wire.isSending;
  }

  write(piece: Piece): Room {
    this.log.answering();
    return this.wire.write(piece);
  }

  /** Writes frames, whose answers have been noted as they were made. */
  send(piece: Piece): Room {
    const room = this.wire.write(piece);
    if (room === 'more') this.output.responseDone();
    return room;
  }

  onRoom(writer: Pick<Writer, 'room'>): void {
    this.output.onRoom(writer, this.phase !== 'pipe');
  }

  pauseReading(): void {
    if (this.paused) return;
    this.paused = true;
    this.wire.pause();
  }

  resumeReading(): void {
    if (!this.paused) return;
    this.paused = false;
    this.wire.resume();
  }

  /** Ends the connection in an orderly way: the response is flushed, unread input discarded for a moment.
   * @param isAllRead the client sends nothing more that would have to be discarded */
  close(reason: CloseReason, isAllRead = false): void {
    if (this.phase === 'closed' || this.phase === 'closing') return;
    this.closeAfter = reason;
    this.logClose(reason);
    this.phase = 'closing';
    this.rest = null;
    this.pipeSink = null;
    const { clock } = this.core;
    if (isAllRead && !this.wire.isSending) {
      this.wire.finish();
      // The end of a TLS connection is written, and a client that reads nothing may leave no room for it.
      if (!this.wire.isGone) this.deadline = clock.now() + LINGER;
      return;
    }
    if (this.wire.isSending && !this.wire.isGone) {
      // The client takes its time: it has what a client has that reads any other response.
      this.deadline = Number.POSITIVE_INFINITY;
      const room = (): void => {
        this.deadline = clock.now() + LINGER;
      };
      this.onRoom({ room });
    } else this.deadline = clock.now() + LINGER;
    this.wire.end();
    this.resumeReading();
  }

  /** Cuts the connection: what was promised cannot be delivered. */
  cut(reason: CloseReason): void {
    if (this.phase === 'closed') return;
    this.closeAfter = reason;
    // Whatever the log calls it, this side closed.
    if (reason === 'REM_CLOSE') this.core.stats.sess_closed++;
    this.wire.destroy();
  }

  /** Cuts so that the client cannot take it for an orderly end, where the end would mean that all was sent. */
  reset(reason: CloseReason): void {
    // A Unix socket has no reset.
    if (this.phase !== 'closed' && this.localPort > 0) this.wire.reset();
    this.cut(reason);
  }

  protected destroy(): void {
    this.wire.destroy();
    this.finish(this.closeAfter ?? 'REM_CLOSE');
  }

  protected finish(reason: CloseReason): void {
    if (this.phase !== 'closing') this.logClose(reason);
    this.phase = 'closed';
    this.rest = null;
    this.ended();
  }

  private logClose(reason: CloseReason): void {
    const now = this.core.clock.now();
    this.closing(reason);
    if (this.phase === 'head') this.countIdle(now, reason);
    this.log.put(Tag.SessClose, `${reason} ${(now - this.tOpen).toFixed(3)}`);
    this.log.end();
    countClose(this.core.stats, reason, BEFORE_REQUESTS.has(this.phase));
  }

  /** Between two requests: whether the client was waited for longer than it takes to send one at once. */
  private countIdle(now: number, reason: CloseReason): void {
    const { stats, waiter } = this.core;
    // An unfinished head was received all the same.
    if (this.rest !== null) stats.s_req_hdrbytes += this.rest.length;
    else if (now > this.lingerEnd || reason === 'RX_CLOSE_IDLE') {
      stats.sess_herd++;
      if (reason === 'RX_CLOSE_IDLE') waiter.timeout++;
      else waiter.remclose++;
    }
  }
}

interface HowCounted {
  readonly counter: Extract<keyof MainCounters, `sc_${string}`>;
  readonly error: boolean;
}

const HOW_COUNTED = new Map<CloseReason, HowCounted>(
  CLOSE_REASONS.map(({ name, error }) => [
    name,
    { counter: `sc_${name.toLowerCase()}` as HowCounted['counter'], error },
  ]),
);

/** Ends of a session that waits for a request: nothing is left to close in an orderly way, and Varnish does not count
 * them as closed. */
const ENDS_WAITING: ReadonlySet<CloseReason> = new Set(['RX_TIMEOUT', 'RX_CLOSE_IDLE', 'RX_OVERFLOW']);

/** @param inPreamble the session ends before its first request could begin */
function countClose(stats: MainCounters, reason: CloseReason, inPreamble: boolean): void {
  const { counter, error } = HOW_COUNTED.get(reason) as HowCounted;
  stats[counter]++;
  if (error) stats.sess_closed_err++;
  if (reason !== 'REM_CLOSE' && !inPreamble && !ENDS_WAITING.has(reason)) stats.sess_closed++;
}

/** The session's limits in seconds, which a program may change. */
export interface SendLimits {
  readonly idleSendTimeout: number;
  readonly sendTimeout: number;
}

const NEVER = Number.POSITIVE_INFINITY;

class SendDeadline {
  private readonly core: Core;
  private readonly wire: ClientWire;
  private readonly limits: SendLimits;
  /** When a client that does not take what was written is given up; never while nothing waits for it. */
  private deadline = NEVER;
  /** When progress no longer helps such a client: send_timeout after the response first had to wait. */
  private end = NEVER;
  /** Bytes that the kernel had not taken when the deadline was set. */
  private queued = 0;
  /** Waits until the client has taken everything written so far. */
  private waiting: Pick<Writer, 'room'> | null = null;

  constructor(core: Core, wire: ClientWire, limits: SendLimits) {
    this.core = core;
    this.wire = wire;
    this.limits = limits;
  }

  /** Calls writer.room() once when everything written has left; never when the connection goes first.
   * @param limited whether the limits hold: a pipe has one of its own */
  onRoom(writer: Pick<Writer, 'room'>, limited: boolean): void {
    const { wire } = this;
    this.waiting = writer;
    if (limited) {
      const now = this.core.clock.now();
      this.queued = wire.queued;
      this.deadline = now + this.limits.idleSendTimeout;
      if (this.end === NEVER) this.end = now + this.limits.sendTimeout;
    }
    wire.flushed(() => {
      if (this.waiting !== writer) return;
      this.waiting = null;
      this.deadline = NEVER;
      writer.room();
    });
  }

  /** A response is over: the next one has its whole time again. */
  responseDone(): void {
    this.end = NEVER;
  }

  /** True when the client has had its time. Any progress gets it more, up to send_timeout. */
  isStalled(now: number): boolean {
    if (now < this.deadline) return false;
    const { queued } = this.wire;
    if (queued < this.queued && now < this.end) {
      this.queued = queued;
      this.deadline = now + this.limits.idleSendTimeout;
      return false;
    }
    this.deadline = NEVER;
    return true;
  }
}
