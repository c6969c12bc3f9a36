// Writes the parts of HPACK's fields: integers, strings and names (RFC 7541 section 5). The caller has made the room.

import { STATIC_ENTRIES } from './hpack-static.ts';
import { huffmanEncode, huffmanLength } from './huffman.ts';

/** Octets that an integer takes at the most: lengths have fewer than 32 bits. */
export const INTEGER_MOST = 6;
/** Field that is not to be put into the table; the same for whoever forwards it (section 6.2.3). */
export const WITHOUT_INDEXING = 0x00;
export const NEVER_INDEXED = 0x10;
export const WITH_INDEXING = 0x40;

const CODED = 0x80;
/** The largest values that stand in the first octet of a literal field beside its kind. */
const INDEXING_MASK = 0x3f;
const PLAIN_MASK = 0x0f;

/** An index of each name of the static table. */
const NAME_INDEX: ReadonlyMap<string, number> = new Map(
  STATIC_ENTRIES.map(([name], i): [string, number] => [name, i + 1]),
);

/** Writes an integer whose first octet has the bits `kind` above the prefix `mask`; returns the offset past it. */
export function putInteger(out: Uint8Array, at: number, kind: number, mask: number, value: number): number {
  if (value < mask) {
    out[at] = kind | value;
    return at + 1;
  }
  let p = at;
  out[p++] = kind | mask;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) out[p++] = (rest & 0x7f) | 0x80;
  out[p++] = rest;
  return p;
}

/** Writes a Latin-1 string, coded where that is shorter. */
export function putString(out: Uint8Array, at: number, text: string): number {
  const coded = huffmanLength(text);
  if (coded >= text.length) return putPlainString(out, at, text);
  return huffmanEncode(text, out, putInteger(out, at, CODED, 0x7f, coded));
}

/** Writes a Latin-1 string as it is. */
export function putPlainString(out: Uint8Array, at: number, text: string): number {
  const n = text.length;
  const p = putInteger(out, at, 0, 0x7f, n);
  for (let i = 0; i < n; i++) out[p + i] = text.charCodeAt(i);
  return p + n;
}

/** Writes the beginning of a literal field of this kind, up to its value. */
export function putName(out: Uint8Array, at: number, kind: number, name: string): number {
  const mask = kind === WITH_INDEXING ? INDEXING_MASK : PLAIN_MASK;
  const index = NAME_INDEX.get(name);
  if (index !== undefined) return putInteger(out, at, kind, mask, index);
  out[at] = kind;
  return putString(out, at + 1, name);
}
