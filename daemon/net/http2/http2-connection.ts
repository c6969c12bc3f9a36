// A connection of HTTP/2 over time: the bytes that come, what leaves in one write a turn (frame-output.ts), the most urgent first
// (ready-streams.ts), and the ways in which it ends.

import { keep, type LentBytes } from '../../http1/lent-bytes.ts';
import { CODE, FRAME, MAX_31, PREFACE } from '../../http2/frames.ts';
import { FrameReader } from './frame-reader.ts';
import type { Http2Owner } from './http2-control.ts';
import { ENOUGH, type Http2Stream } from './http2-stream.ts';
import { Http2Streams } from './http2-streams.ts';

/** Writes of a connection in a turn. */
const A_TURN = 2;
/** Heads and control frames that wait for a client that reads nothing, before nothing more is read of it. */
const MOST_BACKLOG = 256 * 1024;
/** Seconds in which a client learns that its connection is to end, before its new streams are refused. */
const NOTICE = 1;
const NEVER = Number.POSITIVE_INFINITY;
/** Echoed by the client. */
const OUR_PING: Buffer = Buffer.from('shutdown', 'latin1');

export class Http2Connection extends Http2Streams {
  movedAt: number;
  private readonly reader: FrameReader;
  /** Bytes of the preface that have come. */
  private prefaced: number;
  /** Input in `rest` is parsed in a later turn, or when there is room. */
  private waits = false;
  private rest: Buffer | null = null;
  private scheduled = false;
  private drained: Http2Stream[] = [];
  /** When one is given up of which every answer waits for a window; when one that is shutting down refuses streams. */
  private bankruptBy = NEVER;
  private refusesFrom = NEVER;
  /** Bytes sent since `movedAt`. */
  private moved = 0;

  /** @param prefaced bytes of the preface that have been read already */
  constructor(owner: Http2Owner, prefaced: number) {
    super(owner);
    const { params, clock, stats } = this.core;
    this.prefaced = prefaced;
    this.reader = new FrameReader(this, params.h2_max_frame_size);
    this.movedAt = clock.now();
    stats.h2_sess++;
    this.sendSettings();
  }

  get takesFrames(): boolean {
    return !this.isOver && !this.waits;
  }

  // Bytes of the client.

  receive(buf: LentBytes, start: number, end: number): void {
    if (this.isOver) return;
    if (this.rest !== null || this.waits) {
      this.put(buf, start, end);
    } else if (!this.core.turns.mayContinue()) {
      // Many connections at once would have a request each in this turn.
      this.put(buf, start, end);
      this.giveWay();
    } else this.read(buf, start, end);
  }

  private read(buf: LentBytes, start: number, end: number): void {
    let at = start;
    if (this.prefaced < PREFACE.length) at = this.readPreface(buf, start, end);
    if (at < end) at = this.reader.read(buf, at, end);
    if (at < end && !this.isOver) this.put(buf, at, end);
    this.flush();
  }

  private readPreface(buf: LentBytes, start: number, end: number): number {
    let at = start;
    while (this.prefaced < PREFACE.length && at < end) {
      if (buf[at] !== PREFACE[this.prefaced]) {
        this.fail(CODE.PROTOCOL_ERROR, 'the preface of the client is another');
        return end;
      }
      this.prefaced++;
      at++;
    }
    return at;
  }

  /** Puts bytes aside that are not read in this turn. */
  private put(buf: LentBytes, start: number, end: number): void {
    const fresh = keep(buf, start, end);
    this.rest = this.rest === null ? fresh : Buffer.concat([this.rest, fresh]);
    this.owner.pauseReading();
  }

  protected requestBegun(): void {
    const { turns } = this.core;
    turns.tookLong();
    if (!turns.mayContinue() || this.output.backlog > MOST_BACKLOG) this.giveWay();
  }

  /** Nothing more is read in this turn: others have theirs. */
  private giveWay(): void {
    if (this.waits) return;
    this.waits = true;
    this.owner.pauseReading();
    this.core.turns.later(() => this.goOn());
  }

  private goOn(): void {
    // While the kernel takes nothing, nothing is read that would add to what waits.
    if (this.isOver || this.output.backlog > MOST_BACKLOG) return;
    this.waits = false;
    const { rest } = this;
    this.rest = null;
    this.owner.resumeReading();
    if (rest !== null) this.read(rest, 0, rest.length);
    if (this.owner.hasEnded) this.inputEnded();
  }

  /** The client sends no more; what it has asked for is answered all the same. */
  inputEnded(): void {
    if (this.isOver || this.waits) return;
    this.isLeaving = true;
    for (const stream of [...this.streams.values()]) if (!stream.inputEnded) stream.left();
    this.flush();
    this.endIfIdle();
  }

  // Output.

  scheduleFlush(): void {
    if (this.scheduled || this.isOver) return;
    this.scheduled = true;
    this.core.later(() => this.flush());
  }

  /** Sends what is ready, as far as windows, the kernel and the turn allow. */
  protected flush(): void {
    this.scheduled = false;
    if (this.isOver) return;
    const { output, ready } = this;
    for (let i = 0; i < A_TURN && !output.isBlocked; i++) {
      this.fill();
      if (output.backlog === 0) break;
      output.flush();
    }
    if (ready.count > 0 && this.sendWindow > 0 && !output.isBlocked) this.scheduleFlush();
    const { drained } = this;
    if (drained.length === 0) return;
    this.drained = [];
    for (const stream of drained) stream.continues();
  }

  /** Adds frames of bodies to the next write. */
  private fill(): void {
    const { output, ready } = this;
    let total = 0;
    while (this.sendWindow > 0) {
      const stream = ready.first();
      const room = output.bodyRoom;
      if (stream === null || room === 0) break;
      total += stream.sendSome(room);
      if (stream.isDrained) this.drained.push(stream);
    }
    if (total > 0) this.hasMoved(total);
  }

  private hasMoved(bytes: number): void {
    this.patience.earn(bytes);
    this.bankruptBy = NEVER;
    this.moved += bytes;
    if (this.moved < ENOUGH) return;
    this.moved = 0;
    this.movedAt = this.now();
  }

  protected roomAgain(): void {
    if (this.isOver) return;
    // First what waits, or there would be no room yet for more.
    this.flush();
    if (this.waits) this.goOn();
    if (this.running > 0) return;
    this.idleBy = this.now() + this.owner.timeoutIdle;
    this.endIfIdle();
  }

  // Ends.

  /** Called by the sweep. */
  checkTimeout(now: number): void {
    if (this.isOver) return;
    if (this.isBankrupt(now)) {
      this.fail(CODE.ENHANCE_YOUR_CALM, 'no answer has a window', 'BANKRUPT');
      return;
    }
    for (const stream of [...this.streams.values()]) stream.checkTimeout(now);
    if (now >= this.blockBy) {
      this.end(CODE.NO_ERROR, 'RX_TIMEOUT');
      return;
    }
    if (now >= this.refusesFrom) this.refuseMore();
    if (this.running === 0 && now >= this.idleBy && !this.output.isBlocked)
      this.end(CODE.NO_ERROR, 'RX_CLOSE_IDLE');
  }

  /** Every answer has waited for a window for h2_window_timeout: one that waits for an origin still may find one. */
  private isBankrupt(now: number): boolean {
    if (this.running === 0) return false;
    for (const stream of this.streams.values()) {
      if (stream.lacksWindow) continue;
      this.bankruptBy = NEVER;
      return false;
    }
    if (this.bankruptBy === NEVER) this.bankruptBy = now + this.core.params.h2_window_timeout;
    return now >= this.bankruptBy;
  }

  /** The worker ends: sends GOAWAY, and finishes the streams that are open (RFC 9113 section 6.8). */
  shutdown(): void {
    if (this.isOver || this.refusesFrom !== NEVER) return;
    this.sendGoaway(MAX_31, CODE.NO_ERROR);
    this.sendControl(FRAME.PING, 0, 0, OUR_PING);
    this.refusesFrom = this.now() + NOTICE;
    this.flush();
  }

  /** The client has read our first GOAWAY. */
  protected pingAnswered(): void {
    if (this.refusesFrom !== NEVER) this.refuseMore();
  }

  private refuseMore(): void {
    if (this.hasSaidLast) return;
    this.refusesFrom = NEVER;
    this.lastServed = this.lastStream;
    this.core.stats.h2_goaway_graceful++;
    this.isLeaving = true;
    this.sendGoaway(this.lastStream, CODE.NO_ERROR);
    this.endIfIdle();
  }

  protected endIfIdle(): void {
    // Bytes that the kernel has not taken are part of an answer.
    if (!this.isLeaving || this.running > 0 || this.isOver || this.output.isBlocked) return;
    this.end(CODE.NO_ERROR, this.hasSaidLast ? 'RESP_CLOSE' : 'REM_CLOSE');
  }

  /** The connection is gone. */
  lost(): void {
    this.isOver = true;
    this.leaveAll();
    this.output.drop();
  }
}
