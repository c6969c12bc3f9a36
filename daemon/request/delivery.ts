// The body of a response on its way out: the filters that it passes, the fragments that one of them puts into it, and the
// flow from the store to the client. A body that breaks off is cut, never ended (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { fieldIn } from '../cache/head-codec.ts';
import { OF_ESI, OF_GZIPPED, OF_HEAD_ALONE } from '../cache/objcore.ts';
import { DeliveryChain } from '../filters/chain.ts';
import type { DeliveryFilter } from '../filters/filter.ts';
import { type FilterList, namedDeliveryFilters, usualDeliveryFilters } from '../filters/filter-table.ts';
import { type Abort, Flow, type Room, type Sink, type Writer } from '../flow/flow.ts';
import { buffersOf, own, Piece } from '../flow/piece.ts';
import { CHUNK_END, CHUNK_HEAD_MAX, chunkHead, LAST_CHUNK } from '../http1/chunked.ts';
import { parseLength } from '../http1/framing.ts';
import type { Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import type { PageInDelivery, RequestAttempt } from '../transaction/request-attempt.ts';
import { StoreSource } from '../transaction/store-flow.ts';
import { PageFragments } from './page-fragments.ts';
import { FINISH } from './request-steps.ts';
import { SlicedSource } from './sliced-source.ts';

/** The filters of this response, or null after an unknown name, which is logged. */
export function chooseFilters(req: Request): FilterList<DeliveryFilter> | null {
  const { log, core } = req;
  const { respFilters } = req.attempt;
  const list =
    respFilters === null
      ? usualDeliveryFilters(req, core.params)
      : namedDeliveryFilters(respFilters, req.ctx.vcl.extensions);
  if (!('unknown' in list)) return list;
  log.putConstant(list.record);
  log.put(Tag.Error, list.unknown);
  log.put(Tag.Error, 'Failure to push processors');
  return null;
}

/**
 * The chain of a body's filters, which mend the head; null where there are none. Logs Filters.
 * @param length of the body before any filter, and `unpacked` after it was unpacked; -1 where they are not known
 */
export function openChain(
  req: Request,
  list: FilterList<DeliveryFilter>,
  length: number,
  unpacked: number,
): DeliveryChain | null {
  const { core, http, resp, log } = req;
  const { oc } = req.attempt;
  log.putConstant(list.record);
  if (list.filters.length === 0) return null;
  const scope = {
    ...{ request: http, head: resp, log, stats: core.stats, params: core.params },
    ...{ gzipped: isPacked(req), unpacked, length },
    cutsOpenBodies: req.ctx.vcl.changes.openRanges,
    isSeekable: oc === 0 || !core.cache.facts.isUncacheable(oc),
    openPage: oc !== 0 && core.cache.facts.has(oc, OF_ESI) ? () => openPage(req) : null,
  };
  req.attempt.chain = new DeliveryChain(scope, list);
  return req.attempt.chain;
}

/** Opens the filters of the object's body (attempt.chain); its length after them, -1 when that is not known.
 * Makes Content-Length true. */
export function openBody(req: Request, list: FilterList<DeliveryFilter>): number {
  const { resp, attempt, core } = req;
  const { facts, reading } = core.cache;
  const { oc } = attempt;
  const { part } = attempt;
  const isFinished = part === null && facts.isFinished(oc);
  const stated = resp.getAll('content-length');
  const declared = stated === null ? -1 : parseLength(stated);
  const own = isFinished ? reading.bodyLength(oc) : (part?.total ?? declared);
  // The unpacked length is known of what was unpacked to be tested.
  const unpacked = isFinished && facts.has(oc, OF_GZIPPED) ? reading.gunzippedLength(oc) : -1;
  const chain = openChain(req, list, own, unpacked);
  const length = chain?.length ?? own;
  if (chain?.isPart === true && length >= 0) {
    // The head has its length.
  } else if (resp.status === 304 || resp.status === 204) {
    resp.unset('content-length');
  } else if (req.isHead && facts.has(oc, OF_HEAD_ALONE)) {
    // It is the origin's, if it gave one (RFC 9110 section 8.6), unless a GET would be answered with another body.
    const unpacks = core.params.http_gzip_support !== 0 && !req.canGzip && isPacked(req);
    if (unpacks) resp.unset('content-encoding');
    if (unpacks || declared < 0) resp.unset('content-length');
  } else if (chain?.works === true) {
    if (length < 0 || declared !== length) resp.unset('content-length');
    if (length >= 0 && declared !== length) resp.add('Content-Length', String(length), 'content-length');
  } else if (!(declared >= 0 && declared === length) && !(req.isHead && attempt.isPass)) {
    if (stated !== null) resp.unset('content-length');
    if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  }
  return length;
}

/** Whether Content-Encoding of the stored body is gzip, tested or not. */
export function isPacked({ core, attempt, isStoredGzip }: Request): boolean {
  const { oc } = attempt;
  if (isStoredGzip || oc === 0) return isStoredGzip;
  const { cache } = core;
  return (
    fieldIn(cache.reading.headChunk(oc), cache.reading.headAt(oc), 'content-encoding')?.toLowerCase() ===
    'gzip'
  );
}

/** The page that is delivered, with its fragments. */
export function openPage(req: Request): PageInDelivery {
  req.attempt.page ??= new PageFragments(req);
  return req.attempt.page;
}

/** Goes on with FINISH when no fragment of the page is under way any more. */
export function finishAlone({ attempt }: Request, proceed: (next: Step<Request>) => void): void {
  const { page } = attempt;
  if (page === null) proceed(FINISH);
  else {
    page.close();
    page.over(() => proceed(FINISH));
  }
}

/**
 * Sends the bytes [from, to) of the object's stored body through the filters of its chain into a sink.
 * @param done called once, with null when the sink has taken everything
 */
export function startBody(
  req: Request,
  { from, to }: { from: number; to: number },
  chain: DeliveryChain | null,
  sink: Sink,
  done: (reason: Abort | null) => void,
): void {
  const { core, attempt } = req;
  const asserts = core.stepChecks !== null;
  const into = chain === null ? sink : chain.connect(sink, asserts);
  const [first = { from, to }, ...rest] = chain?.parts?.spans ?? [];
  const source =
    attempt.part === null
      ? new StoreSource(core, attempt.oc, first.from, first.to, rest)
      : new SlicedSource(req, attempt.part, [first, ...rest]);
  const flow = new Flow(source, into, asserts, (reason) => {
    req.onAbort = null;
    done(reason);
  });
  req.onAbort = () => flow.cancel('left');
  flow.start();
}

/** Counts a piece of a body as it is written. */
export function countBody(attempt: RequestAttempt, { length }: Piece): void {
  if (length === 0) return;
  if (attempt.bodyBytesOut > 0) attempt.bodyWrites++;
  attempt.bodyBytesOut += length;
}

/** Bytes in one system call: with more the kernel's part costs no less, and others wait longer. */
const A_WRITE = 256 * 1024;

/** `close`: the end of the connection ends the body. `stream`: frames of a stream of HTTP/2. */
export type Framing = 'length' | 'chunked' | 'close' | 'stream';

/** A body on its way to the client's connection. */
export class ClientBody implements Sink, Writer {
  readonly gathers = A_WRITE;
  private readonly req: Request;
  private readonly framing: Framing;
  private readonly promised: number;
  private writer: Writer | null = null;

  /** @param promised bytes; -1 without a promise */
  constructor(req: Request, framing: Framing, promised: number) {
    this.req = req;
    this.framing = framing;
    this.promised = promised;
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: Piece): Room {
    if (this.promised >= 0 && this.sent + piece.length > this.promised) return this.misses();
    return this.send(this.framing === 'chunked' ? chunk(piece, [CHUNK_END]) : piece, piece);
  }

  end(piece: Piece): Room {
    if (this.promised >= 0 && this.sent + piece.length !== this.promised) return this.misses();
    if (this.framing === 'stream') return this.sendLast(piece);
    if (this.framing !== 'chunked') return piece.length === 0 ? 'more' : this.send(piece, piece);
    return this.send(piece.length === 0 ? own(LAST_CHUNK) : chunk(piece, [CHUNK_END, LAST_CHUNK]), piece);
  }

  flush(): void {}

  abort(): void {
    // One that the end of the connection ends needs more than a cut to look broken: see transmit().
    if (this.framing !== 'close') this.req.session.cut('REM_CLOSE');
  }

  room(): void {
    this.writer?.room();
  }

  stop(reason: Abort): void {
    this.writer?.stop(reason);
  }

  private get sent(): number {
    return this.req.attempt.bodyBytesOut;
  }

  private sendLast(piece: Piece): Room {
    const { core, session, attempt } = this.req;
    if (piece.length > 0) core.sendTurns.spent(piece.length);
    countBody(attempt, piece);
    const room = session.stream?.end(piece) ?? 'more';
    if (room === 'wait') session.onRoom(this);
    return room;
  }

  private send(framed: Piece, piece: Piece): Room {
    const { core, session, attempt } = this.req;
    if (piece.length > 0) core.sendTurns.spent(piece.length);
    countBody(attempt, piece);
    const room = session.write(framed);
    if (room === 'wait') session.onRoom(this);
    return room;
  }

  /** The length of the body differs from Content-Length. */
  private misses(): Room {
    this.abort();
    this.stop('length');
    return 'wait';
  }
}

function chunk(piece: Piece, rest: readonly Buffer[]): Piece {
  const size = Buffer.allocUnsafe(CHUNK_HEAD_MAX);
  const n = chunkHead(size, 0, piece.length);
  return new Piece([size.subarray(0, n), ...buffersOf(piece), ...rest], piece);
}
