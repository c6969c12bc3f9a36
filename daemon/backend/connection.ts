// One connection to an origin, doing one exchange at a time: send a head and a body, read a head (past 1xx) and a
// body, then go back to the pool or away; or become a side of a pipe. It knows nothing of caching or logging.
//
// Reads land in one buffer that all connections of a worker share, so bytes are handed on before receive()
// returns or copied into `carry`. Awkward: a response that comes before it is asked for (an early answer to an
// upload) is kept and reading stops; bytes after the end of a response make the connection unusable (SAFETY rule 5).

import type { Socket } from 'node:net';
import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { BodyFraming } from '../http1/framing.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import { connectionHas, markNamed } from '../http1/hop-by-hop.ts';
import { Leniencies } from '../http1/leniency.ts';
import type { HttpMessage } from '../http1/message.ts';
import { ConnectionEnds } from './address.ts';
import { IncomingBody } from './body-frame.ts';
import { Deadline } from './deadline.ts';
import { ExchangeAccount } from './exchange-account.ts';
import type {
  ConnectionOwner,
  ExchangeCounters,
  HeadTold,
  InterimTold,
  OriginBodySink,
  SocketReader,
} from './exchange-roles.ts';
import { AT, type ExchangeState } from './exchange-states.ts';
import { ResponseHeadReader } from './head-reader.ts';
import { bodyFailure, OriginFailure } from './origin-failure.ts';
import { OriginWriter } from './origin-writer.ts';
import { endedByReset } from './peer-end.ts';

/** Bytes kept of a response that nobody has asked for yet; no more is read then. */
const MAX_CARRY = 64 * 1024;

/** Milliseconds for which `Keep-Alive: timeout=5` may be relied on: what is sent in the last second may be too late. */
function keptFor(hint: string): number {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?![^\s,])/i.exec(hint)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(seconds) - 1) * 1000;
}

export class OriginConnection {
  readonly socket: Socket;
  /** Key of the pool it belongs to. */
  readonly poolKey: string;
  readonly ends: ConnectionEnds;
  /** Whether it has served an exchange before this one. */
  reused = false;
  /** Bytes of this exchange. */
  readonly bytes = new ExchangeAccount();
  /**
   * Called when bytes that write() refused have gone out, and when waiting for that has become pointless: the
   * connection broke, or the answer came before the body was sent (see `answered`).
   */
  onDrain: (() => void) | null = null;
  /** Set to close the connection after this exchange; closeReason then says why. */
  closeAfter = false;
  /** What BackendClose says when release() closes a connection that did not break; null for no reason of the peers. */
  closeReason: CloseReason | null = 'RESP_CLOSE';
  failure: OriginFailure | null = null;
  /** What of this exchange's response was read although its form is old. */
  readonly leniencies = new Leniencies();
  /** Whether it waits in the pool, and since when (milliseconds of performance.now). */
  pooled = false;
  idleSince = 0;
  /** Milliseconds of idleness after which the origin may be about to close, by its own words. */
  keepFor = Number.POSITIVE_INFINITY;
  /** The words: an origin says the same each time. */
  private keepHint = '';

  private state: ExchangeState = AT.SENDING;
  private owner: ConnectionOwner;
  private limits: HeadLimits;
  private readonly writer: OriginWriter;
  private readonly heads = new ResponseHeadReader(this.leniencies);
  private readonly incoming = new IncomingBody(this.leniencies);
  private readonly deadline: Deadline;
  /** How the origin has ended its side, if it has. */
  private ended: 'orderly' | 'by reset' | null = null;
  private message: HttpMessage | null = null;
  private headTold: HeadTold | null = null;
  private sink: OriginBodySink | null = null;
  private pipe: SocketReader | null = null;
  private between = 0;
  private paused = false;
  /** Reading has stopped: a read told so, or pause(). Starting it again costs two calls into the kernel. */
  private stopped = false;

  constructor(socket: Socket, poolKey: string, owner: ConnectionOwner, limits: HeadLimits) {
    this.socket = socket;
    this.poolKey = poolKey;
    this.owner = owner;
    this.limits = limits;
    this.ends = new ConnectionEnds(socket);
    this.writer = new OriginWriter(socket, this.bytes, () => this.onGone('reset'));
    this.deadline = new Deadline(() => this.timedOut());
    socket.on('drain', () => this.onDrain?.());
    socket.on('end', () => this.onEnd());
    socket.on('error', () => this.onGone('reset'));
    socket.on('close', () => this.onGone('reset'));
  }

  /** Begins an exchange: counters at zero, `owner` answers for it from now on. */
  open(owner: ConnectionOwner, counters: ExchangeCounters, limits: HeadLimits, reused: boolean): void {
    this.owner = owner;
    this.bytes.begin(counters);
    this.limits = limits;
    this.reused = reused;
    this.state = AT.SENDING;
    this.closeAfter = false;
    this.closeReason = 'RESP_CLOSE';
    this.pooled = false;
    this.failure = null;
    this.leniencies.reset();
    this.heads.reset();
  }

  /** Closes the connection after this exchange; `reason` is for the log. */
  closeBecause(reason: CloseReason | null): void {
    this.closeAfter = true;
    this.closeReason = reason;
  }

  get isOpen(): boolean {
    return this.state !== AT.CLOSED;
  }

  /** Whether the peer just closed an idle connection: a kept one ended before anything of a response came. */
  get wasStale(): boolean {
    if (!this.reused || this.heads.bytes > 0 || this.heads.carry.length > 0) return false;
    return this.failure?.reason === 'closed-before-head';
  }

  /**
   * Sends the request head.
   * @param body how the body that follows is framed; the head must say the same
   * @returns whether it has left; else the bytes belong to the connection from now on
   */
  sendHead(bytes: Buffer, body: BodyFraming): boolean {
    this.writer.announce(bytes.length, body);
    return this.state === AT.CLOSED || this.writer.head(bytes);
  }

  /** Whether the origin has begun to answer although nobody asked yet: the rest of an upload may be moot. */
  get answered(): boolean {
    return this.state === AT.SENDING && this.heads.carry.length > 0;
  }

  /**
   * Sends body bytes, copied and framed as sendHead() was told.
   * @returns false when the caller should wait for onDrain
   */
  write(buf: Uint8Array, start: number, end: number): boolean {
    if (end === start || this.state === AT.CLOSED) return true;
    return this.writer.write(buf, start, end);
  }

  /**
   * The request body is complete; not to be called for one that was given up. A body short of its length cuts the
   * connection instead (SAFETY rule 3).
   */
  endBody(): void {
    if (this.state === AT.CLOSED || this.writer.complete) return;
    if (!this.writer.finish()) this.fail('request-body');
  }

  /**
   * Reads the final response head into `into`.
   * @param timeout seconds until it must be complete, interim responses included
   * @param told gets null when it is there, else what went wrong; perhaps before this returns
   * @param onInterim is shown interim responses; the message is `into`, which the next head overwrites
   */
  readHead(into: HttpMessage, timeout: number, told: HeadTold, onInterim: InterimTold | null = null): void {
    this.heads.onInterim = onInterim;
    if (this.failure !== null) {
      told(this.failure);
      return;
    }
    if (this.state !== AT.SENDING) throw new Error('a response head was asked for twice');
    this.state = AT.HEAD;
    this.message = into;
    this.headTold = told;
    this.deadline.start(timeout);
    const early = this.heads.take();
    if (early.length > 0) this.parse(early, 0, early.length);
    if (this.state !== AT.HEAD) return;
    if (this.ended !== null) this.fail('closed-before-head');
    else this.read();
  }

  /**
   * Reads the response's body into `sink`; the first calls may come before this returns.
   * @param timeout seconds between two reads; it does not run while paused
   */
  readBody(framing: BodyFraming, timeout: number, sink: OriginBodySink): void {
    if (framing.kind === 'error') {
      this.fail('bad-framing');
      sink.error('bad-framing');
      return;
    }
    if (this.failure !== null) {
      sink.error(this.failure.reason);
      return;
    }
    if (this.state !== AT.HELD) throw new Error('a body was asked for before its head');
    this.state = AT.BODY;
    this.sink = sink;
    this.incoming.start(framing);
    this.between = timeout;
    if (framing.kind === 'eof') this.closeAfter = true;
    const early = this.heads.take();
    if (this.incoming.done) {
      if (early.length > 0) this.closeBecause('RX_JUNK');
      this.complete();
      return;
    }
    if (early.length > 0) this.body(early, 0, early.length);
    if (this.state !== AT.BODY) return;
    if (this.ended !== null) {
      this.bodyEnded();
      return;
    }
    if (this.paused) return;
    this.deadline.start(timeout);
    this.read();
  }

  /**
   * No more exchanges: whatever comes goes to `read` from now on, and the socket is the caller's until destroy().
   * @returns what has come already; null when the connection is gone
   */
  handOver(read: SocketReader): Buffer | null {
    if (this.state === AT.CLOSED || this.ended !== null) return null;
    this.state = AT.PIPE;
    this.pipe = read;
    return this.heads.take();
  }

  /** Stops the body after the bytes of the current read, which still come. */
  pause(): void {
    if (this.paused || this.state !== AT.BODY) return;
    this.paused = true;
    this.deadline.stop();
    this.stopped = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.paused || this.state !== AT.BODY) return;
    this.paused = false;
    this.deadline.start(this.between);
    this.read();
  }

  /**
   * Ends the exchange: back to the pool after a clean end, else the connection closes.
   * @returns whether it was fit to be kept, though the origin may have ended it in good order since its answer
   */
  release(): boolean {
    this.onDrain = null;
    const clean = this.state === AT.DONE && !this.closeAfter && this.writer.complete;
    if (!clean || this.ended !== null) {
      const { owner } = this;
      this.destroy();
      if (!clean || this.ended === 'by reset') return false;
      owner.tooLate();
      return true;
    }
    this.state = AT.IDLE;
    this.pooled = true;
    this.paused = false;
    this.message = null;
    this.read();
    this.owner.keep(this);
    return true;
  }

  /** Cuts the connection. A pending head or body ends with the failure `aborted`. */
  destroy(): void {
    if (this.state !== AT.CLOSED) this.fail('aborted');
  }

  /** Bytes from the socket; the buffer is only borrowed. Returns false to stop reading. */
  receive(buf: Buffer, start: number, end: number): boolean {
    const more = this.received(buf, start, end);
    if (!more) this.stopped = true;
    return more;
  }

  private received(buf: Buffer, start: number, end: number): boolean {
    switch (this.state) {
      case AT.HEAD:
        this.parse(buf, start, end);
        return true;
      case AT.BODY:
        this.deadline.restart();
        this.body(buf, start, end);
        return !this.paused;
      case AT.SENDING:
      case AT.HELD: {
        const first = this.heads.carry.length === 0;
        this.heads.keep(buf, start, end);
        if (first) this.onDrain?.();
        return this.heads.carry.length < MAX_CARRY;
      }
      case AT.PIPE:
        return this.pipe?.(buf, start, end) ?? false;
      case AT.IDLE:
        this.fail('aborted');
        return true;
      case AT.DONE:
        this.closeBecause('RX_JUNK');
        return false;
      default:
        return true;
    }
  }

  private read(): void {
    if (!this.stopped || this.state === AT.CLOSED) return;
    this.stopped = false;
    this.socket.resume();
  }

  private parse(buf: Buffer, start: number, end: number): void {
    const got = this.heads.read(buf, start, end, this.limits, this.message as HttpMessage);
    if (got === true) this.headDone();
    else if (got !== false) this.failWith(got);
  }

  private headDone(): void {
    const message = this.message as HttpMessage;
    this.bytes.gotHead(this.heads.bytes);
    if (message.proto === 'HTTP/1.0') {
      // Chunks are not of HTTP/1.0: that their end was read right is no ground for a next answer (RFC 9112 section 6.1).
      if (!connectionHas(message, 'keep-alive') || message.has('transfer-encoding'))
        this.closeBecause('REQ_HTTP10');
    } else if (connectionHas(message, 'close')) this.closeBecause('RESP_CLOSE');
    // What it must not name stays, and such an origin is not asked again over this connection, as in Varnish.
    if (markNamed(message) !== null) this.closeBecause('RX_BAD');
    const hint = message.get('keep-alive');
    if (hint !== null && hint !== this.keepHint) {
      this.keepHint = hint;
      this.keepFor = keptFor(hint);
    }
    this.deadline.rest();
    this.state = AT.HELD;
    const told = this.headTold;
    this.headTold = null;
    told?.(null);
    this.heads.ownCarry();
  }

  private body(buf: Buffer, start: number, end: number): void {
    const { incoming } = this;
    const used = incoming.take(buf, start, end, this.deliver);
    if (this.state !== AT.BODY) return;
    if (incoming.error !== null) {
      this.fail('bad-chunk');
      return;
    }
    if (!incoming.done) return;
    // Bytes behind the end: nobody can say which request they answer.
    if (start + used < end) this.closeBecause('RX_JUNK');
    this.complete();
  }

  private readonly deliver = (buf: Uint8Array, start: number, end: number): void => {
    if (this.state !== AT.BODY) return;
    this.bytes.gotBody(end - start);
    (this.sink as OriginBodySink).data(buf as Buffer, start, end);
  };

  private complete(): void {
    this.deadline.rest();
    this.state = AT.DONE;
    const sink = this.sink as OriginBodySink;
    this.sink = null;
    sink.end();
  }

  private bodyEnded(): void {
    if (this.incoming.kind !== 'eof') this.fail('short-body');
    else if (this.ended === 'by reset') this.fail('reset');
    else this.complete();
  }

  private onEnd(): void {
    this.ended = endedByReset(this.socket) ? 'by reset' : 'orderly';
    if (this.state === AT.HEAD) this.fail('closed-before-head');
    else if (this.state === AT.BODY) this.bodyEnded();
    else if (this.state === AT.IDLE) this.fail('closed-before-head');
  }

  private onGone(reason: FetchFailure): void {
    if (this.state === AT.CLOSED) return;
    // A reset that follows a complete response takes nothing from it.
    if (this.state === AT.HELD && this.ended !== null) return;
    this.fail(this.state === AT.HEAD || this.state === AT.SENDING ? 'closed-before-head' : reason);
  }

  private timedOut(): void {
    if (this.state !== AT.HEAD) this.fail('between-bytes-timeout');
    // Where a part of a head came, the first byte is not what was late.
    else if (this.heads.carry.length > 0)
      this.failWith(new OriginFailure('first-byte-timeout', '', 'timeout'));
    else this.fail('first-byte-timeout');
  }

  private fail(reason: FetchFailure): void {
    const { incoming } = this;
    if (this.state !== AT.BODY) {
      this.failWith(new OriginFailure(reason));
      return;
    }
    const failure = bodyFailure(reason, incoming.kind, incoming.fault);
    failure.refusal = incoming.refusal;
    this.failWith(failure);
  }

  private failWith(failure: OriginFailure): void {
    if (this.state === AT.CLOSED) return;
    if (this.state === AT.HEAD) this.bytes.gotHead(this.heads.bytes + this.heads.carry.length);
    if (this.state !== AT.DONE) this.failure = failure;
    this.state = AT.CLOSED;
    this.deadline.stop();
    this.socket.destroy();
    const { headTold, sink, onDrain } = this;
    this.headTold = null;
    this.sink = null;
    this.onDrain = null;
    this.pipe = null;
    this.owner.gone(this);
    headTold?.(failure);
    sink?.error(failure.reason);
    onDrain?.();
  }
}
