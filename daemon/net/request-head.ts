// Reads the head of a request out of a session's bytes: strictly, or where the operator allows it (feature lenient_lf)
// also when its lines end in LF alone, for requests typed by hand. Such a head is copied with CRLF and then read as any
// other; a clean one is read where it lies.

import { E_OVERFLOW } from '../http1/head-errors.ts';
import { type HeadLimits, parseRequestHead } from '../http1/head-parser.ts';
import { HEAD_ERROR, HEAD_INCOMPLETE, HeadResult, type ParseStatus } from '../http1/head-result.ts';
import { Leniencies } from '../http1/leniency.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import { failedAtLf, modernRequest } from '../http1/modern-head.ts';

/** Most results that wait for a connection that needs one. */
const SPARE = 256;
/** Results of connections that have ended: places in a head and nothing of it, and their arrays are outside the heap. */
const spare: HeadResult[] = [];
const NOTHING = Buffer.alloc(0);

export class RequestHeadReader {
  readonly head = spare.pop() ?? new HeadResult();
  /** The bytes that the offsets of `head` refer to: the session's, or a copy of the head. */
  bytes: LentBytes = NOTHING;
  /** Where in `bytes` the head begins, and what there is of it ends. */
  start = 0;
  end = 0;
  /** Offset past the head in the session's bytes. */
  past = 0;
  /** Old forms of the head that was read last; null until there was one. */
  leniencies: Leniencies | null = null;
  private released = false;

  /** Reads the head at the start of buf[start, end) into `msg`; `lenient` allows LF alone. */
  read(
    buf: LentBytes,
    start: number,
    end: number,
    limits: HeadLimits,
    lenient: boolean,
    msg: HttpMessage,
  ): ParseStatus {
    const { head } = this;
    const status = parseRequestHead(buf, start, end, limits, msg, head);
    this.bytes = buf;
    this.start = start;
    this.end = end;
    this.past = head.headEnd;
    if (this.leniencies !== null) this.leniencies = null;
    if (status !== HEAD_ERROR || !lenient || !failedAtLf(head, buf, end)) return status;
    return this.readModern(buf, start, end, limits, msg);
  }

  /** Nothing is read any more. */
  release(): void {
    if (this.released) return;
    this.released = true;
    this.bytes = NOTHING;
    this.head.reset();
    if (spare.length < SPARE) spare.push(this.head);
  }

  private readModern(
    buf: LentBytes,
    start: number,
    end: number,
    limits: HeadLimits,
    msg: HttpMessage,
  ): ParseStatus {
    const leniencies = new Leniencies();
    const modern = modernRequest(buf, start, end, leniencies);
    const length = (modern === null ? end : modern.past) - start;
    if (length > limits.maxSize) return this.head.fail(E_OVERFLOW, start, end);
    if (modern === null) return HEAD_INCOMPLETE;
    this.leniencies = leniencies;
    this.bytes = modern.bytes;
    this.start = 0;
    this.end = modern.bytes.length;
    this.past = modern.past;
    // The bytes that came are within the limit, and these are a few more.
    const own = { ...limits, maxSize: Number.POSITIVE_INFINITY };
    return parseRequestHead(modern.bytes, 0, modern.bytes.length, own, msg, this.head);
  }
}
