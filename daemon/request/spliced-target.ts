// A packed fragment on its way into a packed page: its deflate data, made to go on with what follows. Where its blocks
// lie is found out at its first such use, and kept beside the object.

import type { Cache } from '../cache/cache.ts';
import { type Oc, OF_ESI } from '../cache/objcore.ts';
import { SplicedData, type StreamPlaces } from '../esi/gzip-stitch.ts';
import { PackedPieces } from '../filters/deflate-places.ts';
import type { PageOutput } from '../filters/page-output.ts';
import { SLICE } from './body-writer.ts';
import { PageTarget } from './page-target.ts';

/** Bytes of a gzip stream behind its data: the sum and the length. */
const TRAILER = 8;
/** Bytes that one byte of deflate data can stand for: 258 in two bits (RFC 1951 section 3.2.5). */
const MOST_PACKED = 1032;

export class SplicedTarget extends PageTarget {
  private readonly places: StreamPlaces;
  private readonly data: SplicedData;

  constructor(output: PageOutput, places: StreamPlaces) {
    super(output, (bytes) => output.put(bytes));
    this.places = places;
    this.data = new SplicedData(places);
  }

  override write(parts: readonly Buffer[]): boolean {
    return super.write(parts.flatMap((part) => this.data.take(part)));
  }

  override end(): void {
    this.output.sum?.add(this.places);
  }
}

/** Where the blocks of a finished object lie; null when it is not one whole gzip stream, or may be too long for one. */
export function placesOf(cache: Cache, oc: Oc): StreamPlaces | null {
  const { reading, facts, filling } = cache;
  const kept = facts.has(oc, OF_ESI) ? null : reading.annex(oc);
  if (kept !== null) {
    const at = (i: number): number => kept.readDoubleLE(i * 8);
    return { from: at(0), last: at(1), stop: at(2), crc: at(3), length: at(4) };
  }
  const places = findPlaces(cache, oc);
  if (places === null || facts.has(oc, OF_ESI)) return places;
  const { from, last, stop, crc, length } = places;
  const annex = Buffer.from(Float64Array.of(from, last, stop, crc, length).buffer);
  filling.setAnnex(oc, annex);
  return places;
}

function findPlaces({ reading }: Cache, oc: Oc): StreamPlaces | null {
  const size = reading.bodyLength(oc);
  // The trailer states a length modulo 2^32, but sums of pieces are put together by the true one.
  if (reading.gunzippedLength(oc) < 0 && size * MOST_PACKED >= 2 ** 32) return null;
  const pieces = new PackedPieces();
  for (let at = 0; at < size; ) {
    const slice = reading.slice(oc, at, SLICE);
    pieces.add(slice);
    at += slice.length;
  }
  const found = pieces.found();
  // Behind the last block nothing but the trailer.
  if (found === null || Math.ceil(found.stop / 8) + TRAILER !== size) return null;
  const trailer = Buffer.alloc(TRAILER);
  reading.copyBody(oc, size - TRAILER, trailer, 0, TRAILER);
  const { start, last, stop } = found;
  return { from: start / 8, last, stop, crc: trailer.readUInt32LE(0), length: trailer.readUInt32LE(4) };
}
