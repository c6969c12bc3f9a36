// Variants: which request headers an object's Vary names, and whether a request carries the same values.
//
// An absent header differs from an empty one. Accept-Encoding is ignored while gzip support is on, because every fetch then
// asks for gzip and every client is served from it. Caution: several lines of one name count as their joined value, so that
// a second line cannot smuggle in another variant.

import type { HttpMessage } from '../http1/message.ts';
import { KeyHash } from './key-hash.ts';
import type { ChunkBytes } from './storage/slab.ts';

/** A Vary header resolved against one request: lower-case names and values, null for an absent header. */
export interface VaryKey {
  names: string[];
  values: (string | null)[];
}

const ABSENT = 0xffff;
/** Bytes of the stored count, and its maximum. */
const COUNT = 2;
const MAX_NAMES = 0xffff;
const STAR = 42;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Resolves a response's Vary value; null when it names nothing, a string when it is illegal. `*` is kept as a name that no
 * request ever matches. */
export function resolveVary(vary: string | null, request: HttpMessage): VaryKey | string | null {
  if (vary === null) return null;
  const key: VaryKey = { names: [], values: [] };
  const names = new Set<string>();
  for (const part of vary.split(',')) {
    const name = part.trim().toLowerCase();
    if (name === '') continue;
    if (name.length > 255) return 'name too long';
    if (!TOKEN.test(name)) return 'not a field name';
    if (names.has(name)) continue;
    names.add(name);
    if (names.size > MAX_NAMES) return 'too many names';
    const value = request.getAll(name);
    if (value !== null && value.length >= ABSENT) return 'value too long';
    key.names.push(name);
    key.values.push(value);
  }
  return key.names.length === 0 ? null : key;
}

/** The request values that a response's Vary asks for; null when it varies by nothing. An illegal Vary gives a key that
 * no request ever matches. */
export function varyKey(vary: string | null, request: HttpMessage): VaryKey | null {
  const key = resolveVary(vary, request);
  return typeof key === 'string' ? { names: ['*'], values: [null] } : key;
}

/**
 * A value without differences in spelling that do not matter (RFC 9111 section 4.1): blanks around the members of a list,
 * and the case and order of languages, which weights alone rank (RFC 9110 section 12.5.4). Unchanged when it has quotes,
 * since a comma then need not end a member.
 */
function normalValue(name: string, value: string): string {
  if (value.includes('"')) return value;
  const list = value.split(',').map((member) => member.trim());
  return name === ACCEPT_LANGUAGE ? languages(list).sort().join(',') : list.join(',');
}

/** Members of Accept-Language, each written in one way: in lower case, without blanks and a weight of one. */
function languages(list: readonly string[]): string[] {
  return list.map((member) =>
    member
      .toLowerCase()
      .replace(/[ \t]*;[ \t]*/g, ';')
      .replace(/;q=1(?:\.0{0,3})?$/, ''),
  );
}

/** The language that a request prefers to all others; null when there is none, or several of the same weight. */
export function preferredLanguage(value: string): string | null {
  let best: string | null = null;
  let weight = 0;
  for (const choice of languages(value.split(',').map((text) => text.trim()))) {
    const [, tag, q = '1'] = /^([a-z0-9-]+|\*)(?:;q=([01](?:\.\d{0,3})?))?$/.exec(choice) ?? [];
    if (tag === undefined) return null;
    const own = Number(q);
    if (own < weight || own === 0) continue;
    best = own > weight ? tag : null;
    weight = own;
  }
  return best === '*' ? null : best;
}

function sameText(from: ChunkBytes, at: number, length: number, text: string): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== from[at + i]) return false;
  return true;
}

/** Bytes writeVary() needs. Layout: count (16 bits: a head has room for more than 255 names, and ignoring one would give one
 * client the object of another), then for each name its length, the value's length (16 bits, all ones for absent), name,
 * value. */
export function varyBytes(key: VaryKey): number {
  let bytes = COUNT;
  for (let i = 0; i < key.names.length; i++) {
    bytes += 3 + (key.names[i] as string).length + (key.values[i]?.length ?? 0);
  }
  return bytes;
}

export function writeVary(key: VaryKey, to: ChunkBytes, start: number): void {
  let at = to.writeUInt16LE(key.names.length, start);
  for (let i = 0; i < key.names.length; i++) {
    const name = key.names[i] as string;
    const value = key.values[i] as string | null;
    to[at] = name.length;
    to.writeUInt16LE(value === null ? ABSENT : value.length, at + 1);
    at += 3;
    at += to.latin1Write(name, at, name.length);
    if (value !== null) at += to.latin1Write(value, at, value.length);
  }
}

/**
 * Whether the request has the values of a stored variant. Makes no strings unless values differ and may mean the same.
 * @param normalise values that differ only in spelling match
 * @param language the stored response's Content-Language, for `normalise`: a request that prefers it to all others matches,
 * as no variant could suit it better
 */
export function matchesStored(
  from: ChunkBytes,
  start: number,
  request: HttpMessage,
  gzipSupport: boolean,
  normalise = false,
  language: string | null = null,
): boolean {
  let at = start + COUNT;
  for (let left = from.readUInt16LE(start); left > 0; left--) {
    const nameLength = from[at] as number;
    const stored = from.readUInt16LE(at + 1);
    const valueLength = stored === ABSENT ? 0 : stored;
    const nameAt = at + 3;
    at = nameAt + nameLength + valueLength;
    if (gzipSupport && nameLength === 15 && isAcceptEncoding(from, nameAt)) continue;
    if (nameLength === 1 && from[nameAt] === STAR) return false;
    const field = findField(from, nameAt, nameLength, request);
    if (field < 0) {
      if (stored !== ABSENT) return false;
      continue;
    }
    if (stored === ABSENT) return false;
    const key = request.keys[field] as string;
    const value = isLast(request, field, key) ? request.valueAt(field) : (request.getAll(key) as string);
    const valueAt = nameAt + nameLength;
    if (sameText(from, valueAt, valueLength, value)) continue;
    if (!normalise) return false;
    const kept = from.latin1Slice(valueAt, valueAt + valueLength);
    if (normalValue(key, kept) === normalValue(key, value)) continue;
    if (key !== ACCEPT_LANGUAGE || language === null) return false;
    if (preferredLanguage(value) !== language.toLowerCase()) return false;
  }
  return true;
}

/** Whether two stored forms are equal byte for byte. */
export function sameStored(a: ChunkBytes, aStart: number, b: ChunkBytes, bStart: number): boolean {
  const length = storedBytes(a, aStart);
  if (storedBytes(b, bStart) !== length) return false;
  return a.compare(b, bStart, bStart + length, aStart, aStart + length) === 0;
}

function storedBytes(from: ChunkBytes, start: number): number {
  let at = start + COUNT;
  for (let left = from.readUInt16LE(start); left > 0; left--) {
    const stored = from.readUInt16LE(at + 1);
    at += 3 + (from[at] as number) + (stored === ABSENT ? 0 : stored);
  }
  return at - start;
}

/**
 * Hashes of variants, keyed with the worker's random seed: clients choose the values, and must not be able to choose values
 * that collide. The same in all threads.
 */
export class VariantHash {
  private readonly hash: KeyHash;

  constructor(seed: readonly [number, number]) {
    this.hash = new KeyHash(seed[0], seed[1]);
  }

  /** A hash of the values, never 0; for one list of names only. Variants with different hashes do not match: values with the
   * same meaning have the same hash, and Accept-Encoding is left out. 0 when `*` is one of the names. */
  ofKey({ names, values }: VaryKey, skipsEncoding = true): number {
    let text = '';
    for (const [i, name] of names.entries()) {
      if (skipsEncoding && name === ACCEPT_ENCODING) continue;
      if (name === '*') return 0;
      const value = values[i] as string | null;
      text += value === null ? '\0\n' : `${normalValue(name, value)}\n`;
    }
    return this.ofText(text) || 1;
  }

  /** ofKey() of a stored variant. */
  ofStored(from: ChunkBytes, start: number): number {
    const names: string[] = [];
    const values: (string | null)[] = [];
    let at = start + COUNT;
    for (let left = from.readUInt16LE(start); left > 0; left--) {
      const nameLength = from[at] as number;
      const stored = from.readUInt16LE(at + 1);
      const valueAt = at + 3 + nameLength;
      names.push(from.latin1Slice(at + 3, valueAt));
      values.push(stored === ABSENT ? null : from.latin1Slice(valueAt, valueAt + stored));
      at = valueAt + (stored === ABSENT ? 0 : stored);
    }
    return this.ofKey({ names, values });
  }

  /**
   * The variant that a fetch is expected to become, never 0 (0 means unknown): a few bits for the names, which seldom differ,
   * and many for the values. Among thousands of fetches for one key hardly two collide, of which one would wait for the other
   * in vain.
   * @param gzipSupport Accept-Encoding makes no variant
   */
  expected(key: VaryKey, gzipSupport: boolean): number {
    const values = this.ofKey(key, gzipSupport);
    if (values === 0) return FOR_NOBODY;
    const names = this.ofText(key.names.join());
    return (names << VALUE_BITS) | (values & VALUES) | NAMED;
  }

  private ofText(text: string): number {
    this.hash.hash(text);
    return this.hash.lo;
  }
}

/** Whether a fetch that is expected to become a variant may bring the wanted one, both from VariantHash.expected(). Also true
 * when they vary by other headers, and for collisions. */
export function mayBecome(expected: number, wanted: number): boolean {
  if (expected === FOR_NOBODY) return false;
  const other = expected ^ wanted;
  return other >>> VALUE_BITS !== 0 || other === 0;
}

/** The bits of VariantHash.expected() for the names. */
export function namesIn(expected: number): number {
  return expected >>> VALUE_BITS;
}

/** Whether two stored variants are of the same headers in the same order. */
export function sameNames(a: ChunkBytes, aStart: number, b: ChunkBytes, bStart: number): boolean {
  const count = a.readUInt16LE(aStart);
  if (b.readUInt16LE(bStart) !== count) return false;
  let at = aStart + COUNT;
  let bt = bStart + COUNT;
  for (let left = count; left > 0; left--) {
    const length = a[at] as number;
    if (b[bt] !== length || a.compare(b, bt + 3, bt + 3 + length, at + 3, at + 3 + length) !== 0)
      return false;
    const [stored, other] = [a.readUInt16LE(at + 1), b.readUInt16LE(bt + 1)];
    at += 3 + length + (stored === ABSENT ? 0 : stored);
    bt += 3 + length + (other === ABSENT ? 0 : other);
  }
  return true;
}

/** The names of a stored variant, in order. */
export function storedNames(from: ChunkBytes, start: number): string[] {
  const names: string[] = [];
  let at = start + COUNT;
  for (let left = from.readUInt16LE(start); left > 0; left--) {
    const nameLength = from[at] as number;
    const stored = from.readUInt16LE(at + 1);
    names.push(from.latin1Slice(at + 3, at + 3 + nameLength));
    at += 3 + nameLength + (stored === ABSENT ? 0 : stored);
  }
  return names;
}

function findField(from: ChunkBytes, at: number, length: number, request: HttpMessage): number {
  next: for (let i = 0; i < request.n; i++) {
    const key = request.keys[i] as string;
    if (key.length !== length) continue;
    for (let c = 0; c < length; c++) if (key.charCodeAt(c) !== from[at + c]) continue next;
    return i;
  }
  return -1;
}

function isLast(request: HttpMessage, field: number, key: string): boolean {
  for (let i = field + 1; i < request.n; i++) if (request.keys[i] === key) return false;
  return true;
}

/** Bits of an expected variant for the values; seven are for the names. */
const VALUE_BITS = 24;
const VALUES = (1 << VALUE_BITS) - 1;
/** Set in all expected variants but FOR_NOBODY. */
const NAMED = 1 << 31;
/** Expected with `*`, which no request ever matches. */
const FOR_NOBODY = 1;

const ACCEPT_ENCODING = 'accept-encoding';
const ACCEPT_LANGUAGE = 'accept-language';

function isAcceptEncoding(from: ChunkBytes, at: number): boolean {
  for (let i = 0; i < 15; i++) if (from[at + i] !== ACCEPT_ENCODING.charCodeAt(i)) return false;
  return true;
}
