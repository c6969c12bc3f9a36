// A connection of HTTP/2 as far as it is not about single requests (RFC 9113 sections 5.4, 6): frames and their lengths,
// settings, windows of the whole connection, pings, floods, errors, and how it ends. The streams are in connection.ts.
//
// Caution: any error ends the connection at once: what is still to be done asks `isOver`.

import type { CloseReason } from '../../../protocol/tables/close-reasons.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { LentBytes } from '../../http1/lent-bytes.ts';
import { A_SETTING, ClientSettings } from '../../http2/client-settings.ts';
import {
  CODE,
  codeName,
  type ErrorCode,
  FIRST_FRAME_SIZE,
  FIRST_WINDOW,
  FLAG,
  FRAME,
  FRAME_HEADER,
  frameName,
  MAX_31,
  put32,
  putFrame,
  read31,
  SETTING,
} from '../../http2/frames.ts';
import { Patience } from '../../http2/patience.ts';
import type { MainCounters } from '../../stats/counter-fields.ts';
import type { Core } from '../../transaction/core.ts';
import type { SharedSession } from '../../transaction/derived-session.ts';
import type { RequestMachine } from '../../transaction/request.ts';
import { AnswerHeads } from './answer-heads.ts';
import { FrameOutput, type OutputWire } from './frame-output.ts';
import type { FrameUser } from './frame-reader.ts';

/** The session that a connection belongs to. */
export interface Http2Owner extends SharedSession, OutputWire {
  readonly core: Core;
  readonly requests: RequestMachine;
  /** The client has ended its side. */
  readonly hasEnded: boolean;
  close(reason: CloseReason, isAllRead?: boolean): void;
  pauseReading(): void;
  resumeReading(): void;
  /** The last request of a connection that was lost is over. */
  http2Over(): void;
}

/** Largest frame to a client, whatever it accepts: other streams wait for its end. */
const MOST_OF_A_FRAME = 32 * 1024;
/** RFC 7541's table until SETTINGS change its size. */
const FIRST_TABLE = 4096;
const NOTHING = Buffer.alloc(0);

export abstract class Http2Control implements FrameUser {
  readonly output: FrameOutput;
  readonly heads: AnswerHeads;
  sendWindow = FIRST_WINDOW;
  /** Bytes of DATA that one frame may have. */
  maxFrame = FIRST_FRAME_SIZE;
  protected readonly owner: Http2Owner;
  protected readonly core: Core;
  protected readonly settings = new ClientSettings();
  protected readonly patience: Patience;
  protected receiveWindow = FIRST_WINDOW;
  /** The client's last stream. */
  protected lastStream = 0;
  /** The client has sent GOAWAY. */
  private hasLeft = false;
  protected isOver = false;
  /** The client has sent GOAWAY. */
  protected isLeaving = false;
  /** The client's SETTINGS have come. */
  private settled = false;
  /** Frames, and bytes that belong to no request, both ways: for the accounts of the session. */
  private readonly counts = { framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0 };

  constructor(owner: Http2Owner) {
    const { core } = owner;
    this.owner = owner;
    this.core = core;
    this.output = new FrameOutput(
      owner,
      () => this.roomAgain(),
      (parts) => this.sent(parts),
    );
    this.heads = new AnswerHeads(core, this.output, FIRST_FRAME_SIZE);
    this.patience = new Patience(core.clock.now());
  }

  abstract get takesFrames(): boolean;
  /** The last stream has been named in a GOAWAY. */
  protected abstract get hasSaidLast(): boolean;
  /** The stream within whose header block the client is; 0 outside. */
  protected abstract get blockOf(): number;
  /** A frame of a stream. */
  protected abstract streamFrame(
    type: number,
    flags: number,
    id: number,
    buf: LentBytes,
    start: number,
    end: number,
  ): void;
  /** All windows of streams change by this many bytes; false where one gets too large. */
  protected abstract windowsBy(bytes: number): boolean;
  /** Our settings hold from now on. */
  protected abstract settingsTaken(): void;
  protected abstract pingAnswered(): void;
  /** The kernel takes bytes again. */
  protected abstract roomAgain(): void;
  protected abstract flush(): void;
  /** Ends all streams, as the connection ends. */
  protected abstract leaveAll(): void;
  protected abstract endIfIdle(): void;

  now(): number {
    return this.core.clock.now();
  }

  frame(type: number, flags: number, id: number, buf: LentBytes, start: number, end: number): void {
    this.noteReceived(buf, start, end);
    this.counts.framesIn++;
    if (!this.settled && type !== FRAME.SETTINGS) {
      this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} before SETTINGS`);
      return;
    }
    const { blockOf } = this;
    if (blockOf !== 0 && (type !== FRAME.CONTINUATION || id !== blockOf)) {
      this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} within a header block`);
      return;
    }
    switch (type) {
      case FRAME.DATA:
      case FRAME.HEADERS:
      case FRAME.CONTINUATION:
      case FRAME.PRIORITY:
      case FRAME.RST_STREAM:
        if (type === FRAME.PRIORITY || type === FRAME.RST_STREAM) this.counts.bytesIn += end - start;
        if (id === 0) this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} of no stream`);
        else this.streamFrame(type, flags, id, buf, start, end);
        return;
      case FRAME.WINDOW_UPDATE:
        this.counts.bytesIn += end - start;
        if (end - start !== 4) this.wrongLength(type, start, end);
        else if (id === 0) this.windowUpdate(read31(buf, start));
        else this.streamFrame(type, flags, id, buf, start, end);
        return;
      case FRAME.PUSH_PROMISE:
        this.fail(CODE.PROTOCOL_ERROR, 'PUSH_PROMISE from a client');
        return;
      default:
        this.counts.bytesIn += end - start;
        this.ofConnection(type, flags, id, buf, start, end);
    }
  }

  private ofConnection(
    type: number,
    flags: number,
    id: number,
    buf: LentBytes,
    start: number,
    end: number,
  ): void {
    const isKnown =
      type === FRAME.SETTINGS ||
      type === FRAME.PING ||
      type === FRAME.GOAWAY ||
      type === FRAME.PRIORITY_UPDATE;
    // Others are for extensions that we do not know (RFC 9113 section 5.5).
    if (!isKnown) this.bears(type);
    else if (id !== 0) this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} of a stream`);
    else if (type === FRAME.SETTINGS) this.takeSettings(flags, buf, start, end);
    else if (type === FRAME.PING) this.ping(flags, buf, start, end);
    else if (type === FRAME.PRIORITY_UPDATE) this.streamFrame(type, flags, 0, buf, start, end);
    else if (end - start < 8) this.wrongLength(type, start, end);
    else if (this.bears(type)) {
      this.core.stats.h2_goaway_received++;
      this.isLeaving = true;
      this.hasLeft = true;
      this.endIfIdle();
    }
  }

  frameTooLong(length: number, type: number): void {
    this.fail(CODE.FRAME_SIZE_ERROR, `${frameName(type)} of ${length} bytes`);
  }

  protected wrongLength(type: number, start: number, end: number): void {
    this.fail(CODE.FRAME_SIZE_ERROR, `${frameName(type)} of ${end - start} bytes`);
  }

  /** Takes frames of no use off what is borne of a client; false when the connection was closed for it. */
  protected bears(type: number, frames = 1): boolean {
    if (this.patience.spend(frames, () => this.now())) return true;
    if (this.isOver) return false;
    this.core.stats[FLOODS.get(type) ?? 'h2_flood_other']++;
    this.fail(CODE.ENHANCE_YOUR_CALM, `too many ${frameName(type)} frames that bring nobody any further`);
    return false;
  }

  private takeSettings(flags: number, buf: LentBytes, start: number, end: number): void {
    const length = end - start;
    if ((flags & FLAG.ACK) !== 0) {
      if (length > 0) this.wrongLength(FRAME.SETTINGS, start, end);
      else if (!this.settled) this.fail(CODE.PROTOCOL_ERROR, 'SETTINGS are acknowledged before the first');
      else if (this.bears(FRAME.SETTINGS)) this.settingsTaken();
      return;
    }
    if (length % A_SETTING !== 0) {
      this.wrongLength(FRAME.SETTINGS, start, end);
      return;
    }
    if (!this.bears(FRAME.SETTINGS, 1 + length / A_SETTING)) return;
    const { settings } = this;
    const before = settings.initialWindow;
    const fault = settings.take(buf, start, end);
    if (fault !== null) {
      this.fail(fault.code, fault.words);
      return;
    }
    this.settled = true;
    this.heads.encoder.limit(settings.headerTableSize);
    this.heads.maxFrame = settings.maxFrame;
    this.maxFrame = Math.min(settings.maxFrame, MOST_OF_A_FRAME);
    if (!this.windowsBy(settings.initialWindow - before)) {
      this.fail(CODE.FLOW_CONTROL_ERROR, 'SETTINGS_INITIAL_WINDOW_SIZE makes a window too large');
      return;
    }
    this.sendControl(FRAME.SETTINGS, FLAG.ACK, 0, NOTHING);
  }

  private ping(flags: number, buf: LentBytes, start: number, end: number): void {
    if (end - start !== 8) this.wrongLength(FRAME.PING, start, end);
    else if ((flags & FLAG.ACK) !== 0) {
      this.pingAnswered();
      this.bears(FRAME.PING);
    } else if (this.bears(FRAME.PING)) {
      const at = this.openControl(8, FRAME.PING, FLAG.ACK, 0);
      for (let i = 0; i < 8; i++) this.output.bytes[at + i] = buf[start + i] as number;
    }
  }

  private windowUpdate(bytes: number): void {
    if (bytes === 0) this.fail(CODE.PROTOCOL_ERROR, 'WINDOW_UPDATE of no bytes');
    else if (this.sendWindow + bytes > MAX_31)
      this.fail(CODE.FLOW_CONTROL_ERROR, 'WINDOW_UPDATE makes the window too large');
    else if (this.bears(FRAME.WINDOW_UPDATE)) this.sendWindow += bytes;
  }

  // Output.

  protected sendSettings(): void {
    const { params } = this.core;
    const values: [id: number, value: number][] = [
      [SETTING.MAX_CONCURRENT_STREAMS, params.h2_max_concurrent_streams],
    ];
    if (params.h2_header_table_size !== FIRST_TABLE)
      values.push([SETTING.HEADER_TABLE_SIZE, params.h2_header_table_size]);
    if (params.h2_initial_window_size !== FIRST_WINDOW)
      values.push([SETTING.INITIAL_WINDOW_SIZE, params.h2_initial_window_size]);
    if (params.h2_max_frame_size !== FIRST_FRAME_SIZE)
      values.push([SETTING.MAX_FRAME_SIZE, params.h2_max_frame_size]);
    if (params.h2_max_header_list_size < MAX_31)
      values.push([SETTING.MAX_HEADER_LIST_SIZE, params.h2_max_header_list_size]);
    let at = this.openControl(values.length * A_SETTING, FRAME.SETTINGS, 0, 0);
    for (const [id, value] of values) {
      this.output.bytes[at] = id >>> 8;
      this.output.bytes[at + 1] = id;
      at = put32(this.output.bytes, at + 2, value);
    }
  }

  /** Writes the header of a control frame with a place for `length` bytes; returns where it begins. */
  private openControl(length: number, type: number, flags: number, id: number): number {
    const { output } = this;
    output.reserve(FRAME_HEADER + length);
    const at = putFrame(output.bytes, output.at, length, type, flags, id);
    output.at = at + length;
    this.counts.bytesOut += length;
    this.scheduleFlush();
    return at;
  }

  protected sendControl(type: number, flags: number, id: number, payload: Uint8Array): void {
    const at = this.openControl(payload.length, type, flags, id);
    this.output.bytes.set(payload, at);
  }

  /** A frame with one number of 32 bits. */
  protected sendNumber(type: number, id: number, value: number): void {
    const at = this.openControl(4, type, 0, id);
    put32(this.output.bytes, at, value);
  }

  protected sendGoaway(last: number, code: ErrorCode, words = ''): void {
    const at = this.openControl(8 + words.length, FRAME.GOAWAY, 0, 0);
    this.output.bytes.write(
      words,
      put32(this.output.bytes, put32(this.output.bytes, at, last), code),
      'latin1',
    );
  }

  abstract scheduleFlush(): void;

  /** An error of the connection (RFC 9113 section 5.4.1): sends GOAWAY, logs the error and closes. */
  protected fail(code: ErrorCode, words: string, reason: CloseReason | null = null): void {
    if (this.isOver) return;
    const { core } = this;
    core.stats.h2_goaway++;
    const [counter, usual] = ENDS.get(code) ?? ANOTHER_END;
    core.stats[counter]++;
    this.logError(code, words);
    this.end(code, reason ?? usual, words);
  }

  protected logError(code: ErrorCode, words: string): void {
    const { core, owner } = this;
    const text = `${codeName(code)}: ${words}`;
    if (core.logsSessionErrors) owner.log.put(Tag.SessError, `H2: ${text}`);
    else owner.log.put(Tag.Error, `HTTP/2 ${text}`);
  }

  /** Ends the connection with a last frame; requests that are under way are given up. */
  protected end(code: ErrorCode, reason: CloseReason, words = ''): void {
    if (this.isOver) return;
    // A client that has closed does not read it; one that has sent or received GOAWAY need not.
    const isExpected = code === CODE.NO_ERROR && (this.hasLeft || this.hasSaidLast);
    if (!this.owner.hasEnded && !isExpected) this.sendGoaway(this.lastStream, code, words);
    this.isOver = true;
    this.output.flush();
    this.leaveAll();
    this.output.drop();
    this.owner.close(reason, this.owner.hasEnded);
  }

  /** Frames and bytes that belong to no request, as the session's accounts. */
  account(): void {
    const { framesIn, bytesIn, framesOut, bytesOut } = this.counts;
    const [hi, ho] = [framesIn * FRAME_HEADER, framesOut * FRAME_HEADER];
    this.owner.log.acct(Tag.ReqAcct, hi, bytesIn, hi + bytesIn, ho, bytesOut, ho + bytesOut);
    const { stats } = this.core;
    stats.s_req_hdrbytes += hi;
    stats.s_req_bodybytes += bytesIn;
    stats.s_resp_hdrbytes += ho;
    stats.s_resp_bodybytes += bytesOut;
  }

  private noteReceived(buf: LentBytes, start: number, end: number): void {
    const { log } = this.owner;
    if (log.wants(Tag.H2RxHdr)) log.putBytes(Tag.H2RxHdr, buf, start - FRAME_HEADER, start);
    if (end > start && log.wants(Tag.H2RxBody)) log.putBytes(Tag.H2RxBody, buf, start, end);
  }

  /** Counts and logs the frames of a write. */
  private sent(parts: readonly Buffer[]): void {
    const { log } = this.owner;
    if (log.wants(Tag.H2TxHdr) || log.wants(Tag.H2TxBody)) this.noteSent(Buffer.concat(parts));
    let past = 0;
    for (const part of parts) {
      while (past < part.length) {
        this.counts.framesOut++;
        past += FRAME_HEADER + part.readUIntBE(past, 3);
      }
      past -= part.length;
    }
  }

  private noteSent(bytes: Buffer): void {
    const { log } = this.owner;
    for (let at = 0; at < bytes.length; ) {
      const past = at + FRAME_HEADER + bytes.readUIntBE(at, 3);
      log.putBytes(Tag.H2TxHdr, bytes, at, at + FRAME_HEADER);
      if (past > at + FRAME_HEADER) log.putBytes(Tag.H2TxBody, bytes, at + FRAME_HEADER, past);
      at = past;
    }
  }
}

type Http2Counter = Extract<keyof MainCounters, `h2_${string}`>;

const FLOODS: ReadonlyMap<number, Http2Counter> = new Map<number, Http2Counter>([
  [FRAME.SETTINGS, 'h2_flood_settings'],
  [FRAME.PING, 'h2_flood_ping'],
  [FRAME.PRIORITY, 'h2_flood_priority'],
  [FRAME.PRIORITY_UPDATE, 'h2_flood_priority'],
  [FRAME.WINDOW_UPDATE, 'h2_flood_window'],
  [FRAME.DATA, 'h2_flood_data'],
  [FRAME.CONTINUATION, 'h2_flood_continuation'],
]);

/** How a connection that ends with a code is counted, and its reason in SessClose. */
const ENDS: ReadonlyMap<ErrorCode, readonly [counter: Http2Counter, reason: CloseReason]> = new Map<
  ErrorCode,
  readonly [Http2Counter, CloseReason]
>([
  [CODE.PROTOCOL_ERROR, ['h2_goaway_protocol', 'RX_JUNK']],
  [CODE.FLOW_CONTROL_ERROR, ['h2_goaway_flow', 'OVERLOAD']],
  [CODE.FRAME_SIZE_ERROR, ['h2_goaway_frame_size', 'RX_JUNK']],
  [CODE.STREAM_CLOSED, ['h2_goaway_closed', 'RX_JUNK']],
  [CODE.COMPRESSION_ERROR, ['h2_goaway_compression', 'RX_JUNK']],
  [CODE.ENHANCE_YOUR_CALM, ['h2_goaway_calm', 'OVERLOAD']],
]);
const ANOTHER_END = ['h2_goaway_other', 'RX_JUNK'] as const;
