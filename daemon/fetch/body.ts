// The body of a fetch: the origin's into the store, through its filters where it has any. A private body may be ahead of its
// reader by the transit buffer (StoreSink); a cacheable one is bounded by its storage. When the last client of a private body
// has left, the fetch ends.

import { type FetchFailure, fetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { OF_ESI } from '../cache/objcore.ts';
import { ownPlace } from '../cache/part-facts.ts';
import type { FetchChain } from '../filters/chain.ts';
import { KeepingQueue } from '../filters/keeping-queue.ts';
import { type Abort, asserted, DISCARD, Flow, type Source } from '../flow/flow.ts';
import type { AnyPiece } from '../flow/piece.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { logBodyReader } from '../log/body-records.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import { StoreSink, TRANSIT } from '../transaction/store-flow.ts';
import type { BusyObj } from './busyobj.ts';
import { STORED } from './fetch-steps.ts';
import { noteLength, replaceStale } from './prepare.ts';

/** Texts of Fetch_Body: streamed, and not. */
const KIND = {
  none: ['0 none -', '0 none -'],
  chunked: ['2 chunked stream', '2 chunked -'],
  length: ['3 length stream', '3 length -'],
  eof: ['4 eof stream', '4 eof -'],
  error: ['1 error -', '1 error -'],
} as const;

/** Begins to take the body, as far as it is to be had at once; STORED when nothing is left to wait for. */
export function fetchBody(bo: BusyObj, framing: BodyFraming): Step<BusyObj> {
  const { log, oc } = bo;
  const { cache } = bo.core;
  bo.attempt.framing = framing;
  log.put(Tag.Fetch_Body, KIND[framing.kind][bo.attempt.doStream ? 0 : 1]);
  if (framing.kind === 'none') {
    // Nothing to stream: it is shown when the connection is back in the pool, for what its client may do next.
    readNoBody(bo, framing);
    return STORED;
  }
  const connection = bo.attempt.connection as OriginConnection;
  const body = new BodyFetch(bo, connection);
  bo.attempt.body = body;
  body.start(framing);
  // A body that came with its head needs no streaming: it leaves with its head, too, in one write.
  if (bo.attempt.doStream && !body.isWhole && !body.isAlmostWhole) cache.filling.unbusy(oc, bo.uncacheable);
  return body.park();
}

/** The body is there or has broken off. False when it did not come whole; the object is not finished then. */
export function bodyOver(bo: BusyObj): boolean {
  const { core, log, oc, attempt } = bo;
  const { body, framing } = bo.attempt;
  const { cache } = core;
  const failure = (body !== null ? body.failure : bo.attempt.copyFailure) ?? shortSlice(bo);
  if (failure !== null) {
    if (failure === 'storage' && bo.part !== null) bo.part.lacksRoom = true;
    if (failure === 'storage' && framing.kind !== 'length') noteLength(bo, false);
    const own = fetchFailure(failure);
    const origin = attempt.connection?.failure ?? null;
    if (origin !== null && origin.detail !== '') log.put(Tag.FetchError, origin.detail);
    // A filter has logged what it found wrong.
    if (origin !== null || failure !== 'bad-gzip') log.put(Tag.FetchError, origin?.text ?? own.text);
    body?.report(framing);
    attempt.end('RX_BODY');
    return false;
  }
  body?.report(framing);
  attempt.end(framing.kind === 'eof' ? 'RESP_CLOSE' : null);
  log.timestamp('BerespBody', core.clock.now());
  log.open().int(cache.reading.bodyLength(oc)).close(Tag.Length);
  noteLength(bo, true);
  cache.filling.finish(oc, bo.uncacheable);
  replaceStale(bo);
  return true;
}

/** A slice of another length would leave a gap in its object, or fill one twice. */
function shortSlice({ attempt, core, oc }: BusyObj): FetchFailure | null {
  const { part } = attempt;
  if (part === null) return null;
  const { from, to } = ownPlace(part);
  return core.cache.reading.bodyLength(oc) === to - from ? null : 'short-body';
}

/** The exchange is over with its head: the connection may go back to the pool. */
export function readNoBody(bo: BusyObj, framing: BodyFraming): void {
  bo.attempt.framing = framing;
  (bo.attempt.connection as OriginConnection).readBody(framing, DISCARD);
}

/** The body of an answer on its way into the store. */
class BodyFetch {
  /** Why the body broke off. */
  failure: FetchFailure | null = null;
  /** The body has passed, or broken off. */
  private settled = false;
  /** The fetch waits for that. */
  private parked = false;
  private readonly bo: BusyObj;
  private readonly connection: OriginConnection;
  /** The filters, where any has something to do. */
  private readonly chain: FetchChain | null;
  private queue: KeepingQueue | null = null;
  private readonly account: { readonly bodyIn: number; readonly piecesIn: number };

  constructor(bo: BusyObj, connection: OriginConnection) {
    this.bo = bo;
    this.connection = connection;
    this.account = connection.bytes;
    const { chain } = bo.attempt;
    this.chain = chain?.works === true ? chain : null;
  }

  /** Whether the body has come to its end. */
  get isWhole(): boolean {
    return this.settled && this.failure === null;
  }

  /**
   * All of it is here and only its check is not over: worth the wait of a moment, since a corrupt one can still become
   * an error that the client sees. Packing cannot fail, and unpacking may yield very much.
   */
  get isAlmostWhole(): boolean {
    return this.queue?.ended === true && !this.settled && this.chain?.recoded === false;
  }

  start(framing: BodyFraming): void {
    const { bo, connection, chain } = this;
    const { core, attempt } = bo;
    const asserts = core.stepChecks !== null;
    const isPrivate = bo.uncacheable && !bo.isBgFetch;
    const reader = !isPrivate ? 'none' : attempt.doStream ? 'streaming' : 'whole';
    const store = new StoreSink(core.cache.filling, bo.oc, reader, null, bo.transitBuffer || TRANSIT);
    if (chain !== null) this.queue = new KeepingQueue(asserted(chain.connect(store, asserts), asserts));
    const source: Source<AnyPiece> = {
      start: (sink) => connection.readBody(framing, sink),
      room: () => connection.room(),
      stop: () => connection.stop(),
    };
    new Flow<AnyPiece>(source, this.queue ?? store, asserts, (reason) => this.passed(reason)).start();
    this.queue?.uncork();
  }

  /** Waits for the end, unless it has come. */
  park(): Step<BusyObj> {
    if (this.settled) return STORED;
    this.parked = true;
    return PARKED;
  }

  /** Logs the filters and then the reader of the framing. */
  report(framing: BodyFraming): void {
    const { log, attempt } = this.bo;
    attempt.chain?.report();
    logBodyReader(log, framing.kind, this.account.piecesIn, this.account.bodyIn);
  }

  private passed(reason: Abort | null): void {
    this.settled = true;
    this.countTransit();
    if (reason !== null) this.failure = failureOf(reason);
    else if (this.chain !== null) this.failure = this.keepFindings(this.chain);
    if (this.parked) this.bo.resume(STORED);
  }

  /** Counts the bytes of a body that is for one reader. */
  private countTransit(): void {
    const { core, uncacheable, isBgFetch, transitBuffer, oc } = this.bo;
    if (!uncacheable || isBgFetch) return;
    const length = core.cache.reading.bodyLength(oc);
    if (transitBuffer > 0) core.stats.transit_buffered += length;
    else core.stats.transit_stored += length;
  }

  /** Keeps what the filters have found out about the body. */
  private keepFindings(chain: FetchChain): FetchFailure | null {
    const { bo } = this;
    const { filling } = bo.core.cache;
    if (chain.gzipped && chain.unpacked >= 0) filling.setGunzippedLength(bo.oc, chain.unpacked);
    if (chain.plan === null) return null;
    const isKept = filling.setAnnex(bo.oc, chain.plan, OF_ESI);
    bo.core.esi.pages = true;
    return isKept ? null : 'storage';
  }
}

/** The failure of a fetch whose body broke off: what an origin or the store reports is one. */
function failureOf(reason: Abort): FetchFailure {
  return reason === 'filter' ? 'bad-gzip' : (reason as FetchFailure);
}
