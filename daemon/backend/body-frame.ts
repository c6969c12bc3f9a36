// The framing of both bodies of one exchange, without sockets: encodes a request body for the wire, and finds the end
// of a response body. It checks the bytes against the head's framing and never buffers.

import { refusalText } from '../../protocol/tables/refusals.ts';
import {
  CHUNK_HEAD_MAX,
  type ChunkError,
  ChunkedDecoder,
  type ChunkSink,
  chunkHead,
  LAST_CHUNK,
} from '../http1/chunked.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import type { Leniencies } from '../http1/leniency.ts';
import { keep, type LentBytes } from '../http1/lent-bytes.ts';

type Kind = BodyFraming['kind'];

/** Encodes a request body. */
export class OutgoingBody {
  /** All of it was passed on; true from the start without a body. */
  complete = true;
  private kind: Kind = 'none';
  private left = 0;

  start(framing: BodyFraming): void {
    this.kind = framing.kind;
    this.left = framing.kind === 'length' ? framing.length : 0;
    this.complete = framing.kind === 'none';
  }

  /** A copy of buf[start, end) as sent on the wire; at least one byte. */
  frame(buf: LentBytes, start: number, end: number): Buffer {
    const n = end - start;
    if (this.kind === 'chunked') {
      const out = Buffer.allocUnsafe(n + CHUNK_HEAD_MAX + 2);
      let p = chunkHead(out, 0, n);
      out.set(buf.subarray(start, end), p);
      p += n;
      out[p++] = 13;
      out[p++] = 10;
      return out.subarray(0, p);
    }
    this.left -= n;
    if (this.kind !== 'length' || this.left < 0) {
      throw new Error('more body bytes sent to an origin than its request head announced');
    }
    return keep(buf, start, end);
  }

  /** The last bytes of the body, or null when it is shorter than announced. */
  finish(): Buffer | null {
    if (this.left > 0) return null;
    this.complete = true;
    return this.kind === 'chunked' ? LAST_CHUNK : NOTHING;
  }
}

const NOTHING = Buffer.alloc(0);

/** Decodes a response body. */
export class IncomingBody {
  kind: Kind = 'none';
  done = true;
  private left = 0;
  private readonly decoder: ChunkedDecoder;

  constructor(leniencies: Leniencies) {
    this.decoder = new ChunkedDecoder(leniencies);
  }

  start(framing: BodyFraming = NO_BODY): void {
    this.kind = framing.kind;
    this.left = framing.kind === 'length' ? framing.length : 0;
    this.done = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
    this.decoder.reset();
  }

  /** The error in the chunked coding, or null. */
  get error(): ChunkError | null {
    return this.decoder.error;
  }

  /** The rule that the chunks broke and the place, as in the Error record; '' without an error. */
  get refusal(): string {
    const { error, place } = this.decoder;
    return error === null ? '' : refusalText('response', error, place);
  }

  /** Log text for malformed or incomplete chunks. */
  get fault(): string {
    return this.decoder.fault;
  }

  /** Passes the data in buf[start, end) to `sink`; returns the number of bytes that belong to this body. */
  take(buf: LentBytes, start: number, end: number, sink: ChunkSink): number {
    if (this.kind === 'chunked') {
      const used = this.decoder.decode(buf, start, end, sink);
      this.done = this.decoder.done;
      return used;
    }
    if (this.kind === 'eof') {
      sink(buf, start, end, 1);
      return end - start;
    }
    const used = Math.min(end - start, this.left);
    this.left -= used;
    this.done = this.left === 0;
    sink(buf, start, start + used, 1);
    return used;
  }
}
