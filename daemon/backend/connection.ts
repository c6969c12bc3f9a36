// One connection to an origin, with one exchange at a time: send a head and a body, read a head (past 1xx) and a body,
// then return to the pool or close; or become one side of a pipe. It knows nothing of caching or logging.
//
// Reads land in one buffer that all connections of a worker share, so bytes are passed on before receive() returns or
// copied into `carry`. Special case: a response that arrives before it is read (an early answer to an upload) is kept
// and reading stops; bytes after the end of a response make the connection unusable (SAFETY rule 5).

import type { Socket } from 'node:net';
import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { ByteTurns, InTurn } from '../flow/byte-turns.ts';
import { DISCARD, type Room, type Sink, type Writer } from '../flow/flow.ts';
import { type AnyPiece, LentPiece, NOTHING, type Piece } from '../flow/piece.ts';
import type { BodyFraming } from '../http1/framing.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import { connectionHas, markNamed } from '../http1/hop-by-hop.ts';
import { Leniencies } from '../http1/leniency.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import {
  errorAtEnd,
  NO_ERROR,
  RESET,
  type SystemError,
  socketDescriptor,
  systemError,
} from '../system-error.ts';
import { ConnectionEnds } from './address.ts';
import { IncomingBody } from './body-frame.ts';
import { Deadline } from './deadline.ts';
import { ExchangeAccount } from './exchange-account.ts';
import type { ExchangeCounters, HeadCallback, InterimCallback, OwnerOf } from './exchange-roles.ts';
import { AT, type ExchangeState } from './exchange-states.ts';
import { ResponseHeadReader } from './head-reader.ts';
import { onLastBytes } from './last-bytes.ts';
import { bodyFailure, OriginFailure, uploadFailure } from './origin-failure.ts';
import type { OriginTls } from './origin-tls.ts';
import { OriginWriter } from './origin-writer.ts';
import type { PiecePacer } from './piece-pacer.ts';
import { CUT, isTlsError, tlsError } from './tls-failures.ts';

/** Bytes kept of a response before readHead(); reading stops there. Chosen: room for a usual head. */
const MAX_CARRY = 64 * 1024;

/** Reads of this size or more, as those of large bodies, wait for their turn (chosen). */
const LARGE_READ = 32 * 1024;

/** Milliseconds for which `Keep-Alive: timeout=5` can be relied on: a request in the last second may be too late. */
function keptFor(hint: string): number {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?![^\s,])/i.exec(hint)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(seconds) - 1) * 1000;
}

export type ConnectionOwner = OwnerOf<OriginConnection>;

export class OriginConnection implements Writer, InTurn {
  readonly socket: Socket;
  /** Key of the pool it belongs to. */
  readonly poolKey: string;
  readonly ends: ConnectionEnds;
  /** Null without TLS. */
  readonly tls: OriginTls | null;
  /** Whether it has served an earlier exchange. */
  reused = false;
  /** When it was made (epoch seconds), and how often it was taken from the pool. */
  private readonly madeAt = Date.now() / 1000;
  private reuses = 0;
  /** Bytes of this exchange. */
  readonly bytes = new ExchangeAccount();
  /**
   * Called when bytes after a `wait` of write() have been sent, and when waiting has become pointless: the connection
   * broke, or the response arrived before the body was sent (see `answered`).
   */
  onDrain: (() => void) | null = null;
  /** Set to close the connection after this exchange; closeReason then says why. */
  closeAfter = false;
  /** Reason in BackendClose when release() closes a connection that did not break; null unless the peer caused it. */
  closeReason: CloseReason | null = 'RESP_CLOSE';
  failure: OriginFailure | null = null;
  /** The old forms accepted in this exchange's response. */
  readonly leniencies = new Leniencies();
  /** Whether it is idle in the pool, and since when (milliseconds of performance.now). */
  pooled = false;
  idleSince = 0;
  /** Milliseconds of idle time after which the origin may close, from its Keep-Alive. */
  keepFor = Number.POSITIVE_INFINITY;
  /** The last value of Keep-Alive: an origin sends the same each time. */
  private keepHint = '';

  private state: ExchangeState = AT.SENDING;
  private owner: ConnectionOwner;
  private limits: HeadLimits;
  private readonly writer: OriginWriter;
  private readonly heads = new ResponseHeadReader(this.leniencies);
  private readonly incoming = new IncomingBody(this.leniencies);
  private readonly deadline: Deadline;
  /** How the origin closed its side: NO_ERROR for an orderly close; null while it is open. */
  private ended: SystemError | null = null;
  private message: HttpMessage | null = null;
  private onHead: HeadCallback | null = null;
  private sink: Sink<AnyPiece> | null = null;
  /** Timeout for the first byte of the final head in seconds, and its start (milliseconds of performance.now). */
  private firstByte = 0;
  private askedAt = 0;
  /** Most seconds between two reads within a head or a body. */
  private betweenBytes = 0;
  private paused = false;
  private readonly readTurns: ByteTurns;
  /** Whether it waits for its turn to read. */
  private waitsForTurn = false;
  /** Its turn has been accounted for, and the read that it is for has not come. */
  private isAccounted = false;
  /** Reading was stopped by a read callback or pause(). Restarting costs two system calls. */
  private stopped = false;

  constructor(
    socket: Socket,
    poolKey: string,
    owner: ConnectionOwner,
    limits: HeadLimits,
    pacer: PiecePacer,
    readTurns: ByteTurns,
    tls: OriginTls | null = null,
  ) {
    this.readTurns = readTurns;
    this.socket = socket;
    this.tls = tls;
    this.poolKey = poolKey;
    this.owner = owner;
    this.limits = limits;
    this.ends = new ConnectionEnds(socket);
    this.writer = new OriginWriter(socket, this.bytes, pacer, (error) => this.onGone(this.errorOf(error)));
    this.deadline = new Deadline(() => this.timedOut());
    socket.on('drain', () => this.onDrain?.());
    socket.on('end', () => this.onEnd());
    socket.on('error', (error) => this.onGone(this.errorOf(error)));
    socket.on('close', () => this.onGone(RESET));
    // Under TLS those bytes are not the origin's words.
    if (tls !== null) return;
    onLastBytes(socket, MAX_CARRY, (bytes) => {
      if (this.state === AT.SENDING || this.state === AT.HEAD) this.receive(bytes, 0, bytes.length);
    });
  }

  /** Seconds since the connection was made, and how often it was used again. @param now epoch seconds */
  ageText(now: number): string {
    return `${Math.max(0, now - this.madeAt).toFixed(6)} ${this.reuses}`;
  }

  /** Begins an exchange with fresh byte counts, on behalf of `owner`. */
  open(owner: ConnectionOwner, counters: ExchangeCounters, limits: HeadLimits, reused: boolean): void {
    if (reused) this.reuses++;
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

  /** Closes the connection after this exchange; `reason` is logged. */
  closeBecause(reason: CloseReason | null): void {
    this.closeAfter = true;
    this.closeReason = reason;
  }

  get isOpen(): boolean {
    return this.state !== AT.CLOSED;
  }

  /** Whether the peer merely closed an idle connection: a reused one ended before any byte of a response. */
  get wasStale(): boolean {
    if (!this.reused || this.heads.bytes > 0 || this.heads.carry.length > 0) return false;
    const reason = this.failure?.reason;
    return reason === 'closed-before-head' || reason === 'send-failed';
  }

  /**
   * Sends the request head.
   * @param head as one piece
   * @param body framing of the body that follows; must match the head
   */
  sendHead(head: Piece, body: BodyFraming): void {
    this.writer.announce(head.length, body);
    if (this.state !== AT.CLOSED) this.writer.head(head);
  }

  /** Whether the origin has begun to respond early: the rest of an upload may be pointless. */
  get answered(): boolean {
    return this.state === AT.SENDING && this.heads.carry.length > 0;
  }

  /** Sends body bytes, copied and framed as announced to sendHead(). After `wait`, onDrain is called. */
  write({ parts }: AnyPiece): Room {
    let room: Room = 'more';
    for (const part of parts) if (part.length > 0 && this.state !== AT.CLOSED) room = this.writer.write(part);
    return room;
  }

  /**
   * Ends the request body; not for one that was aborted. A body shorter than its length closes the connection instead
   * (SAFETY rule 3).
   */
  endBody(): void {
    if (this.state === AT.CLOSED || this.writer.complete) return;
    if (!this.writer.finish()) this.fail('request-body');
  }

  /**
   * Reads the final response head into `into`. The size limit of heads also ends one that arrives slowly (SAFETY rule
   * 9).
   * @param firstByte seconds until it must begin, interim responses included
   * @param betweenBytes most seconds between two reads of a head that has begun, and of the body after it
   * @param onHead gets null when the head is complete, else the failure; may be called before this returns
   * @param onInterim gets interim responses; the message is `into`, which the next head overwrites
   */
  readHead(
    into: HttpMessage,
    firstByte: number,
    betweenBytes: number,
    onHead: HeadCallback,
    onInterim: InterimCallback | null = null,
  ): void {
    this.heads.onInterim = onInterim;
    if (this.failure !== null) {
      onHead(this.failure);
      return;
    }
    if (this.state !== AT.SENDING) throw new Error('a response head was asked for twice');
    this.state = AT.HEAD;
    this.message = into;
    this.onHead = onHead;
    this.firstByte = firstByte;
    this.betweenBytes = betweenBytes;
    this.askedAt = performance.now();
    const early = this.heads.take();
    if (early.length > 0) this.parse(early, 0, early.length);
    else this.deadline.start(firstByte);
    if (this.state !== AT.HEAD) return;
    if (this.ended !== null) this.fail('closed-before-head');
    else this.read();
  }

  /** Writes the response's body to `sink`, possibly some of it before this returns. The timeout is suspended while the
   * sink has no room. After stop() the rest is discarded. */
  readBody(framing: BodyFraming, sink: Sink<AnyPiece>): void {
    sink.connect(this);
    if (framing.kind === 'error') {
      this.fail('bad-framing');
      sink.abort('bad-framing');
      return;
    }
    if (this.failure !== null) {
      sink.abort(this.failure.reason);
      return;
    }
    if (this.state !== AT.HELD) throw new Error('a body was asked for before its head');
    this.state = AT.BODY;
    this.sink = sink;
    this.incoming.start(framing);
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
    this.deadline.start(this.betweenBytes);
    this.read();
  }

  /**
   * Ends exchanges: all further bytes go to `sink`, and the socket belongs to the caller until destroy(). The caller
   * resumes it.
   * @returns the sink's room after the bytes received so far; null when the connection is closed
   */
  handOver(sink: Sink<AnyPiece>): Room | null {
    if (this.state === AT.CLOSED || this.ended !== null) return null;
    this.state = AT.PIPE;
    this.sink = sink;
    sink.connect(this);
    const early = this.heads.take();
    return early.length === 0 ? 'more' : sink.write(new LentPiece(early, 0, early.length));
  }

  room(): void {
    if (this.state === AT.PIPE) this.socket.resume();
    else this.resume();
  }

  stop(): void {
    if (this.sink !== null) this.sink = DISCARD;
  }

  /** Pauses the body after the bytes of the current read. */
  private pause(): void {
    if (this.paused || this.state !== AT.BODY) return;
    this.paused = true;
    this.deadline.stop();
    this.stopped = true;
    this.socket.pause();
  }

  private resume(): void {
    if (!this.paused || this.state !== AT.BODY) return;
    this.paused = false;
    this.deadline.start(this.betweenBytes);
    this.read();
  }

  /**
   * Ends the exchange: returns the connection to the pool after a clean end, and closes it otherwise.
   * @returns whether the exchange ended cleanly, even if the origin has closed the connection since
   */
  release(): boolean {
    this.onDrain = null;
    const clean = this.state === AT.DONE && !this.closeAfter && this.writer.complete;
    if (!clean || this.ended !== null) {
      const { owner } = this;
      this.destroy();
      if (!clean) return false;
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

  /** Closes the connection. A pending head or body fails with `aborted`. */
  destroy(): void {
    if (this.state !== AT.CLOSED) this.fail('aborted');
  }

  /** Takes bytes from the socket; they are lent. Returns false to stop reading. */
  receive(buf: LentBytes, start: number, end: number): boolean {
    const more = this.received(buf, start, end);
    if (!more) this.stopped = true;
    return more;
  }

  private received(buf: LentBytes, start: number, end: number): boolean {
    switch (this.state) {
      case AT.HEAD:
        this.parse(buf, start, end);
        return true;
      case AT.BODY:
        this.deadline.restart();
        this.body(buf, start, end);
        return !this.paused && (end - start < LARGE_READ || this.mayReadOn(end - start));
      case AT.SENDING:
      case AT.HELD: {
        const first = this.heads.carry.length === 0;
        this.heads.keep(buf, start, end);
        if (first) this.onDrain?.();
        return this.heads.carry.length < MAX_CARRY;
      }
      case AT.PIPE:
        return this.sink?.write(new LentPiece(buf, start, end)) === 'more';
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

  /** Whether this turn has time for another read of a large body; else its turn comes later. */
  private mayReadOn(bytes: number): boolean {
    const { readTurns } = this;
    if (this.isAccounted) this.isAccounted = false;
    else readTurns.spent(bytes);
    if (this.state !== AT.BODY || readTurns.enter(this)) return true;
    this.waitsForTurn = true;
    return false;
  }

  turn(): void {
    this.waitsForTurn = false;
    if (this.paused || this.state === AT.CLOSED) return;
    this.isAccounted = true;
    this.readTurns.spent(LARGE_READ);
    this.read();
  }

  private read(): void {
    if (!this.stopped || this.waitsForTurn || this.state === AT.CLOSED) return;
    this.stopped = false;
    this.socket.resume();
  }

  private parse(buf: LentBytes, start: number, end: number): void {
    const got = this.heads.read(buf, start, end, this.limits, this.message as HttpMessage);
    if (got === true) this.headDone();
    else if (got !== false) this.failWith(got);
    else this.awaitMore();
  }

  /** Within a head the time between bytes applies; after an interim one the time for the first byte continues. */
  private awaitMore(): void {
    const { firstByte, heads, deadline } = this;
    if (heads.carry.length > 0) deadline.start(this.betweenBytes);
    else if (firstByte < 0) deadline.stop();
    else deadline.start(Math.max(0, firstByte - (performance.now() - this.askedAt) / 1000));
  }

  private headDone(): void {
    const message = this.message as HttpMessage;
    this.bytes.gotHead(this.heads.bytes);
    if (message.proto === 'HTTP/1.0') {
      // HTTP/1.0 has no chunks: a correct end of chunks is no reason to expect another response (RFC 9112 section 6.1).
      if (!connectionHas(message, 'keep-alive') || message.has('transfer-encoding'))
        this.closeBecause('REQ_HTTP10');
    } else if (connectionHas(message, 'close')) this.closeBecause('RESP_CLOSE');
    // A header that Connection must not name is kept, and the connection is not reused, as in Varnish.
    if (markNamed(message) !== null) this.closeBecause('RX_BAD');
    const hint = message.get('keep-alive');
    if (hint !== null && hint !== this.keepHint) {
      this.keepHint = hint;
      this.keepFor = keptFor(hint);
    }
    this.deadline.rest();
    this.state = AT.HELD;
    const onHead = this.onHead;
    this.onHead = null;
    onHead?.(null);
    this.heads.ownCarry();
  }

  private body(buf: LentBytes, start: number, end: number): void {
    const { incoming } = this;
    const used = incoming.take(buf, start, end, this.deliver);
    if (this.state !== AT.BODY) return;
    if (incoming.error !== null) {
      this.fail('bad-chunk');
      return;
    }
    if (!incoming.done) return;
    // Bytes after the end: it is unknown which request they belong to.
    if (start + used < end) this.closeBecause('RX_JUNK');
    this.complete(incoming.kind === 'length' ? new LentPiece(buf, start, start + used) : NOTHING);
  }

  private readonly deliver = (buf: LentBytes, start: number, end: number, pieces: number): void => {
    if (this.state !== AT.BODY) return;
    this.bytes.gotBody(end - start, pieces);
    // complete() writes the last bytes of a body of known length.
    if (this.incoming.done) return;
    if ((this.sink as Sink<AnyPiece>).write(new LentPiece(buf, start, end)) === 'wait') this.pause();
  };

  private complete(last: AnyPiece = NOTHING): void {
    this.deadline.rest();
    this.state = AT.DONE;
    const sink = this.sink as Sink<AnyPiece>;
    this.sink = null;
    sink.end(last);
  }

  /** How the origin closed its side, once it has: NO_ERROR for an orderly close. */
  get endError(): SystemError {
    return this.ended ?? NO_ERROR;
  }

  private errorOf(error: NodeJS.ErrnoException): SystemError {
    return this.tls !== null && isTlsError(error) ? tlsError(error) : systemError(error);
  }

  private bodyEnded(): void {
    const { kind } = this.incoming;
    // A length or the last chunk says more than close_notify, which many servers omit.
    if (this.ended !== NO_ERROR && (kind === 'eof' || this.ended !== CUT)) this.fail('reset');
    else if (kind !== 'eof') this.fail('short-body');
    else this.complete();
  }

  private onEnd(): void {
    // The kernel reports its error once.
    this.ended = this.tls === null ? errorAtEnd(socketDescriptor(this.socket)) : this.tls.endError;
    if (this.state === AT.HEAD) this.fail('closed-before-head');
    else if (this.state === AT.BODY) this.bodyEnded();
    else if (this.state === AT.IDLE) this.fail('closed-before-head');
  }

  private onGone(error: SystemError): void {
    if (this.state === AT.CLOSED) return;
    this.ended ??= error;
    if (error.words !== undefined && this.isAwaiting) {
      // As with TLS 1.3 a refused client certificate: the handshake is complete by then.
      this.failWith(new OriginFailure('tls', '', error.words));
      return;
    }
    switch (this.state) {
      case AT.HELD:
      case AT.DONE:
        // The response so far is still valid, and may be complete.
        return;
      case AT.SENDING:
        if (this.answered) return;
        if (this.writer.complete) this.fail('closed-before-head');
        else this.failWith(uploadFailure('send-failed', error));
        return;
      case AT.HEAD:
        this.fail('closed-before-head');
        return;
      default:
        this.fail('reset');
    }
  }

  /** Whether no byte of an answer has come yet. */
  private get isAwaiting(): boolean {
    const isOpen = this.state === AT.SENDING || this.state === AT.HEAD;
    return isOpen && this.heads.bytes === 0 && this.heads.carry.length === 0;
  }

  private timedOut(): void {
    if (this.state !== AT.HEAD) this.fail('between-bytes-timeout');
    // Part of the head has arrived: the first byte was not late.
    else if (this.heads.carry.length > 0)
      this.failWith(new OriginFailure('between-bytes-timeout', '', 'timeout'));
    else this.fail('first-byte-timeout');
  }

  private fail(reason: FetchFailure): void {
    const { incoming } = this;
    if (this.state !== AT.BODY) {
      this.failWith(new OriginFailure(reason));
      return;
    }
    const failure = bodyFailure(reason, incoming.kind, incoming.fault, this.ended ?? NO_ERROR);
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
    const { onHead, sink, onDrain } = this;
    this.onHead = null;
    this.sink = null;
    this.onDrain = null;
    this.owner.gone(this);
    onHead?.(failure);
    sink?.abort(failure.reason);
    onDrain?.();
  }
}
