// Reads the head of a final response from pieces of any size: passes 1xx responses to the callback and skips them,
// keeps an unfinished piece, and names the error of a malformed head. It counts bytes and knows no sockets and no
// timeouts. A head in an old form is rewritten once it is complete, and then parsed like any other.

import { refusalText } from '../../protocol/tables/refusals.ts';
import { E_LINE_LONG, errorPlace, errorText, garbageLength, HEAD_ERRORS } from '../http1/head-errors.ts';
import { type HeadLimits, parseResponseHead } from '../http1/head-parser.ts';
import { HEAD_COMPLETE, HEAD_ERROR, HeadResult } from '../http1/head-result.ts';
import type { Leniencies } from '../http1/leniency.ts';
import { keep, type LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import { endOfHead, failedAtOldForm, longHeader, modernHead } from '../http1/modern-head.ts';
import { OriginFailure } from './origin-failure.ts';

/** Most interim responses before the final one (chosen): they are skipped, but not without end. */
const MAX_INTERIM = 20_000;
const BLANK_LINE = Buffer.from('\r\n\r\n', 'latin1');
/** Limits of a rewritten head, whose original bytes have been checked against the real ones. */
const MEASURED = { maxLine: Number.POSITIVE_INFINITY, maxSize: Number.POSITIVE_INFINITY };
const EMPTY = Buffer.alloc(0);

export class ResponseHeadReader {
  /** Bytes that were read and not used: of an unfinished head, or after a finished one. */
  carry: LentBytes = EMPTY;
  /** The carried bytes are in the read buffer: the callback may use them before they are copied. */
  private lent = false;
  /** Bytes of heads read, interim ones included. */
  bytes = 0;
  /** 1xx responses skipped. */
  interim = 0;
  /** Called for each interim response; the message is reused for the next head. */
  onInterim: ((head: HttpMessage) => void) | null = null;
  private readonly result = new HeadResult();
  private readonly leniencies: Leniencies;

  constructor(leniencies: Leniencies) {
    this.leniencies = leniencies;
  }

  /** Prepares for another exchange. */
  reset(): void {
    this.carry = EMPTY;
    this.lent = false;
    this.bytes = 0;
    this.interim = 0;
    this.onInterim = null;
    this.result.reset();
  }

  /** Adds bytes that arrived before they are needed. */
  keep(buf: LentBytes, start: number, end: number): void {
    const out = Buffer.allocUnsafe(this.carry.length + end - start);
    out.set(this.carry);
    out.set(buf.subarray(start, end), this.carry.length);
    this.carry = out;
  }

  /** Returns the carried bytes and drops them. */
  take(): LentBytes {
    const { carry } = this;
    this.carry = EMPTY;
    this.lent = false;
    return carry;
  }

  /** Copies carried bytes that are still lent; call before the read returns. */
  ownCarry(): void {
    if (!this.lent) return;
    this.lent = false;
    this.carry = keep(this.carry, 0, this.carry.length);
  }

  /** @returns true when `into` holds the final head, false when more is needed, else the failure */
  read(
    buf: LentBytes,
    start: number,
    end: number,
    limits: HeadLimits,
    into: HttpMessage,
  ): boolean | OriginFailure {
    if (this.carry.length > 0) {
      this.keep(buf, start, end);
      const joined = this.take();
      return this.parse(joined, 0, joined.length, limits, into);
    }
    return this.parse(buf, start, end, limits, into);
  }

  private parse(
    buf: LentBytes,
    start: number,
    end: number,
    limits: HeadLimits,
    into: HttpMessage,
  ): boolean | OriginFailure {
    const { result } = this;
    let p = start;
    while (p < end) {
      const status = parseResponseHead(buf, p, end, limits, into, result);
      let past = result.headEnd;
      let parsed = buf;
      if (status === HEAD_ERROR) {
        if (!failedAtOldForm(result, buf, end)) return this.fault(buf, p, end, limits);
        past = endOfHead(buf, p, end);
        if (past < 0 && end - p < limits.maxSize) break;
        if (past < 0 || past - p > limits.maxSize)
          return this.overflow(past < 0 ? end - p : past - p, limits);
        const long = longHeader(buf, p, past, limits.maxLine);
        if (long >= 0) {
          result.fail(E_LINE_LONG, long, long + limits.maxLine);
          return this.fault(buf, p, past, limits);
        }
        parsed = modernHead(buf, p, past, true, this.leniencies);
        const own = { ...limits, ...MEASURED };
        if (parseResponseHead(parsed, 0, parsed.length, own, into, result) !== HEAD_COMPLETE)
          return this.fault(parsed, 0, parsed.length, own);
      } else if (status !== HEAD_COMPLETE) break;
      this.bytes += past - p;
      p = past;
      if (into.status >= 200) {
        // Valid only during the read: the caller takes it back.
        if (into.n > 0 && !result.trimmed) into.lend(parsed, result.lineStart[1] as number);
        if (p < end) {
          this.carry = buf.subarray(p, end);
          this.lent = true;
        }
        return true;
      }
      if (into.status === 101) return new OriginFailure('switching');
      if (++this.interim > MAX_INTERIM) return new OriginFailure('interim-flood');
      this.onInterim?.(into);
    }
    this.carry = p < end ? keep(buf, p, end) : EMPTY;
    return false;
  }

  private overflow(length: number, limits: HeadLimits): OriginFailure {
    this.bytes += length;
    const failure = new OriginFailure('head-overflow');
    failure.refusal = refusalText('response', 'overflow', `more than ${limits.maxSize} bytes`);
    return failure;
  }

  private fault(buf: LentBytes, start: number, end: number, limits: HeadLimits): OriginFailure {
    const row = HEAD_ERRORS[this.result.error] as (typeof HEAD_ERRORS)[number];
    const blank = (buf as Buffer).indexOf(BLANK_LINE, start);
    const length = (blank < 0 || blank + 4 > end ? end : blank + 4) - start;
    // The size limit comes first, whatever the lines look like.
    if (row.close === 'RX_OVERFLOW' || length > limits.maxSize) return this.overflow(length, limits);
    const bogus = row.record === 'BogoHeader' ? errorText(this.result, buf, end) : '';
    this.bytes += length;
    const failure = new OriginFailure('bad-head', '', '', bogus);
    failure.garbage = keep(buf, start, start + garbageLength(buf, start, end));
    failure.refusal = refusalText('response', row.refusal, errorPlace(this.result, buf, start, end));
    return failure;
  }
}
