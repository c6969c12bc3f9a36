// The body's way from the origin into the store, through its filters where it has any.
//
// Backpressure: a private body may be ahead of its reader by so much and no more; a cacheable one is bounded by
// its storage. When the last client of a private body has left, the fetch ends.

import { type FetchFailure, fetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { OriginConnection } from '../backend/connection.ts';
import type { OriginBodySink } from '../backend/exchange-roles.ts';
import { OF_ESI } from '../cache/objcore.ts';
import type { FetchChain } from '../filters/chain.ts';
import type { Outlet } from '../filters/filter.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { keep, type LentBytes } from '../http1/lent-bytes.ts';
import { logBodyReader } from '../log/body-records.ts';
import { PARKED, type Step } from '../transaction/drive.ts';
import type { BusyObj } from './busyobj.ts';
import { STORED } from './fetch-steps.ts';
import { replaceStale } from './replace.ts';

/** Bytes a private body may be ahead of its reader. */
const TRANSIT = 256 * 1024;

/** Texts of Fetch_Body: streamed, and not. */
const KIND = {
  none: ['0 none -', '0 none -'],
  chunked: ['2 chunked stream', '2 chunked -'],
  length: ['3 length stream', '3 length -'],
  eof: ['4 eof stream', '4 eof -'],
  error: ['1 error -', '1 error -'],
} as const;

/** Pieces that may wait for the filters before the origin does. */
const PIECES = 4;
const NO_BYTES = Buffer.alloc(0);

const NO_SINK = { data: () => undefined, end: () => undefined, error: () => undefined };

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
  const connection = bo.exchange.connection as OriginConnection;
  const pump = new BodyPump(bo, connection);
  bo.attempt.pump = pump;
  pump.run(framing);
  // A body that came with its head needs no streaming: it leaves with its head, too, in one write.
  if (bo.attempt.doStream && !pump.isWhole && !pump.isAlmostWhole) cache.filling.unbusy(oc, bo.uncacheable);
  return pump.park();
}

/** The body is there or has broken off. False when it did not come whole; the object is not finished then. */
export function bodyOver(bo: BusyObj): boolean {
  const { core, log, oc, exchange } = bo;
  const { pump, framing } = bo.attempt;
  const { cache } = core;
  const failure = pump !== null ? pump.failure : bo.attempt.copyFailure;
  if (failure !== null) {
    const own = fetchFailure(failure);
    const origin = exchange.connection?.failure ?? null;
    if (origin !== null && origin.detail !== '') log.put(Tag.FetchError, origin.detail);
    // What a filter found wrong was logged by it.
    if (origin !== null || failure !== 'bad-gzip') log.put(Tag.FetchError, origin?.text ?? own.text);
    pump?.report(framing);
    exchange.end('RX_BODY');
    return false;
  }
  pump?.report(framing);
  exchange.end(framing.kind === 'eof' ? 'RESP_CLOSE' : null);
  log.timestamp('BerespBody', core.clock.now());
  log.open().int(cache.reading.bodyLength(oc)).close(Tag.Length);
  cache.filling.finish(oc, bo.uncacheable);
  replaceStale(bo);
  return true;
}

/** The exchange is over with its head: the connection may go back to the pool. */
export function readNoBody(bo: BusyObj, framing: BodyFraming): void {
  bo.attempt.framing = framing;
  (bo.exchange.connection as OriginConnection).readBody(framing, NO_SINK);
}

export class BodyPump implements OriginBodySink {
  /** Why the body broke off. */
  failure: FetchFailure | null = null;
  private readonly bo: BusyObj;
  private readonly connection: OriginConnection;
  /** The filters, where any has something to do. */
  private readonly chain: FetchChain | null;
  /** Bytes that the origin announced; -1 where it did not. */
  private readonly length: number;
  /** Pieces that came and that the filters have not taken yet. */
  private pieces: Buffer[] = [];
  /** The filters are not done with what they took last. */
  private busy = false;
  /** All that there is has been read for now, and goes to the filters together. */
  private gathering = false;
  /** The body's end has come from the origin, and has gone to the filters. */
  private ended = false;
  private given = false;
  /** What came out of the filters has stopped them. */
  private stopped = false;
  /** How often and how many bytes the origin gave. */
  private calls = 0;
  private bytes = 0;
  private settled = false;
  /** The fetch waits for the end. */
  private parked = false;

  constructor(bo: BusyObj, connection: OriginConnection) {
    this.bo = bo;
    this.connection = connection;
    const { chain, framing } = bo.attempt;
    this.length = framing.kind === 'length' ? framing.length : -1;
    this.chain = chain?.works === true ? chain : null;
    this.chain?.connect(this.outlet());
  }

  /** Whether the body has come to its end. */
  get isWhole(): boolean {
    return this.settled && this.failure === null;
  }

  /**
   * All of it is here and only its check is not over: worth the wait of a moment, since a corrupt one can still become
   * an error that the client sees. Packing cannot fail, and what comes of unpacking may be very much.
   */
  get isAlmostWhole(): boolean {
    return this.ended && !this.settled && this.chain?.recoded === false;
  }

  run(framing: BodyFraming): void {
    const { bo, connection } = this;
    bo.core.cache.filling.onConsume(bo.oc, () => this.pace());
    this.gathering = true;
    connection.readBody(framing, this);
    this.gathering = false;
    this.feed();
    // The pieces that stopped the connection may be gone at once.
    this.pace();
  }

  /** Waits for the end, unless it has come. */
  park(): Step<BusyObj> {
    if (this.settled) return STORED;
    this.parked = true;
    return PARKED;
  }

  data(buf: LentBytes, start: number, end: number, pieces: number): void {
    if (this.settled) return;
    this.calls += pieces;
    this.bytes += end - start;
    if (this.chain === null) this.store(buf, start, end);
    else {
      // The connection's buffer will be gone when the filters come to it.
      this.pieces.push(keep(buf, start, end));
      // The filters are to know the last piece as such: end() follows at once.
      if (this.bytes !== this.length) this.feed();
    }
    this.pace();
  }

  end(): void {
    this.ended = true;
    if (this.chain === null) this.finish(null);
    else this.feed();
  }

  error(reason: FetchFailure): void {
    this.finish(reason);
  }

  /** Logs what passed, the filters and then the reader of its framing. */
  report(framing: BodyFraming): void {
    const { log, attempt } = this.bo;
    attempt.chain?.report();
    logBodyReader(log, framing.kind, this.calls, this.bytes);
  }

  /** Gives the filters what they take. */
  private feed(): void {
    const { chain, pieces } = this;
    if (chain === null || this.gathering) return;
    while (!this.busy && !this.settled && !this.given && (pieces.length > 0 || this.ended)) {
      const bytes = pieces.shift() ?? NO_BYTES;
      this.given = this.ended && pieces.length === 0;
      this.busy = !chain.data(bytes, this.given);
    }
  }

  /** What comes out of the filters. */
  private outlet(): Outlet {
    return {
      data: (bytes, last) => {
        this.store(bytes, 0, bytes.length);
        if (last) this.allStored();
        else this.pace();
        return !this.stopped;
      },
      ready: () => {
        this.busy = false;
        this.feed();
        this.pace();
      },
      fail: () => this.finish('bad-gzip'),
    };
  }

  private allStored(): void {
    const { bo, chain } = this;
    // Storing may have been in vain, and the object may be gone with its last reader.
    if (this.settled || chain === null) return;
    const { filling } = bo.core.cache;
    if (chain.gzipped && chain.unpacked >= 0) filling.setGunzippedLength(bo.oc, chain.unpacked);
    const isKept = chain.plan === null || filling.setAnnex(bo.oc, chain.plan, OF_ESI);
    if (chain.plan !== null) bo.core.esi.pages = true;
    this.finish(isKept ? null : 'storage');
  }

  private store(bytes: LentBytes, start: number, end: number): void {
    const { bo } = this;
    if (this.settled) return;
    if (!bo.core.cache.filling.append(bo.oc, bytes, start, end)) this.finish('storage');
  }

  /** Stops or goes on reading as the reader of a private body keeps up; gives up when there is none left. */
  private pace(): void {
    if (this.settled) return;
    const { bo, connection } = this;
    const { cache } = bo.core;
    let behind = false;
    if (bo.uncacheable && !bo.isBgFetch) {
      if (cache.filling.isAbandoned(bo.oc)) {
        this.finish('no-reader');
        return;
      }
      behind = bo.attempt.doStream && cache.filling.inTransit(bo.oc) > TRANSIT;
    }
    if (behind || this.pieces.length > PIECES) connection.pause();
    else connection.resume();
    // A few packed bytes may become very many: the filters wait as the connection does (SAFETY rule 11).
    const goesOn = this.stopped && !behind;
    this.stopped = behind;
    if (goesOn) this.chain?.resume();
  }

  private finish(failure: FetchFailure | null): void {
    if (this.settled) return;
    this.settled = true;
    this.failure = failure;
    this.chain?.close();
    if (this.parked) this.bo.resume(STORED);
  }
}
