// The body's way from the origin into the store, through a gzip filter where one is wanted. A gzipped body is
// unpacked as it passes only to see that it is whole: bytes become visible to clients after that check, so a
// corrupt one is never delivered as complete (SAFETY rule 3).
//
// Backpressure: a private body may be ahead of its reader by so much and no more; a cacheable one is bounded by
// its storage. When the last client of a private body has left, the fetch ends.

import { createGunzip, createGzip, type Gunzip, type Gzip } from 'node:zlib';
import { type FetchFailure, fetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Backend } from '../backend/backend.ts';
import type { OriginConnection } from '../backend/connection.ts';
import type { OriginBodySink } from '../backend/exchange-roles.ts';
import { PackedPieces } from '../filters/deflate-places.ts';
import type { BodyFraming } from '../http1/framing.ts';
import { logFetchFilters } from '../log/filter-records.ts';
import type { BusyObj } from './busyobj.ts';
import { isPackedAnew } from './prepare.ts';
import { type FetchStep, PARKED, STORED } from './steps.ts';

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

/** First letter of the Gzip record: packing, unpacking, unpacking to test. */
const GZIP_KIND = { gzip: 'G', gunzip: 'U', testgunzip: 'u', none: '' } as const;

function gzipOptions({ core }: BusyObj): { level: number; memLevel: number; chunkSize: number } {
  const { gzip_level, gzip_memlevel, gzip_buffer } = core.params;
  return { level: gzip_level, memLevel: gzip_memlevel, chunkSize: gzip_buffer };
}

const NOTHING = { data: () => undefined, end: () => undefined, error: () => undefined };

/** Begins to take the body, as far as it is to be had at once; STORED when nothing is left to wait for. */
export function fetchBody(bo: BusyObj, framing: BodyFraming): FetchStep {
  const { log, oc } = bo;
  const { cache } = bo.core;
  bo.framing = framing;
  log.put(Tag.Fetch_Body, KIND[framing.kind][bo.doStream ? 0 : 1]);
  if (framing.kind === 'none') {
    // Nothing to stream: it is shown when the connection is back in the pool, for what its client may do next.
    readNoBody(bo, framing);
    return STORED;
  }
  const connection = bo.exchange.connection as OriginConnection;
  const pump = new BodyPump(bo, connection);
  bo.pump = pump;
  pump.run(framing);
  // A body that came with its head needs no streaming: it leaves with its head, too, in one write.
  if (bo.doStream && !pump.isWhole && !pump.isAlmostWhole) cache.unbusy(oc, bo.uncacheable);
  return pump.park();
}

/** The body is there or has broken off. False when it did not come whole; the object is not finished then. */
export function bodyOver(bo: BusyObj): boolean {
  const { core, log, oc, pump, framing, exchange } = bo;
  const { cache } = core;
  const failure = pump !== null ? pump.failure : bo.copyFailure;
  if (failure !== null) {
    const own = fetchFailure(failure);
    const origin = exchange.connection?.failure ?? null;
    if (origin !== null && origin.detail !== '') log.put(Tag.FetchError, origin.detail);
    // What is wrong with a packed body was told where it was seen.
    if (origin !== null || failure !== 'bad-gzip') log.put(Tag.FetchError, origin?.text ?? own.text);
    if (pump !== null) logFetchFilters(log, framing.kind, bo.filter, pump.calls);
    exchange.end('RX_BODY');
    return false;
  }
  if (pump !== null) logFetchFilters(log, framing.kind, bo.filter, pump.calls);
  exchange.end(framing.kind === 'eof' ? 'RESP_CLOSE' : null);
  log.timestamp('BerespBody', core.clock.now());
  log.open().int(cache.bodyLength(oc)).close(Tag.Length);
  cache.finish(oc, bo.uncacheable);
  // Nobody will be given the old one again: without this, markers would pile up as fast as requests come.
  if (bo.staleOc !== 0) cache.kill(bo.staleOc);
  return true;
}

/** The exchange is over with its head: the connection may go back to the pool. */
export function readNoBody(bo: BusyObj, framing: BodyFraming): void {
  bo.framing = framing;
  (bo.exchange.connection as OriginConnection).readBody(framing, 0, NOTHING);
}

export class BodyPump implements OriginBodySink {
  /** Why the body broke off. */
  failure: FetchFailure | null = null;
  private readonly bo: BusyObj;
  private readonly connection: OriginConnection;
  private readonly zip: Gunzip | Gzip | null;
  /** Only where there is a filter. */
  private readonly places: PackedPieces | null;
  private pending = 0;
  /** Bytes given to the filter. */
  private packed = 0;
  private ended = false;
  /** How often the body's reader and its filter gave something, and how much. */
  readonly calls = { read: 0, readBytes: 0, filtered: 0, filteredBytes: 0 };
  /** The last bytes of a body under test: a client that has the length would take them for the end of a whole one. */
  private held: Buffer | null = null;
  private unpacked = 0;
  private settled = false;
  /** The fetch waits for the end. */
  private parked = false;

  constructor(bo: BusyObj, connection: OriginConnection) {
    this.bo = bo;
    this.connection = connection;
    this.zip = this.openFilter();
    this.places = this.zip === null ? null : new PackedPieces();
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
    return this.ended && !this.settled && this.bo.filter === 'testgunzip';
  }

  run(framing: BodyFraming): void {
    const { bo, connection } = this;
    const timeout =
      bo.betweenBytesTimeout >= 0
        ? bo.betweenBytesTimeout
        : (bo.exchange.backend as Backend).betweenBytesTimeout;
    bo.core.cache.onConsume(bo.oc, () => this.pace());
    connection.readBody(framing, timeout, this);
  }

  /** Waits for the end, unless it has come. */
  park(): FetchStep {
    if (this.settled) return STORED;
    this.parked = true;
    return PARKED;
  }

  data(buf: Uint8Array, start: number, end: number): void {
    if (this.settled) return;
    const { zip, calls } = this;
    calls.read++;
    calls.readBytes += end - start;
    if (this.bo.filter === 'testgunzip') {
      calls.filtered++;
      calls.filteredBytes += end - start;
    }
    if (zip === null) {
      this.store(buf, start, end);
      this.pace();
      return;
    }
    // zlib works in another thread: the connection's buffer will be gone by then.
    const bytes = Buffer.from(buf.subarray(start, end));
    this.pending++;
    this.packed += bytes.length;
    if (this.bo.filter !== 'gzip') this.places?.add(bytes);
    if (this.pending > 4) this.connection.pause();
    zip.write(bytes, () => {
      this.pending--;
      if (this.settled) return;
      if (this.bo.filter === 'testgunzip') {
        if (this.ended && this.pending === 0) this.held = bytes;
        else this.store(bytes, 0, bytes.length);
      }
      if (this.ended && this.pending === 0) zip.end();
      else this.pace();
    });
  }

  end(): void {
    this.ended = true;
    if (this.zip === null) this.finish(null);
    else if (this.pending === 0) this.zip.end();
  }

  private store(bytes: Uint8Array, start: number, end: number): void {
    const { bo } = this;
    if (this.settled) return;
    if (!bo.core.cache.append(bo.oc, bytes, start, end)) this.finish('storage');
  }

  /** Stops or goes on reading as the reader of a private body keeps up; gives up when there is none left. */
  private pace(): void {
    if (this.settled) return;
    const { bo, connection } = this;
    const { cache } = bo.core;
    let behind = false;
    if (bo.uncacheable && !bo.isBgFetch) {
      if (cache.isAbandoned(bo.oc)) {
        this.finish('no-reader');
        return;
      }
      behind = bo.doStream && cache.inTransit(bo.oc) > TRANSIT;
    }
    // A few packed bytes may become very many: the filter waits as the connection does (SAFETY rule 11).
    if (this.zip !== null && bo.filter !== 'testgunzip') {
      if (behind) this.zip.pause();
      else this.zip.resume();
    }
    if (behind || this.pending > 4) connection.pause();
    else connection.resume();
  }

  private openFilter(): Gunzip | Gzip | null {
    const { bo } = this;
    const { stats, cache } = bo.core;
    if (bo.filter === 'none') return null;
    const zip = bo.filter === 'gzip' ? createGzip(gzipOptions(bo)) : createGunzip();
    const anew = isPackedAnew(bo);
    if (bo.filter === 'gzip' || anew) stats.n_gzip++;
    if (bo.filter === 'gunzip' || anew) stats.n_gunzip++;
    else if (bo.filter === 'testgunzip') stats.n_test_gunzip++;
    // Also a destroyed filter may still say what it was about to say: the object may be gone by then.
    zip.on('data', (bytes: Buffer) => {
      if (this.settled) return;
      this.unpacked += bytes.length;
      if (bo.filter === 'testgunzip') return;
      if (bo.filter === 'gzip') this.places?.add(bytes);
      this.calls.filtered++;
      this.calls.filteredBytes += bytes.length;
      this.store(bytes, 0, bytes.length);
      this.pace();
    });
    zip.on('end', () => {
      if (this.settled) return;
      // Bytes behind the end of the gzip data: whatever they are, this is not the body the origin meant.
      if (bo.filter !== 'gzip' && (!this.ended || zip.bytesWritten !== this.packed)) {
        bo.log.put(Tag.FetchError, fetchFailure('bad-gzip').text);
        this.finish('bad-gzip');
        return;
      }
      if (this.held !== null) this.store(this.held, 0, this.held.length);
      // Storing may have been in vain, and the object may be gone with its last reader.
      if (this.settled) return;
      const stored = cache.bodyLength(bo.oc);
      const length = bo.filter === 'gzip' ? this.packed : this.unpacked;
      if (bo.filter !== 'gunzip') cache.setGunzippedLength(bo.oc, length);
      const sizes = bo.filter === 'gzip' ? `${this.packed} ${stored}` : `${this.packed} ${this.unpacked}`;
      bo.log.put(Tag.Gzip, `${GZIP_KIND[bo.filter]} F - ${sizes} ${this.places?.places()}`);
      this.finish(null);
    });
    zip.on('error', (error: Error & { errno?: number; code?: string }) => this.spoilt(error));
    return zip;
  }

  /** Says what is wrong with a packed body in the words of Varnish. */
  private spoilt(error: Error & { errno?: number; code?: string }): void {
    if (this.settled) return;
    const { log } = this.bo;
    if (error.code === 'Z_BUF_ERROR') log.put(Tag.FetchError, 'tGunzip failed');
    else {
      log.put(Tag.Gzip, `Gunzip error: ${error.errno ?? 0} (${error.message})`);
      log.put(Tag.FetchError, `Invalid Gzip data: ${error.message}`);
    }
    this.finish('bad-gzip');
  }

  error(reason: FetchFailure): void {
    this.finish(reason);
  }

  private finish(failure: FetchFailure | null): void {
    if (this.settled) return;
    this.settled = true;
    this.failure = failure;
    this.zip?.destroy();
    if (this.parked) this.bo.resume(STORED);
  }
}
