// An object that is kept in slices (OF_PART): what each of its slices has in its annex. One of them has the object's own
// head and key, and is found by lookups; the others are under keys made from that key, the name of their set and their number.
// Whoever has the first can find the others, and nobody else: with it they are all gone.
//
// Slices are all of one size (req.slice), or they are the parts that clients have asked for (req.parts): then their number is the
// place where they begin, and the first has a list of the others.

import { randomBytes, randomInt } from 'node:crypto';

export interface PartFacts {
  /** Bytes of each slice but the last; 0 where they are parts. */
  readonly size: number;
  /** The slice that this is, from 0 on; of a part its first byte. */
  readonly index: number;
  /** Bytes of the whole object. */
  readonly total: number;
  /** The strong validator of all of its bytes: an ETag or a Last-Modified, as If-Range has it. */
  readonly validator: string;
  /** Name of the slices that belong together, which no others ever have. */
  readonly set: string;
  /** Whether this one has the object's head. */
  readonly isFirst: boolean;
  /** Of a part: the byte after its last. */
  readonly end: number;
  /** Of the first part: where others begin and end. */
  readonly others: readonly (readonly [number, number])[];
}

export function newSet(): string {
  return randomBytes(9).toString('base64url');
}

/** The least number that names a set: no time of life is so long. */
export const LEAST_SET = 2 ** 46;

/** A name that others can know before the object has a head: a number, which fits into the row of a busy object. With the key
 * of the object it is as good as unique. */
export function newSetNumber(): number {
  return LEAST_SET + randomInt(2 ** 46);
}

export function setOfNumber(set: number, size: number): string {
  return `${set.toString(36)}-${size.toString(36)}`;
}

export function encodePart(part: PartFacts): Buffer {
  return Buffer.from(JSON.stringify(part), 'latin1');
}

export function decodePart(annex: Buffer): PartFacts {
  return JSON.parse(annex.toString('latin1')) as PartFacts;
}

/** Bytes of the whole, `to` exclusive, and the number of the slice that has them. */
export interface Segment {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Parts of one object that are remembered. Others are found only by who wants their first byte. */
const MOST_PARTS = 64;
/** Most bytes that are fetched as one part. */
export const LARGEST_PART = 8 << 20;

/** Where the bytes of this very slice belong. */
export function ownPlace({
  size,
  index,
  total,
  end,
}: Pick<PartFacts, 'size' | 'index' | 'total' | 'end'>): Segment {
  return size === 0 ? { index, from: index, to: end } : slicePlace(size, index, total);
}

function slicePlace(size: number, index: number, total: number): Segment {
  return { index, from: index * size, to: Math.min(total, (index + 1) * size) };
}

/** The slice with the byte `at`, or the hole from there on, of which no more is wanted than up to `limit`. */
export function segmentAt(first: PartFacts, at: number, limit: number): Segment {
  const { size, index, total, end, others } = first;
  if (size > 0) return slicePlace(size, Math.floor(at / size), total);
  let to = Math.min(total, limit, at + LARGEST_PART);
  for (const [from, until] of [[index, end] as const, ...others]) {
    if (from <= at && at < until) return { index: from, from, to: until };
    if (from > at) to = Math.min(to, from);
  }
  return { index: at, from: at, to };
}

/** The first part with another one in its list; null when it has room for no more, or that one is there. */
export function withPart(first: PartFacts, { from, to }: Segment): PartFacts | null {
  const { others } = first;
  if (others.length >= MOST_PARTS || others.some(([place]) => place === from)) return null;
  return { ...first, others: [...others, [from, to]] };
}

export function partKey(key: string, { set }: Pick<PartFacts, 'set'>, index: number): string {
  return `${key}${partTag(set)} ${index}\0`;
}

/** The surrogate key of the slices of a set; no header can have it. */
export function partTag(set: string): string {
  return `\0slice ${set}`;
}
