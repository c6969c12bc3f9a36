// A stream of HTTP/2: the connection of one request. Its answer leaves in frames as far as the client's windows allow; what
// they do not allow stays where it is stored. DATA of the client is buffered here until it is read, at most a window of it.

import type { CloseReason } from '../../../protocol/tables/close-reasons.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Room, Writer } from '../../flow/flow.ts';
import { copyRange, type Piece } from '../../flow/piece.ts';
import type { LentBytes } from '../../http1/lent-bytes.ts';
import { copyLent, keep } from '../../http1/lent-bytes.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { CODE, type ErrorCode, FLAG, FRAME, FRAME_HEADER, putFrame } from '../../http2/frames.ts';
import { type PriorityText, parsePriority } from '../../http2/priority.ts';
import { constantRecord } from '../../log/tx-log.ts';
import { NOTHING_CAME } from '../../system-error.ts';
import type { BodyPlace, ClientSession, StreamAnswer } from '../../transaction/client-session.ts';
import { DerivedSession, type SharedSession } from '../../transaction/derived-session.ts';
import type { HotHead } from '../../transaction/hot-heads.ts';
import { refuseStream } from '../../transaction/refuse.ts';
import type { Request } from '../../transaction/request.ts';
import type { BodyCarrier, RequestBody } from '../../transaction/request-body.ts';
import type { RequestBuffers } from '../../transaction/request-buffers.ts';
import type { AnswerHeads } from './answer-heads.ts';
import type { FrameOutput } from './frame-output.ts';
import type { ReadyStreams } from './ready-streams.ts';
import { StreamPriority } from './stream-priority.ts';

/** The connection of streams. */
export interface StreamHost {
  readonly output: FrameOutput;
  readonly heads: AnswerHeads;
  readonly ready: ReadyStreams<Http2Stream>;
  /** The connection's send window; the largest frame that the client accepts. */
  sendWindow: number;
  readonly maxFrame: number;
  /** When the client last had taken ENOUGH of all streams together. */
  readonly movedAt: number;
  now(): number;
  /** Something is to be written before the turn is over. */
  scheduleFlush(): void;
  /** Bytes of a body were used: the client may send as many more. */
  credit(stream: Http2Stream, bytes: number): void;
  sendReset(stream: Http2Stream, code: ErrorCode): void;
  /** Its request is over and its answer has been written. */
  streamOver(stream: Http2Stream): void;
}

export interface StreamBegins {
  /** Windows: of the client, and ours. */
  readonly send: number;
  readonly receive: number;
  /** Whether a body follows the head. */
  readonly follows: boolean;
}

/** The last record of an answer before it is sent. */
const PROTOCOL = constantRecord(Tag.RespProtocol, 'HTTP/2.0');
const NEVER = Number.POSITIVE_INFINITY;
/** Bytes that a client takes of a large answer in idle_send_timeout where it is only slow (chosen: a frame). */
export const ENOUGH = 16 * 1024;
/** Bytes of a frame from which on they are not copied (measured: hits of 4 KiB cost the same both ways, of 8 KiB a quarter less). */
const LENT = 4096;
/** For bodyPlace(), which is asked for once an answer. */
const place: { out: Buffer; at: number } = { out: Buffer.alloc(0), at: 0 };

export class Http2Stream extends DerivedSession implements ClientSession, BodyCarrier, StreamAnswer {
  readonly id: number;
  readonly tHead: number;
  readonly stream = this;
  readonly hasBody: boolean;
  closeAfter: CloseReason | null = null;
  body: RequestBody | null = null;
  /** Of the request's buffers, which the next stream uses. */
  readonly buffers: RequestBuffers;
  req!: Request;
  /** In the list of those that may send. */
  isReady = false;
  /** The windows of this stream: for DATA to the client, and for DATA from it. */
  sendWindow: number;
  receiveWindow: number;
  /** Bytes used and not credited yet. */
  uncredited = 0;
  /** It was reset, by either side. */
  isGone = false;
  /** Declared length of the request's body; -1 without one. */
  declared = -1;
  /** The client has ended its side. */
  inputEnded: boolean;
  /** The end of its input must come before its request begins. */
  private awaitsEnd = false;
  private outputEnded = false;
  private requestOver = false;
  private readonly host: StreamHost;
  private readonly priority = new StreamPriority();
  private received = 0;
  /** DATA that has not been read yet: the first `keptBytes` of the buffer, which grows by doubling. */
  private kept: Buffer | null = null;
  private keptBytes = 0;
  /** Held; its first `sent` bytes have been written. */
  private pending: Piece | null = null;
  private sent = 0;
  private pendingEnds = false;
  private waiting: Pick<Writer, 'room'> | null = null;
  /** When the client is given up that sends nothing of a body, or takes nothing of an answer (clock seconds). */
  private receiveBy = NEVER;
  private sendBy = NEVER;
  /** When it has to take more of an answer in this time than a few bytes, and what it has taken (clock seconds, bytes). */
  private sendEnd = NEVER;
  private taken = 0;

  constructor(
    host: StreamHost,
    client: SharedSession,
    id: number,
    buffers: RequestBuffers,
    begins: StreamBegins,
  ) {
    super(client);
    this.host = host;
    this.id = id;
    this.tHead = host.now();
    this.buffers = buffers;
    this.sendWindow = begins.send;
    this.receiveWindow = begins.receive;
    this.hasBody = begins.follows;
    this.inputEnded = !begins.follows;
  }

  override get isOpen(): boolean {
    return !this.isGone && super.isOpen;
  }

  override get isSending(): boolean {
    return this.pending !== null;
  }

  get hasInput(): boolean {
    return this.kept !== null;
  }

  get inputLength(): number {
    return this.keptBytes;
  }

  // The answer.

  head(resp: HttpMessage, ends: boolean): number {
    if (!this.begins(ends)) return 0;
    this.req.log.putConstant(PROTOCOL);
    const said = resp.getAll('priority');
    if (said !== null) this.priority.answered(parsePriority(said));
    return this.host.heads.message(this.id, resp, ends);
  }

  interim(resp: HttpMessage): number {
    if (!this.begins(false)) return 0;
    return this.host.heads.message(this.id, resp, false);
  }

  hotHead(hot: HotHead, id: string, age: number, ends: boolean): number {
    if (!this.begins(ends)) return 0;
    this.req.log.putConstant(PROTOCOL);
    return this.host.heads.hot(this.id, hot, id, age, ends);
  }

  bodyPlace(length: number): BodyPlace | null {
    const { host } = this;
    if (length >= LENT || this.isGone || !this.mayWrite(length)) return null;
    const { output } = host;
    output.reserve(FRAME_HEADER + length);
    place.out = output.bytes;
    place.at = putFrame(output.bytes, output.at, length, FRAME.DATA, FLAG.END_STREAM, this.id);
    output.at = place.at + length;
    this.sendWindow -= length;
    host.sendWindow -= length;
    this.outputEnded = true;
    return place;
  }

  write(piece: Piece): Room {
    return this.send(piece, false);
  }

  end(piece: Piece): Room {
    return this.send(piece, true);
  }

  onRoom(writer: Pick<Writer, 'room'>): void {
    this.waiting = writer;
  }

  /** Whether a head may be written. */
  private begins(ends: boolean): boolean {
    if (this.isGone || this.outputEnded) return false;
    this.log.answering();
    this.host.scheduleFlush();
    if (ends) this.outputEnded = true;
    return true;
  }

  /** Whether this many bytes of a body may be copied to the next write ahead of all others. */
  private mayWrite(length: number): boolean {
    const { host } = this;
    const { output } = host;
    return (
      !output.isBlocked &&
      host.ready.count === 0 &&
      this.sendWindow >= length &&
      host.sendWindow >= length &&
      output.bodyRoom >= length
    );
  }

  private send(piece: Piece, ends: boolean): Room {
    if (this.isGone || this.outputEnded) return 'more';
    const { length } = piece;
    if (length === 0 && !ends) return 'more';
    const { host } = this;
    host.scheduleFlush();
    this.pending = piece;
    this.sent = 0;
    this.pendingEnds = ends;
    if (length === 0 || (length <= host.maxFrame && this.mayWrite(length))) {
      this.frame(length);
      this.pending = null;
      return 'more';
    }
    piece.hold();
    const now = host.now();
    this.sendBy = now + this.idleSendTimeout;
    if (this.sendEnd === NEVER) this.sendEnd = now + this.sendTimeout;
    this.taken = 0;
    if (this.sendWindow > 0) host.ready.add(this);
    return 'wait';
  }

  /** Writes one frame of what waits, as large as the windows, the client's frames and `room` bytes allow; returns its bytes. */
  sendSome(room: number): number {
    const { host, pending } = this;
    if (pending === null) return 0;
    const rest = pending.length - this.sent;
    const length = Math.min(rest, this.sendWindow, host.sendWindow, host.maxFrame, room);
    this.frame(length);
    this.tookSome(length);
    if (length === rest) {
      host.ready.remove(this);
      this.dropPending();
    } else if (this.sendWindow <= 0) host.ready.remove(this);
    else host.ready.served(this);
    return length;
  }

  /** Whoever takes anything has more time; after send_timeout that takes more than a window of one byte now and then. */
  private tookSome(bytes: number): void {
    const now = this.host.now();
    this.taken += bytes;
    if (now >= this.sendEnd && this.taken < ENOUGH) return;
    this.sendBy = now + this.idleSendTimeout;
    this.taken = 0;
  }

  /** An answer waits for its client to take more: neither for other streams nor for the kernel. */
  get lacksWindow(): boolean {
    return this.pending !== null && (this.sendWindow <= 0 || this.host.sendWindow <= 0);
  }

  /** The connection has room again: resumes the body. */
  continues(): void {
    const { waiting } = this;
    this.waiting = null;
    waiting?.room();
    this.settle();
  }

  /** Nothing waits to be written. */
  get isDrained(): boolean {
    return this.pending === null;
  }

  /** The client's window for this stream has grown or, by SETTINGS, changed by this many bytes. */
  windowBy(bytes: number): void {
    this.sendWindow += bytes;
    if (this.pending === null) return;
    if (this.sendWindow > 0) this.host.ready.add(this);
    else this.host.ready.remove(this);
  }

  get urgency(): number {
    return this.priority.current.urgency;
  }

  get isIncremental(): boolean {
    return this.priority.current.incremental;
  }

  /** The client asks for this priority from now on. */
  prioritise(text: PriorityText): void {
    const { ready } = this.host;
    const wasReady = this.isReady;
    ready.remove(this);
    this.priority.asked(text);
    if (wasReady) ready.add(this);
  }

  /** The next `length` bytes of what waits as a DATA frame. */
  private frame(length: number): void {
    const { host } = this;
    const { output } = host;
    const pending = this.pending as Piece;
    const isLast = this.pendingEnds && this.sent + length === pending.length;
    const isLent = length >= LENT;
    output.reserve(isLent ? FRAME_HEADER : FRAME_HEADER + length);
    const flags = isLast ? FLAG.END_STREAM : 0;
    output.at = putFrame(output.bytes, output.at, length, FRAME.DATA, flags, this.id);
    if (isLent) output.lend(pending, this.sent, length);
    else {
      copyRange(pending, this.sent, length, output.bytes, output.at);
      output.at += length;
    }
    this.sent += length;
    this.sendWindow -= length;
    host.sendWindow -= length;
    if (isLast) this.outputEnded = true;
  }

  private dropPending(): void {
    this.pending?.release();
    this.pending = null;
    this.sendBy = NEVER;
  }

  // The request's body.

  /** DATA of the client; false when it is more or, at its end, less than was declared. */
  data(buf: LentBytes, start: number, end: number, isLast: boolean): boolean {
    const length = end - start;
    this.received += length;
    if (this.declared >= 0 && (this.received > this.declared || (isLast && this.received < this.declared)))
      return false;
    if (isLast) this.inputEnded = true;
    if (length === 0) this.bodyGoesOn();
    else if (this.requestOver) this.host.credit(this, length);
    else if (this.kept === null && this.body?.wantsData === true) this.feed(buf, start, end);
    else this.keep(buf, start, end);
    return true;
  }

  /** Its request begins when its input has ended. */
  awaitEnd(): void {
    this.awaitsEnd = true;
    this.receiveBy = this.host.now() + this.timeoutIdle;
  }

  /** Asked once its input has ended: whether its request begins now. */
  endsWait(): boolean {
    const { awaitsEnd } = this;
    this.awaitsEnd = false;
    if (awaitsEnd) this.receiveBy = NEVER;
    return awaitsEnd;
  }

  bodyBegins(): void {
    this.req.bodyBegins();
  }

  bodyWanted(): void {
    if (!this.isOpen) {
      this.body?.fail('closed');
      return;
    }
    this.receiveBy = this.host.now() + this.timeoutIdle;
    const { kept, keptBytes } = this;
    this.forgetKept();
    if (kept !== null) this.feed(kept, 0, keptBytes);
    else if (this.inputEnded) this.bodyGoesOn();
    else this.req.askForBody();
  }

  bodySettled(): void {
    this.receiveBy = NEVER;
    this.req.bodySettled();
  }

  private feed(buf: LentBytes, start: number, end: number): void {
    const body = this.body as RequestBody;
    this.receiveBy = this.host.now() + this.timeoutIdle;
    let at = start;
    while (at < end && body.wantsData) {
      const used = body.feed(buf, at, end);
      at += used;
      if (used === 0) break;
    }
    this.host.credit(this, at - start);
    if (at < end && !this.requestOver) this.keep(buf, at, end);
    this.bodyGoesOn();
  }

  private bodyGoesOn(): void {
    if (this.inputEnded && this.kept === null && this.body?.wantsData === true) this.body.ended();
  }

  private keep(buf: LentBytes, start: number, end: number): void {
    const { kept, keptBytes } = this;
    this.keptBytes += end - start;
    if (kept === null) {
      this.kept = keep(buf, start, end);
      return;
    }
    if (this.keptBytes > kept.length) {
      this.kept = Buffer.allocUnsafeSlow(Math.max(this.keptBytes, kept.length * 2));
      kept.copy(this.kept, 0, 0, keptBytes);
    }
    copyLent(buf, start, end, this.kept as Buffer, keptBytes);
  }

  private forgetKept(): void {
    this.kept = null;
    this.keptBytes = 0;
  }

  // Ends.

  /** Called by the sweep. */
  checkTimeout(now: number): void {
    if (now >= this.receiveBy) {
      if (this.awaitsEnd) this.breakOff(CODE.CANCEL);
      else if (this.body?.paused === true) this.receiveBy = now + this.timeoutIdle;
      else {
        this.receiveBy = NEVER;
        this.body?.fail('timeout', NOTHING_CAME);
      }
    }
    if (now < this.sendBy) return;
    const { host } = this;
    const isStuck = host.sendWindow <= 0 && now - host.movedAt >= this.idleSendTimeout;
    if (this.sendWindow <= 0 || isStuck) this.breakOff(CODE.CANCEL);
    // Others are in front of it, or the connection is slow, which has a limit of its own.
    else this.sendBy = now + this.idleSendTimeout;
  }

  /** Resets it from this side, and ends its request. */
  breakOff(code: ErrorCode): void {
    if (this.isGone) return;
    this.host.sendReset(this, code);
    this.left();
  }

  /** The client has reset it, or has gone. */
  left(): void {
    this.gone();
    if (this.requestOver) {
      this.settle();
      return;
    }
    if (this.awaitsEnd) {
      this.awaitsEnd = false;
      this.receiveBy = NEVER;
      refuseStream(this.req, 'length_zero', '');
      this.requestDone();
      return;
    }
    this.body?.fail('closed');
    if (!this.req.ended) this.req.abort();
  }

  /** An answer that was begun cannot be completed; its request still runs to its end. */
  cut(): void {
    if (this.isGone) return;
    this.host.sendReset(this, CODE.INTERNAL_ERROR);
    this.gone();
  }

  reset(): void {
    this.cut();
  }

  /** The request was refused, and answered. */
  close(): void {
    this.requestDone();
  }

  requestDone(): void {
    this.requestOver = true;
    this.body = null;
    this.forgetKept();
    this.settle();
  }

  startPipe(): void {}

  interruptPipe(): void {}

  pipeEnded(): void {}

  private gone(): void {
    this.isGone = true;
    this.forgetKept();
    this.host.ready.remove(this);
    this.dropPending();
    this.waiting = null;
  }

  private settle(): void {
    if (!this.requestOver || this.pending !== null) return;
    if (!this.isGone) {
      if (!this.outputEnded) this.host.sendReset(this, CODE.INTERNAL_ERROR);
      // The answer is whole without the rest of the request (RFC 9113 section 8.1).
      else if (!this.inputEnded) this.host.sendReset(this, CODE.NO_ERROR);
    }
    this.host.streamOver(this);
  }
}
