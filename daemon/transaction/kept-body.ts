// std.cache_req_body: reads the whole body of a request into storage while vcl_recv waits, so that it can be read and
// sent as often as retries and restarts need it. It stays there until the request and all of its fetches, also those in the
// background, have released it. A body that is longer than the program allows, or than there is room for, is dropped,
// and the request fails: received bytes cannot be put back, and half a body must not pass for a whole one (SAFETY
// rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import type { Cache } from '../cache/cache.ts';
import type { Oc } from '../cache/objcore.ts';
import type { VclKeptBody } from '../contract/context.ts';
import { Waiting } from '../contract/waiting.ts';
import { KeepingQueue } from '../filters/keeping-queue.ts';
import { type Abort, asserted, Flow, type Room, type Sink, type Writer } from '../flow/flow.ts';
import { type AnyPiece, type Holder, NOTHING, type Piece, stored } from '../flow/piece.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import { NO_ERROR } from '../system-error.ts';
import type { Core } from './core.ts';
import type { RequestBody, UploadSource } from './request-body.ts';
import { openRequestFilters, type RequestFilters } from './request-filters.ts';
import { SLICE, StoreSink } from './store-flow.ts';

/** The roles of the cache that a body needs. */
type Storing = Pick<Cache, 'filling' | 'reading' | 'references'>;

export class KeptBody implements VclKeptBody, Holder {
  private readonly cache: Storing;
  private readonly oc: Oc;

  private constructor(cache: Storing, oc: Oc) {
    this.cache = cache;
    this.oc = oc;
  }

  /**
   * The caller holds it.
   * @param length bytes to come, -1 when nobody knows
   * @returns null when the storage has no room
   */
  static begin(cache: Storing, storage: string, length: number): KeptBody | null {
    const oc = cache.filling.newPrivate();
    if (cache.filling.beginBody(oc, storage, length)) return new KeptBody(cache, oc);
    cache.references.deref(oc);
    return null;
  }

  /** For its bytes. */
  get sink(): Sink<AnyPiece> {
    return new StoreSink(this.cache.filling, this.oc, 'none');
  }

  /** All of it is there. */
  complete(): void {
    this.cache.filling.endBody(this.oc);
  }

  get length(): number {
    return this.cache.reading.bodyLength(this.oc);
  }

  bytes(): Buffer {
    const all = Buffer.allocUnsafe(this.length);
    this.cache.reading.copyBody(this.oc, 0, all, 0, all.length);
    return all;
  }

  /** Bytes from there on, as they lie in storage: some, and not necessarily all. */
  slice(from: number): Piece {
    return stored([this.cache.reading.slice(this.oc, from, SLICE)], this);
  }

  hold(): void {
    this.cache.references.ref(this.oc);
  }

  release(): void {
    this.cache.references.deref(this.oc);
  }
}

/** Sends a kept body: each fetch has one of these over the same bytes, which nobody changes. */
export class KeptBodySource implements UploadSource {
  readonly chunked = false;
  readonly replayable = true;
  readonly complete = true;
  readonly error = NO_ERROR;
  /** It is never used up. */
  readonly started = false;
  readonly length: number;
  private readonly kept: KeptBody;
  private at = 0;
  private sink: Sink<AnyPiece> | null = null;

  constructor(kept: KeptBody) {
    this.kept = kept;
    this.length = kept.length;
  }

  start(sink: Sink<AnyPiece>): void {
    this.at = 0;
    this.sink = sink;
    sink.connect(this);
    this.room();
  }

  room(): void {
    while (this.sink !== null && this.at < this.length) {
      const piece = this.kept.slice(this.at);
      this.at += piece.length;
      if (this.sink.write(piece) === 'wait') return;
    }
    const { sink } = this;
    this.sink = null;
    sink?.end(NOTHING);
  }

  stop(): void {
    this.sink = null;
  }
}

/** The parts of a request that its body is cached for. */
interface BodyOwner {
  readonly core: Core;
  readonly log: TxLog;
  readonly body: RequestBody | null;
  readonly bodyStorage: string;
  readonly filters: RequestFilters | null;
  readonly http: HttpMessage;
  readonly http0: HttpMessage | null;
  cachedBody: KeptBody | null;
}

const TOO_BIG = 'Request body too big to cache';
const NO_ROOM = 'Could not get storage';

/** @param limit largest body in bytes; false when there is no whole body within it */
export function cacheBody(req: BodyOwner, limit: number): boolean | Waiting {
  const { body, core, log } = req;
  if (body === null || req.cachedBody !== null) return true;
  if (body.failed !== null) return false;
  if (body.started) {
    log.put(Tag.VCL_Error, 'Had failed reading req.body before.');
    return false;
  }
  if (body.length > limit) {
    log.put(Tag.FetchError, TOO_BIG);
    body.failed = 'overflow';
    return false;
  }
  const chain = req.filters === null ? undefined : openRequestFilters(req.filters, req.http, core);
  if (chain === null) {
    body.failed = 'filter';
    return false;
  }
  return new Waiting((done) => {
    const asserts = core.stepChecks !== null;
    // Before the client is asked to send it.
    const kept = KeptBody.begin(core.cache, req.bodyStorage, chain === undefined ? body.length : -1);
    if (kept === null) {
      log.put(Tag.FetchError, NO_ROOM);
      body.failed = 'storage';
      done(false);
      return;
    }
    const into = new Limited(kept.sink, limit, (reason) => log.put(Tag.FetchError, reason));
    const queue =
      chain?.works === true ? new KeepingQueue(asserted(chain.connect(into, asserts), asserts)) : null;
    const flow = new Flow<AnyPiece>(body, queue ?? into, asserts, (reason) => {
      chain?.report();
      if (reason !== null) {
        // A filter may find out at the very end.
        if (reason === 'filter') body.failed ??= 'filter';
        kept.release();
        done(false);
        return;
      }
      kept.complete();
      req.cachedBody = kept;
      if (body.chunked || kept.length !== body.length) stateLength(req, kept.length);
      if (chain !== undefined) stateCoding(req);
      done(true);
    });
    flow.start();
    queue?.uncork();
  });
}

/** Stops a body that is longer than its limit; logs why the sink takes no more before the body ends with it. */
class Limited implements Sink<AnyPiece>, Writer {
  readonly gathers = 0;
  private readonly sink: Sink<AnyPiece>;
  private readonly log: (reason: string) => void;
  private left: number;
  private writer: Writer | null = null;

  constructor(sink: Sink<AnyPiece>, limit: number, log: (reason: string) => void) {
    this.sink = sink;
    this.left = limit;
    this.log = log;
  }

  connect(writer: Writer): void {
    this.writer = writer;
    this.sink.connect(this);
  }

  write(piece: AnyPiece): Room {
    this.left -= piece.length;
    if (this.left >= 0) return this.sink.write(piece);
    this.stop('overflow');
    return 'wait';
  }

  end(piece: AnyPiece): Room {
    return this.sink.end(piece);
  }

  flush(): void {}

  abort(reason: Abort): void {
    this.sink.abort(reason);
  }

  room(): void {
    this.writer?.room();
  }

  stop(reason: Abort): void {
    this.log(reason === 'overflow' ? TOO_BIG : NO_ROOM);
    this.writer?.stop(reason);
  }
}

/** A head that is taken back goes with the same body. */
function stateCoding({ http, http0 }: BodyOwner): void {
  for (const name of ['Content-Encoding', 'Vary']) {
    const value = http.get(name.toLowerCase());
    if (value === null) http0?.unset(name.toLowerCase());
    else http0?.set(name, value);
  }
}

/** The length is known now. */
function stateLength(req: BodyOwner, length: number): void {
  for (const http of [req.http, req.http0]) {
    http?.unset('transfer-encoding');
    http?.set('Content-Length', String(length));
  }
}
