// An object that is kept in slices (OF_PART): what each of its slices has in its annex. One of them has the object's own
// head and key, and is found by lookups; the others are under keys made from that key, the name of their set and their number.
// Whoever has the first can find the others, and nobody else: with it they are all gone.

import { randomBytes } from 'node:crypto';

export interface PartFacts {
  /** Bytes of each slice but the last. */
  readonly size: number;
  /** The slice that this is, from 0 on. */
  readonly index: number;
  /** Bytes of the whole object. */
  readonly total: number;
  /** The strong validator of all of its bytes: an ETag or a Last-Modified, as If-Range has it. */
  readonly validator: string;
  /** Name of the slices that belong together, which no others ever have. */
  readonly set: string;
  /** Whether this one has the object's head. */
  readonly isFirst: boolean;
}

export function newSet(): string {
  return randomBytes(9).toString('base64url');
}

export function encodePart(part: PartFacts): Buffer {
  return Buffer.from(JSON.stringify(part), 'latin1');
}

export function decodePart(annex: Buffer): PartFacts {
  return JSON.parse(annex.toString('latin1')) as PartFacts;
}

/** The place of a slice in the whole; `to` is exclusive. */
export function placeOf({ size, total }: PartFacts, index: number): { from: number; to: number } {
  return { from: index * size, to: Math.min(total, (index + 1) * size) };
}

export function partKey(key: string, { set }: PartFacts, index: number): string {
  return `${key}${partTag(set)} ${index}\0`;
}

/** The surrogate key of the slices of a set; no header can have it. */
export function partTag(set: string): string {
  return `\0slice ${set}`;
}
