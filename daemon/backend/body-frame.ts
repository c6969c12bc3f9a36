// The framing of the bodies of one exchange, in both directions, without sockets: the form of a request body on the
// wire, and where a response body ends. Compares the bytes with the heads' announcement; never buffers.

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

/** A request body on its way out. */
export class OutgoingBody {
  /** All of it was passed on; true from the start when there is none. */
  complete = true;
  private kind: Kind = 'none';
  private left = 0;

  start(framing: BodyFraming): void {
    this.kind = framing.kind;
    this.left = framing.kind === 'length' ? framing.length : 0;
    this.complete = framing.kind === 'none';
  }

  /** A copy of buf[start, end) as it goes on the wire; at least one byte. */
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

/** A response body on its way in. */
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

  /** The error in the chunks, if there is one. */
  get error(): ChunkError | null {
    return this.decoder.error;
  }

  /** Which rule the chunks broke and where, as the Error record has it; '' when they broke none. */
  get refusal(): string {
    const { error, place } = this.decoder;
    return error === null ? '' : refusalText('response', error, place);
  }

  /** The log's text for chunks that are malformed or incomplete. */
  get fault(): string {
    return this.decoder.fault;
  }

  /** Passes the data in buf[start, end) to `sink`; returns the bytes that belonged to this body. */
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
