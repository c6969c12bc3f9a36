// The streams of a connection of HTTP/2 (RFC 9113 sections 5 and 8). Each request of a client is a stream, which the machine
// of requests runs as it does any other; requests run beside each other.
//
// Caution: any call into a stream may end it, and any error the connection.

import { keep, type LentBytes } from '../../http1/lent-bytes.ts';
import {
  CODE,
  type ErrorCode,
  FIRST_FRAME_SIZE,
  FLAG,
  FRAME,
  frameName,
  MAX_31,
  read31,
} from '../../http2/frames.ts';
import { HEAD_RULES } from '../../http2/head-rules.ts';
import type { HeaderField } from '../../http2/header-field.ts';
import { HpackDecoder } from '../../http2/hpack-decoder.ts';
import {
  type HeadFault,
  Http2RequestHead,
  quoteField,
  trailerFault,
} from '../../http2/http2-request-head.ts';
import { type PriorityText, parsePriority } from '../../http2/priority.ts';
import { noteRefusal } from '../../transaction/note-refusal.ts';
import { refuseRequest, refuseStream } from '../../transaction/refuse.ts';
import { Request } from '../../transaction/request.ts';
import { keepBuffers, takeBuffers } from '../../transaction/request-buffers.ts';
import { type BlockUser, HeaderBlocks } from './header-blocks.ts';
import { Http2Control, type Http2Owner } from './http2-control.ts';
import { Http2Stream, type StreamHost } from './http2-stream.ts';
import { RapidResets } from './rapid-resets.ts';
import { ReadyStreams } from './ready-streams.ts';
import { EarlyPriorities } from './stream-priority.ts';

/** Streams reset from here of which the client may still send something. */
const REMEMBERED = 256;
/** Frames that a client may send about a request beside it (chosen: some give a window back for each frame of it). */
const OF_A_REQUEST = 4;
/** DATA of fewer bytes is work rather than a body (chosen), and the part of an empty one that it counts for. */
const SMALL = 64;
const A_SMALL_ONE = 1 / 4;
/** A decoded head larger than the limit by this factor is a compression bomb (chosen: Huffman's code expands the largest block
 * by less). */
const A_BOMB = 4;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING: Buffer = Buffer.alloc(0);
const TOO_LARGE: HeadFault = { rule: 'overflow', place: '' };
const WRONG_LENGTH = 'its body has another length than content-length says';

export abstract class Http2Streams extends Http2Control implements StreamHost, BlockUser {
  readonly ready = new ReadyStreams<Http2Stream>();
  readonly limits: RapidResets;
  abstract movedAt: number;
  protected readonly streams = new Map<number, Http2Stream>();
  /** Streams above it were announced as not served. */
  protected lastServed = MAX_31;
  /** When a connection without streams is given up, and one within a header block (clock seconds). */
  protected idleBy: number;
  protected blockBy = NEVER;
  private readonly blocks: HeaderBlocks;
  private readonly decoder: HpackDecoder;
  private readonly head = new Http2RequestHead();
  /** The ids that a client passed over last, between these two. */
  private skippedAfter = 0;
  private skippedBefore = 0;
  /** Streams that were reset from here. */
  private readonly forgotten = new Set<number>();
  /** Bytes of the priority in the current HEADERS frame, which Varnish counts with the request's head. */
  private priorityBytes = 0;
  private readonly early = new EarlyPriorities();
  /** Of our SETTINGS: the parameters may change meanwhile. */
  private readonly maxStreams: number;
  private readonly streamWindow: number;
  private readonly tableSize: number;

  constructor(owner: Http2Owner) {
    super(owner);
    const { params, requestLimits, clock } = this.core;
    this.maxStreams = params.h2_max_concurrent_streams;
    this.streamWindow = params.h2_initial_window_size;
    this.tableSize = params.h2_header_table_size;
    this.blocks = new HeaderBlocks(this, Math.max(requestLimits.maxSize, FIRST_FRAME_SIZE) * 2);
    this.decoder = new HpackDecoder(Math.max(params.h2_header_table_size, 4096));
    this.limits = new RapidResets(params, clock.now());
    this.idleBy = clock.now() + owner.timeoutIdle;
  }

  /** A request was begun: others have their turn, too. */
  protected abstract requestBegun(): void;

  /** Requests under way, and answers that have not left. */
  get running(): number {
    return this.streams.size;
  }

  protected get hasSaidLast(): boolean {
    return this.lastServed !== MAX_31;
  }

  protected get blockOf(): number {
    return this.blocks.stream;
  }

  protected streamFrame(
    type: number,
    flags: number,
    id: number,
    buf: LentBytes,
    start: number,
    end: number,
  ): void {
    switch (type) {
      case FRAME.DATA:
        this.data(flags, id, buf, start, end);
        break;
      case FRAME.HEADERS:
        this.headers(flags, id, buf, start, end);
        break;
      case FRAME.CONTINUATION:
        if (this.blocks.stream === 0) this.fail(CODE.PROTOCOL_ERROR, 'CONTINUATION without HEADERS');
        else if (start < end || this.bears(type)) this.blocks.go(flags, buf, start, end);
        break;
      case FRAME.WINDOW_UPDATE:
        this.streamWindowUpdate(id, read31(buf, start));
        break;
      case FRAME.RST_STREAM:
        if (end - start !== 4) this.wrongLength(type, start, end);
        else if (this.hasBegun(id, type)) this.rstStream(id);
        break;
      case FRAME.PRIORITY:
        // Priorities of RFC 7540 are read and ignored (RFC 9113 section 5.3.2).
        if (end - start === 5) this.bears(type);
        else if (!this.isBegun(id)) this.wrongLength(type, start, end);
        else this.streamError(id, CODE.FRAME_SIZE_ERROR, `PRIORITY of ${end - start} bytes`);
        break;
      default:
        this.priorityUpdate(buf, start, end);
    }
  }

  /** Whether the stream has begun; an error of the connection otherwise (RFC 9113 section 5.1). */
  private hasBegun(id: number, type: number): boolean {
    if (this.isBegun(id)) return true;
    this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} of stream ${id}, which has not begun`);
    return false;
  }

  private isBegun(id: number): boolean {
    return id <= this.lastStream && id % 2 === 1;
  }

  private headers(flags: number, id: number, buf: LentBytes, start: number, end: number): void {
    const isPadded = (flags & FLAG.PADDED) !== 0;
    this.priorityBytes = (flags & FLAG.PRIORITY) !== 0 ? 5 : 0;
    const from = start + (isPadded ? 1 : 0) + this.priorityBytes;
    if (from > end) {
      this.wrongLength(FRAME.HEADERS, start, end);
      return;
    }
    const to = isPadded ? end - (buf[start] as number) : end;
    if (from > to) {
      this.fail(CODE.PROTOCOL_ERROR, 'padding of HEADERS longer than its frame');
      return;
    }
    this.blocks.begin(id, flags, buf, from, to);
    if (this.blocks.stream !== 0) this.blockBy = this.now() + this.owner.timeoutIdle;
  }

  blockTooLong(): void {
    this.core.stats.h2_flood_continuation++;
    this.fail(CODE.ENHANCE_YOUR_CALM, 'too long a header block');
  }

  block(id: number, flags: number, buf: LentBytes, start: number, end: number): void {
    this.blockBy = NEVER;
    const ends = (flags & FLAG.END_STREAM) !== 0;
    const stream = this.streams.get(id);
    if (id % 2 === 0) this.fail(CODE.PROTOCOL_ERROR, `stream ${id} is none of a client's`);
    else if (id > this.lastStream) this.open(id, ends, buf, start, end);
    else if (stream !== undefined && !stream.isGone) this.trailers(stream, ends, buf, start, end);
    else if (this.decode(buf, start, end, ignore)) this.closedStream(id, FRAME.HEADERS);
  }

  /** Whether a client passed over it when it opened a later one: it can never be opened (RFC 9113 section 5.1.1). Only the
   * streams passed over last are known. */
  private wasSkipped(id: number): boolean {
    return id > this.skippedAfter && id < this.skippedBefore;
  }

  /** A frame of a stream that is over. One that we have reset may still get what was on its way (RFC 9113 section 5.1). */
  private closedStream(id: number, type: number): void {
    if (this.forgotten.has(id)) this.bears(type);
    else if (this.wasSkipped(id))
      this.fail(CODE.PROTOCOL_ERROR, `${frameName(type)} of stream ${id}, which was passed over`);
    else this.fail(CODE.STREAM_CLOSED, `${frameName(type)} of stream ${id}, which is closed`);
  }

  /** Every block is decoded, so that the table stays in step. */
  private decode(buf: LentBytes, start: number, end: number, take: (field: HeaderField) => void): boolean {
    const wrong = this.decoder.decode(buf, start, end, this.core.params.h2_max_header_list_size, take);
    if (wrong === null) return true;
    this.fail(CODE.COMPRESSION_ERROR, wrong);
    return false;
  }

  private open(id: number, ends: boolean, buf: LentBytes, start: number, end: number): void {
    const { core, owner, head } = this;
    if (id > this.lastStream + 2) {
      this.skippedAfter = this.lastStream;
      this.skippedBefore = id;
    }
    this.lastStream = id;
    const early = this.early.take(id);
    if (id > this.lastServed || this.running >= core.params.h2_max_concurrent_streams) {
      if (!this.decode(buf, start, end, ignore)) return;
      core.stats.h2_streams_refused++;
      this.sendRst(id, CODE.REFUSED_STREAM);
      this.bears(FRAME.HEADERS);
      return;
    }
    const buffers = takeBuffers(core);
    const stream = new Http2Stream(this, owner, id, buffers, {
      send: this.settings.initialWindow,
      receive: this.streamWindow,
      follows: !ends,
    });
    const req = new Request(core, stream, buffers, owner.requests.run);
    stream.req = req;
    head.begin(req.http, core.requestLimits);
    if (!this.decode(buf, start, end, head.take)) return;
    const judged = head.end();
    const fault = this.decoder.oversized ? TOO_LARGE : judged;
    stream.declared = head.contentLength;
    core.stats.h2_streams++;
    const now = this.now();
    req.open(end - start + this.priorityBytes, now);
    this.limits.streamBegan(id, now);
    this.streams.set(id, stream);
    const isBomb = head.bytes > core.requestLimits.maxSize * A_BOMB;
    if (isBomb) core.stats.h2_flood_hpack++;
    if (fault !== null && !isBomb && HEAD_RULES[fault.rule].consequence === 'refuse') {
      // It has one reading, and its client may learn that it is too large.
      refuseRequest(req, { name: fault.rule, place: fault.place, status: 400, close: 'RX_OVERFLOW' });
      return;
    }
    if (fault !== null || (ends && head.contentLength > 0)) {
      refuseStream(req, fault?.rule ?? 'length_short', fault?.place ?? '');
      this.streamError(id, isBomb ? CODE.ENHANCE_YOUR_CALM : CODE.PROTOCOL_ERROR, '');
      stream.requestDone();
      return;
    }
    this.patience.earnFrames(OF_A_REQUEST);
    const priority = req.http.getAll('priority');
    if (early !== null) stream.prioritise(early);
    else if (priority !== null) stream.prioritise(parsePriority(priority));
    // An origin reads a whole request out of such a head: bytes that follow all the same must be known before it does.
    if (!ends && head.contentLength === 0) stream.awaitEnd();
    else this.begin(stream);
  }

  private begin({ req }: Http2Stream): void {
    this.owner.requests.start(req);
    this.requestBegun();
  }

  /** A second block of a stream ends its body; the fields are judged and dropped (RFC 9113 section 8.1). */
  private trailers(stream: Http2Stream, ends: boolean, buf: LentBytes, start: number, end: number): void {
    let wrong: HeaderField | null = null;
    const take = (field: HeaderField): void => {
      if (wrong === null && trailerFault(field) !== null) wrong = field;
    };
    if (!this.decode(buf, start, end, take)) return;
    if (stream.inputEnded)
      this.streamError(stream.id, CODE.STREAM_CLOSED, 'HEADERS after the end of the request');
    else if (wrong !== null) this.refuseTrailer(stream, wrong);
    else if (!ends) this.streamError(stream.id, CODE.PROTOCOL_ERROR, 'trailers that do not end the stream');
    else {
      this.core.stats.h2_trailers++;
      this.intoStream(stream, NOTHING, 0, 0, true);
    }
  }

  private refuseTrailer(stream: Http2Stream, field: HeaderField): void {
    const rule = trailerFault(field);
    const { log } = stream.req.ended ? this.owner : stream.req;
    if (rule !== null) noteRefusal(log, this.core.stats, 'request body', rule, quoteField(field));
    this.streamError(stream.id, CODE.PROTOCOL_ERROR, '');
  }

  private data(flags: number, id: number, buf: LentBytes, start: number, end: number): void {
    const size = end - start;
    if (!this.hasBegun(id, FRAME.DATA)) return;
    const isPadded = (flags & FLAG.PADDED) !== 0;
    if (isPadded && size === 0) {
      this.wrongLength(FRAME.DATA, start, end);
      return;
    }
    const from = isPadded ? start + 1 : start;
    const to = isPadded ? end - (buf[start] as number) : end;
    if (from > to) {
      this.fail(CODE.PROTOCOL_ERROR, 'padding of DATA longer than its frame');
      return;
    }
    this.receiveWindow -= size;
    if (this.receiveWindow < 0) {
      this.fail(CODE.FLOW_CONTROL_ERROR, 'DATA beyond the window of the connection');
      return;
    }
    this.widen();
    const stream = this.streams.get(id);
    if (stream === undefined || stream.isGone) {
      this.closedStream(id, FRAME.DATA);
      return;
    }
    const ends = (flags & FLAG.END_STREAM) !== 0;
    if (to - from >= SMALL) this.patience.earn(to - from);
    else if (!ends && !this.bears(FRAME.DATA, to === from ? 1 : A_SMALL_ONE)) return;
    if (stream.inputEnded) {
      this.streamError(id, CODE.STREAM_CLOSED, 'DATA after the end of the request');
      return;
    }
    stream.receiveWindow -= size;
    if (stream.receiveWindow < 0) {
      this.streamError(id, CODE.FLOW_CONTROL_ERROR, 'DATA beyond the window of its stream');
      return;
    }
    // Padding is used at once.
    if (size > to - from) this.credit(stream, size - (to - from));
    this.intoStream(stream, buf, from, to, ends);
  }

  private intoStream(stream: Http2Stream, buf: LentBytes, start: number, end: number, ends: boolean): void {
    if (!stream.data(buf, start, end, ends)) this.streamError(stream.id, CODE.PROTOCOL_ERROR, WRONG_LENGTH);
    else if (ends && stream.endsWait()) this.begin(stream);
  }

  /** The window of the connection is not what holds a client back: those of its streams are. */
  private widen(): void {
    const { h2_rx_window_low_water, h2_rx_window_increment } = this.core.params;
    if (this.receiveWindow >= h2_rx_window_low_water || this.receiveWindow + h2_rx_window_increment > MAX_31)
      return;
    this.receiveWindow += h2_rx_window_increment;
    this.sendNumber(FRAME.WINDOW_UPDATE, 0, h2_rx_window_increment);
  }

  credit(stream: Http2Stream, bytes: number): void {
    if (bytes === 0 || stream.isGone || stream.inputEnded) return;
    stream.uncredited += bytes;
    // Half a window at a time, or what a client that has less waits for.
    if (stream.uncredited < this.streamWindow / 2) return;
    stream.receiveWindow += stream.uncredited;
    this.sendNumber(FRAME.WINDOW_UPDATE, stream.id, stream.uncredited);
    stream.uncredited = 0;
  }

  private streamWindowUpdate(id: number, bytes: number): void {
    if (!this.hasBegun(id, FRAME.WINDOW_UPDATE) || !this.bears(FRAME.WINDOW_UPDATE)) return;
    const stream = this.streams.get(id);
    if (bytes === 0) this.streamError(id, CODE.PROTOCOL_ERROR, 'WINDOW_UPDATE of no bytes');
    else if (stream === undefined || stream.isGone) return;
    else if (stream.sendWindow + bytes > MAX_31)
      this.streamError(id, CODE.FLOW_CONTROL_ERROR, 'WINDOW_UPDATE makes the window too large');
    else stream.windowBy(bytes);
  }

  private rstStream(id: number): void {
    const stream = this.streams.get(id);
    this.core.stats.h2_rst_received++;
    // An answer that was faster than the reset counts as wasted, too.
    const begun = this.limits.takeBegun(id);
    const isOver = stream === undefined || stream.isGone;
    if (isOver && (!this.bears(FRAME.RST_STREAM) || Number.isNaN(begun))) return;
    const isBorne = this.mayReset(stream?.tHead ?? begun);
    if (!isOver) stream.left();
    if (!isBorne) this.tooRapid('h2_flood_reset');
  }

  private mayReset(begun: number): boolean {
    const now = this.now();
    if (now - begun <= this.limits.rapidReset) this.core.stats.h2_rst_rapid++;
    return this.limits.mayReset(begun, now);
  }

  private tooRapid(counter: 'h2_flood_reset' | 'h2_flood_error'): void {
    if (this.isOver) return;
    this.core.stats[counter]++;
    this.fail(CODE.ENHANCE_YOUR_CALM, 'too many streams were begun and reset', 'RAPID_RESET');
  }

  private priorityUpdate(buf: LentBytes, start: number, end: number): void {
    if (end - start < 4) {
      this.wrongLength(FRAME.PRIORITY_UPDATE, start, end);
      return;
    }
    if (!this.bears(FRAME.PRIORITY_UPDATE)) return;
    const id = read31(buf, start);
    if (id % 2 === 0) {
      this.fail(CODE.PROTOCOL_ERROR, `PRIORITY_UPDATE of stream ${id}, which is none of a client's`);
      return;
    }
    const text = parsePriority(keep(buf, start + 4, end).toString('latin1'));
    const stream = this.streams.get(id);
    if (stream !== undefined) stream.prioritise(text);
    else if (id > this.lastStream) this.prioritiseEarly(id, text);
  }

  /** Its request is still to come (RFC 9218 section 7.1). */
  private prioritiseEarly(id: number, text: PriorityText): void {
    const { early } = this;
    if (!early.has(id) && early.count + this.openStreams >= this.maxStreams)
      this.fail(CODE.PROTOCOL_ERROR, `PRIORITY_UPDATE of more streams than the ${this.maxStreams} allowed`);
    else early.keep(id, text);
  }

  /** Streams that the client has open, as far as it can know. */
  private get openStreams(): number {
    let open = 0;
    for (const { isGone } of this.streams.values()) if (!isGone) open++;
    return open;
  }

  /** An error of a stream (RFC 9113 section 5.4.2): the client has broken a rule, and its request ends. */
  private streamError(id: number, code: ErrorCode, words: string): void {
    const { core } = this;
    if (words !== '') this.logError(code, `stream ${id}: ${words}`);
    core.stats.h2_rst_sent++;
    const stream = this.streams.get(id);
    const begun = stream?.tHead ?? this.now();
    // One of the client that crosses it is no second one.
    this.limits.takeBegun(id);
    if (stream === undefined) this.sendRst(id, code);
    else stream.breakOff(code);
    if (!this.mayReset(begun)) this.tooRapid('h2_flood_error');
  }

  sendReset(stream: Http2Stream, code: ErrorCode): void {
    this.sendRst(stream.id, code);
  }

  private sendRst(id: number, code: ErrorCode): void {
    if (this.isOver) return;
    this.sendNumber(FRAME.RST_STREAM, id, code);
    this.forgotten.add(id);
    if (this.forgotten.size <= REMEMBERED) return;
    const [oldest] = this.forgotten;
    this.forgotten.delete(oldest as number);
  }

  streamOver(stream: Http2Stream): void {
    if (!this.streams.delete(stream.id)) return;
    keepBuffers(this.core, stream.buffers);
    if (this.streams.size > 0) return;
    if (this.isOver) {
      this.owner.http2Over();
      return;
    }
    this.idleBy = this.now() + this.owner.timeoutIdle;
    this.endIfIdle();
  }

  protected windowsBy(bytes: number): boolean {
    if (bytes === 0) return true;
    for (const stream of [...this.streams.values()]) {
      if (stream.sendWindow + bytes > MAX_31) return false;
      stream.windowBy(bytes);
    }
    return true;
  }

  protected settingsTaken(): void {
    this.decoder.limit(this.tableSize);
  }

  protected leaveAll(): void {
    for (const stream of [...this.streams.values()]) stream.left();
  }
}

function ignore(): void {}
