// Writes the body of a fragment into its page when its turn has come. Nothing else of the response leaves. In a packed
// page a packed body is spliced in as it is stored; a plain one is carried in stored blocks.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Cache } from '../cache/cache.ts';
import { type Oc, OF_ESI } from '../cache/objcore.ts';
import { SplicedData, type StreamPlaces } from '../esi/gzip-stitch.ts';
import type { DeliveryChain } from '../filters/chain.ts';
import { PackedPieces } from '../filters/deflate-places.ts';
import { namedDeliveryFilters, usualDeliveryFilters } from '../filters/filter-table.ts';
import type { PageOutput } from '../filters/page-output.ts';
import type { Abort, Room, Sink, Writer } from '../flow/flow.ts';
import { buffersOf, NOTHING, own, Piece, stored } from '../flow/piece.ts';
import { type Step, waitFor } from '../transaction/drive.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import type { Request } from '../transaction/request.ts';
import { ObjectHolder, ObjectWait, SLICE } from '../transaction/store-flow.ts';
import { turns } from '../turns/turns.ts';
import {
  chooseFilters,
  countBody,
  finishAlone,
  isPacked,
  openBody,
  openChain,
  openPage,
  startBody,
} from './delivery.ts';
import { FINISH, TRANSMIT } from './request-steps.ts';

/** Bytes of a packed body for one reader that may be waited for as a whole: more are unpacked on their way. */
const WHOLE = 128 * 1024;
const UNPACKED = namedDeliveryFilters('gunzip', []);

/** Whether pages look at the statuses of their fragments. */
export function judgesStatuses({ core, ctx }: Request): boolean {
  return core.esi.includeOnerror && ctx.vcl.changes.fragmentStatuses;
}

function refuses(req: Request, place: FragmentPlace): boolean {
  const status = req.resp.status % 1000;
  if (status === 200 || status === 204 || !judgesStatuses(req)) return false;
  place.failed(`its status is ${status}`);
  return true;
}

export function transmitFragment(req: Request, place: FragmentPlace): Step<Request> {
  const { core, attempt } = req;
  if (req.aborted) return FINISH;
  if (!place.isInTurn) return awaitTurn(req, place);
  const { oc } = attempt;
  if (oc === 0) return writeSynth(req, place);
  const { facts } = core.cache;
  const { output } = place;
  const joins = output.sum !== null && !req.isPage && isPacked(req);
  if (joins && !facts.isFinished(oc) && !facts.isFailed(oc) && mayBecomeWhole(req)) {
    return awaitWhole(req, output);
  }
  const isWhole = facts.isFinished(oc);
  if (joins && isWhole && req.isStoredGzip && attempt.places === undefined) {
    const search = new PlacesSearch(core.cache, oc);
    if (!search.lookOn()) return lookLonger(req, place, search);
    attempt.places = search.found;
  }
  const places = attempt.places ?? null;
  // A body that is not a complete gzip stream, or not yet, is decompressed: the log then has the error.
  const isBroken = joins && places === null && !facts.isFailed(oc);
  const list = isBroken && !('unknown' in UNPACKED) ? UNPACKED : chooseFilters(req);
  if (list === null) {
    place.failed('no such filter');
    return FINISH;
  }
  const length = openBody(req, list);
  const { chain } = attempt;
  if (refuses(req, place)) return FINISH;
  if (joins && facts.isFailed(oc)) {
    place.failed('its body broke off');
    return FINISH;
  }
  const { status } = req.resp;
  if (status < 200 || status === 204 || status === 304 || length === 0) return FINISH;
  const working = chain?.works === true ? chain : null;
  if (working === null && places === null && isWhole && output.makesRoom(length)) {
    writeStored(req, output, length);
    return FINISH;
  }
  const door = places !== null && working === null ? new SplicedData(places) : doorFor(req, output, working);
  if (door === null) {
    place.failed('packed by a filter, which cannot join a packed page');
    return FINISH;
  }
  const whole = { from: 0, to: Number.POSITIVE_INFINITY };
  return waitFor(req, (proceed) =>
    startBody(req, whole, working, new PageSink(req, output, door, places), (reason) => {
      if (reason !== null && !req.aborted) place.failed('its body broke off');
      finishAlone(req, proceed);
    }),
  );
}

/** Goes on in the next turns, until it is known where the blocks lie. */
function lookLonger(req: Request, place: FragmentPlace, search: PlacesSearch): Step<Request> {
  // Gathered bytes must not wait with it.
  place.output.flush();
  return waitFor(req, (proceed) => {
    const go = (): void => {
      if (!req.aborted && !search.lookOn()) {
        place.budget.leaveTurn(go);
        return;
      }
      req.attempt.places = search.found;
      proceed(TRANSMIT);
    };
    place.budget.leaveTurn(go);
  });
}

/** Writes a whole stored body, for which the page has made room: it copies what it takes. */
export function writeStored({ core, attempt }: Request, output: PageOutput, length: number): void {
  const { reading } = core.cache;
  const holder = new ObjectHolder(core.cache, attempt.oc);
  for (let at = 0; at < length; ) {
    const slice = reading.slice(attempt.oc, at, length - at);
    output.write(stored([slice], holder));
    at += slice.length;
  }
  attempt.bodyBytesOut = length;
}

/** How the bytes of a fragment join a page: as they are, as plain bytes, or as deflate data that is made to continue. */
type Door = 'raw' | 'plain' | SplicedData;

/** Null where packed bytes come that cannot be spliced in. */
function doorFor(req: Request, output: PageOutput, chain: DeliveryChain | null): Door | null {
  if (output.sum === null) return 'raw';
  if (chain === null || !chain.gzipped) return 'plain';
  const names = chain.workingNames;
  if (names.length !== 1 || names[0] !== 'esi') return null;
  openPage(req).isBare = true;
  return 'raw';
}

/** The body of a fragment on its way into its page, which takes one part after the other. */
export class PageSink implements Sink, Writer {
  readonly gathers = SLICE;
  private readonly req: Pick<Request, 'attempt'>;
  private readonly output: PageOutput;
  private readonly door: Door;
  private readonly places: StreamPlaces | null;
  private writer: Writer | null = null;
  /** The piece written last, held while the page has not been given all of it, and what is left of it. */
  private piece = NOTHING;
  private rest: Buffer[] = [];

  /** @param places of the stream that is spliced in */
  constructor(
    req: Pick<Request, 'attempt'>,
    output: PageOutput,
    door: Door,
    places: StreamPlaces | null = null,
  ) {
    this.req = req;
    this.output = output;
    this.door = door;
    this.places = places;
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: Piece): Room {
    const { door } = this;
    countBody(this.req.attempt, piece);
    piece.hold();
    this.piece = piece;
    const parts = buffersOf(piece);
    this.rest = typeof door === 'string' ? [...parts] : parts.flatMap((part) => door.take(part));
    return this.pour();
  }

  end(piece: Piece): Room {
    const room = this.write(piece);
    if (typeof this.door !== 'string' && this.places !== null) this.output.sum?.add(this.places);
    return room;
  }

  flush(): void {
    this.output.flush();
  }

  abort(): void {
    this.letGo();
  }

  room(): void {
    if (this.pour() === 'more') this.writer?.room();
  }

  stop(reason: Abort): void {
    this.letGo();
    this.writer?.stop(reason);
  }

  private pour(): Room {
    const { output, door, rest, piece } = this;
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const next = new Piece([part], piece);
      if ((door === 'plain' ? output.writePlain(next) : output.write(next)) === 'wait') {
        output.onRoom(this);
        return 'wait';
      }
    }
    this.letGo();
    return 'more';
  }

  private letGo(): void {
    const { piece } = this;
    this.rest = [];
    this.piece = NOTHING;
    piece.release();
  }
}

/** The body waits where it is stored; the includes of a fragment that is a page itself are fetched meanwhile. */
function awaitTurn(req: Request, place: FragmentPlace): Step<Request> {
  const { oc } = req.attempt;
  // Bytes that are lent for this turn only.
  req.resp.raw = null;
  if (req.isPage) openPage(req).waits();
  return waitFor(req, (proceed) => {
    req.onAbort = () => finishAlone(req, proceed);
    place.awaitTurn(oc === 0 || req.core.cache.facts.isFinished(oc), () => {
      req.onAbort = null;
      proceed(TRANSMIT);
    });
  });
}

function writeSynth(req: Request, place: FragmentPlace): Step<Request> {
  const { output } = place;
  const { core, log, attempt } = req;
  const body = Buffer.from(attempt.synthBody ?? '', 'latin1');
  log.put(Tag.Storage, 'malloc Transient');
  openChain(req, usualDeliveryFilters(req, core.params), body.length, -1);
  if (refuses(req, place)) return FINISH;
  attempt.bodyBytesOut = body.length;
  if (req.resp.status === 204 || req.resp.status === 304) return FINISH;
  if (output.writePlain(own(body)) === 'more') return FINISH;
  return waitFor(req, (proceed) => {
    const over = (): void => {
      req.onAbort = null;
      proceed(FINISH);
    };
    req.onAbort = over;
    output.onRoom({ room: over });
  });
}

/** Waits for the end of a packed fragment. */
function awaitWhole(req: Request, output: PageOutput): Step<Request> {
  const { cache } = req.core;
  const { oc } = req.attempt;
  return waitFor(req, (proceed) => {
    const isOver = (): boolean => cache.facts.isFinished(oc) || cache.facts.isFailed(oc);
    const wait = new ObjectWait(cache, oc, isOver, () => {
      req.onAbort = null;
      proceed(TRANSMIT);
    });
    req.onAbort = () => {
      wait.leave();
      proceed(FINISH);
    };
    // Gathered bytes must not wait with it.
    output.flush();
  });
}

/** Whether its end may be waited for without anybody reading it. */
function mayBecomeWhole({ core, attempt }: Request): boolean {
  const { facts, reading } = core.cache;
  if (!attempt.isPass && !facts.isUncacheable(attempt.oc)) return true;
  const declared = reading.declaredLength(attempt.oc);
  return declared >= 0 && declared <= WHOLE;
}

/** Bytes of a gzip stream after its data: the sum and the length. */
const TRAILER = 8;
/** Bytes that one byte of deflate data can stand for: 258 in two bits (RFC 1951 section 3.2.5). */
const MOST_PACKED = 1032;

/**
 * Finds where the blocks of a finished packed object lie, for it to be spliced into a page: at its first such use, and kept
 * beside the object. That reads all of it, so that a long one is looked through over several turns of the event loop. Of a
 * page of edge-side includes that is not delivered as one nothing is kept: beside it is its plan.
 */
export class PlacesSearch {
  /** Once the search is over; null where the object is not one whole gzip stream, or may be too long for one. */
  found: StreamPlaces | null = null;
  private readonly cache: Cache;
  private readonly oc: Oc;
  private readonly size: number;
  private readonly pieces = new PackedPieces();
  private at = 0;

  constructor(cache: Cache, oc: Oc) {
    this.cache = cache;
    this.oc = oc;
    this.size = cache.reading.bodyLength(oc);
  }

  /** Looks on as long as this turn of the event loop has time for it; true when it is over. */
  lookOn(): boolean {
    const { cache, oc, size } = this;
    const { reading } = cache;
    const kept = this.keeps ? reading.annex(oc) : null;
    if (kept !== null) {
      this.found = decode(kept);
      return true;
    }
    // The trailer states a length modulo 2^32, but sums of pieces are put together by the true one.
    if (reading.gunzippedLength(oc) < 0 && size * MOST_PACKED >= 2 ** 32) return true;
    const holder = new ObjectHolder(cache, oc);
    while (this.at < size) {
      const slice = stored([reading.slice(oc, this.at, SLICE)], holder);
      this.pieces.add(buffersOf(slice)[0] as Buffer);
      this.at += slice.length;
      // A slice takes 0.3 ms.
      turns.tookLong();
      if (this.at < size && !turns.mayContinue()) return false;
    }
    this.found = this.conclude();
    if (this.found !== null && this.keeps) cache.filling.setAnnex(oc, encode(this.found));
    return true;
  }

  private get keeps(): boolean {
    return !this.cache.facts.has(this.oc, OF_ESI);
  }

  private conclude(): StreamPlaces | null {
    const { size } = this;
    const found = this.pieces.found();
    // After the last block nothing but the trailer.
    if (found === null || Math.ceil(found.stop / 8) + TRAILER !== size) return null;
    const trailer = Buffer.alloc(TRAILER);
    this.cache.reading.copyBody(this.oc, size - TRAILER, trailer, 0, TRAILER);
    const { start, last, stop } = found;
    return { from: start / 8, last, stop, crc: trailer.readUInt32LE(0), length: trailer.readUInt32LE(4) };
  }
}

function encode({ from, last, stop, crc, length }: StreamPlaces): Buffer {
  return Buffer.from(Float64Array.of(from, last, stop, crc, length).buffer);
}

function decode(kept: Buffer): StreamPlaces {
  const at = (i: number): number => kept.readDoubleLE(i * 8);
  return { from: at(0), last: at(1), stop: at(2), crc: at(3), length: at(4) };
}
