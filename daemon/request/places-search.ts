// Where the blocks of a finished packed object lie, for it to be spliced into a page: looked for at its first such use,
// and kept beside the object. That reads all of it, so that a long one is looked through over several turns of the event
// loop. Of a page of edge-side includes that is not delivered as one nothing is kept: beside it is its plan.

import type { Cache } from '../cache/cache.ts';
import { type Oc, OF_ESI } from '../cache/objcore.ts';
import type { StreamPlaces } from '../esi/gzip-stitch.ts';
import { PackedPieces } from '../filters/deflate-places.ts';
import { turns } from '../turns/turns.ts';
import { SLICE } from './body-writer.ts';

/** Bytes of a gzip stream behind its data: the sum and the length. */
const TRAILER = 8;
/** Bytes that one byte of deflate data can stand for: 258 in two bits (RFC 1951 section 3.2.5). */
const MOST_PACKED = 1032;

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
    while (this.at < size) {
      const slice = reading.slice(oc, this.at, SLICE);
      this.pieces.add(slice);
      this.at += slice.length;
      // A slice takes 0.3 ms.
      turns.tookLong();
      if (this.at < size && !turns.mayGoOn()) return false;
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
    // Behind the last block nothing but the trailer.
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
