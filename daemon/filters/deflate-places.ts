// Where the deflate blocks of a gzip body lie, for the Gzip record: the bit at which the first one begins, the bit
// that marks the last one, and the bit after it. zlib does not report that, so the codes are read once more here,
// without writing what they stand for. A body that is not whole or not gzip has no places.
//
// Caution: this is plain JavaScript on the way of a response, about five milliseconds for each packed megabyte of text
// (zlib takes twelve to unpack it, on another thread), in pieces as they come.

import { GzipHead } from './gzip-frame.ts';

export interface DeflatePlaces {
  readonly start: number;
  readonly last: number;
  readonly stop: number;
}

/** Bytes that hold the head of a block, or a word with what follows it, whatever they are: no more than 286 + 30 lengths
 * of 14 bits each, with their extra bits, and the lengths of their code (RFC 1951 section 3.2.7). */
const LOOK_AHEAD = 640;

/** Reads a packed body as it passes, and keeps no more of it than what may belong to the next word. */
export class PackedPieces {
  /** Bytes not read yet, and how many of the body's came before them. */
  private rest: Uint8Array = new Uint8Array(0);
  private before = 0;
  private readonly head = new GzipHead();
  private walk: BlockWalk | null = null;
  private start = -1;
  private broken = false;

  add(bytes: Uint8Array): void {
    if (this.broken || this.walk?.over === true || bytes.length === 0) return;
    const rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const read = this.read(rest, LOOK_AHEAD);
    this.before += read;
    // A copy: the bytes are another's.
    this.rest = Uint8Array.from(rest.subarray(read));
  }

  /** The last three numbers of the Gzip record, once everything has passed. */
  places(): string {
    const found = this.found();
    return found === null ? '0 0 0' : `${found.start} ${found.last} ${found.stop}`;
  }

  found(): DeflatePlaces | null {
    if (this.walk?.over !== true && !this.broken) this.read(this.rest, 0);
    const { walk, start } = this;
    return this.broken || walk === null || !walk.over ? null : { start, last: walk.last, stop: walk.stop };
  }

  /** Reads while as many bytes follow; returns how many are not needed any more. */
  private read(bytes: Uint8Array, ahead: number): number {
    if (this.walk === null) {
      const from = this.head.read(bytes);
      if (!this.head.whole) {
        this.broken = this.head.fault !== null;
        return from;
      }
      this.start = (this.before + from) * 8;
      this.walk = new BlockWalk(this.start);
    }
    const { walk } = this;
    const base = this.before * 8;
    const bits = new BitReader(bytes, walk.at - base);
    this.broken = !walk.read(bits, base, ahead * 8);
    walk.at = base + bits.at;
    return Math.min(bytes.length, bits.at >> 3);
  }
}

/** A code by the lengths of its words: how many words have each length, and the symbols in the order of their words.
 * `short` answers at once for what begins with a word of up to SHORT bits: symbol << 4 | length, else 0. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
  readonly short: Uint16Array;
}

/** Bits of the tables by which short words are read at once: larger ones cost more to make than they spare
 * (measured). */
const SHORT = 9;

/** The state that the next SHORT bits lead to, without its meaning: bits to leap, extra ones included, or'ed with one of
 * LITERALS (one or several), LENGTH (a distance follows) and END; 0 when the word is longer. */
type Leaps = Uint16Array;
const LEAP = 63;
const LITERALS = 64;
const LENGTH = 128;
const END = 192;

const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const FIXED = makeCode(
  Uint8Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
);
const FIXED_DISTANCE = makeCode(new Uint8Array(30).fill(5));
const FIXED_LEAPS = literalLeaps(FIXED);
const FIXED_DISTANCE_LEAPS = distanceLeaps(FIXED_DISTANCE);

/** The places in a whole gzip body of one member; null when there are none to be found. */
export function deflatePlaces(body: Uint8Array): DeflatePlaces | null {
  const pieces = new PackedPieces();
  pieces.add(body);
  return pieces.found();
}

/** One after the other, the blocks of a body that comes in pieces; places count from the body's first bit. */
class BlockWalk {
  /** Where the next bit to be read is. */
  at: number;
  last = 0;
  stop = 0;
  over = false;
  private final = false;
  /** The codes of the block that is being read; null between blocks. */
  private code: Code | null = null;
  private distance = FIXED_DISTANCE;
  private leaps = FIXED_LEAPS;
  private distanceLeaps = FIXED_DISTANCE_LEAPS;

  constructor(at: number) {
    this.at = at;
  }

  /** Reads while more than `ahead` bits are there; false when they are no blocks. */
  read(bits: BitReader, base: number, ahead: number): boolean {
    for (;;) {
      if (this.final && this.code === null) {
        // The data of a stored block may be still to come.
        this.over = bits.left >= 0;
        this.stop = base + bits.at;
        return true;
      }
      if (bits.left <= ahead) return true;
      if (this.code === null && !this.begin(bits, base)) return false;
      if (this.code !== null && !this.words(bits, ahead)) return false;
    }
  }

  /** Reads the head of a block, and all of one that is stored. */
  private begin(bits: BitReader, base: number): boolean {
    this.last = base + bits.at;
    this.final = bits.take(1) === 1;
    const kind = bits.take(2);
    if (kind === 0) {
      bits.at += -(base + bits.at) & 7;
      const length = bits.take(16);
      bits.at += 16 + length * 8;
      return true;
    }
    if (kind === 3) return false;
    this.code = FIXED;
    this.distance = FIXED_DISTANCE;
    this.leaps = FIXED_LEAPS;
    this.distanceLeaps = FIXED_DISTANCE_LEAPS;
    return kind === 1 || this.describe(bits);
  }

  /** Reads the codes of a block. */
  private describe(bits: BitReader): boolean {
    const literals = bits.take(5) + 257;
    const distances = bits.take(5) + 1;
    const described = bits.take(4) + 4;
    const lengths = new Uint8Array(19);
    for (let i = 0; i < described; i++) lengths[ORDER[i] as number] = bits.take(3);
    const code = makeCode(lengths);
    const all = new Uint8Array(literals + distances);
    for (let i = 0; i < all.length; ) {
      const symbol = bits.symbol(code);
      if (symbol < 0 || bits.over) return false;
      if (symbol < 16) {
        all[i++] = symbol;
        continue;
      }
      const value = symbol === 16 ? (all[i - 1] ?? 0) : 0;
      let times = symbol === 18 ? 11 + bits.take(7) : 3 + bits.take(symbol === 16 ? 2 : 3);
      for (; times > 0; times--) all[i++] = value;
    }
    this.code = makeCode(all.subarray(0, literals));
    this.distance = makeCode(all.subarray(literals));
    this.leaps = literalLeaps(this.code);
    this.distanceLeaps = distanceLeaps(this.distance);
    return true;
  }

  /** Goes past words, up to the end of the block or of what may be read. */
  private words(bits: BitReader, ahead: number): boolean {
    const code = this.code as Code;
    const { distance } = this;
    while (bits.left > ahead) {
      bits.leap(this.leaps, this.distanceLeaps, ahead);
      const symbol = bits.symbol(code);
      if (symbol === 256) {
        this.code = null;
        return !bits.over;
      }
      if (symbol < 0 || symbol > 285) return false;
      if (symbol < 256) continue;
      bits.at += LENGTH_EXTRA[symbol - 257] as number;
      const back = bits.symbol(distance);
      if (back < 0 || back > 29) return false;
      if (back > 3) bits.at += (back >> 1) - 1;
    }
    return ahead > 0;
  }
}

class BitReader {
  at: number;
  private readonly bytes: Uint8Array;
  private readonly end: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = bytes.length * 8;
  }

  get over(): boolean {
    return this.at > this.end;
  }

  /** Bits that are left; negative after a leap beyond them. */
  get left(): number {
    return this.end - this.at;
  }

  bit(): number {
    const value = ((this.bytes[this.at >> 3] ?? 0) >> (this.at & 7)) & 1;
    this.at++;
    return value;
  }

  /** Up to 16 bits, the first one the least. */
  take(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) value |= this.bit() << i;
    return value;
  }

  /** Goes past short words: nearly all of a body, and so worth a loop of its own. */
  leap(leaps: Leaps, distances: Leaps, ahead: number): void {
    const { bytes } = this;
    // A length and its distance have at most 43 bits.
    const end = this.end - Math.max(64, ahead);
    const mask = (1 << SHORT) - 1;
    let { at } = this;
    while (at < end) {
      let i = at >> 3;
      const word = leaps[
        (((bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16)) >>
          (at & 7)) &
          mask
      ] as number;
      if (word < LENGTH) {
        if (word === 0) break;
        at += word & LEAP;
        continue;
      }
      if (word >= END) break;
      const to = at + (word & LEAP);
      i = to >> 3;
      const back = distances[
        (((bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16)) >>
          (to & 7)) &
          mask
      ] as number;
      if (back === 0) break;
      at = to + back;
    }
    this.at = at;
  }

  /** A symbol, or -1 when no word of the code is here. */
  symbol(code: Code): number {
    const { bytes, at } = this;
    const i = at >> 3;
    const next =
      ((bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16)) >> (at & 7);
    const known = code.short[next & ((1 << SHORT) - 1)] as number;
    if (known !== 0) {
      this.at = at + (known & 15);
      return known >> 4;
    }
    let word = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= 15; length++) {
      word |= this.bit();
      const count = code.counts[length] as number;
      if (word - count < first) return code.symbols[index + word - first] as number;
      index += count;
      first = (first + count) << 1;
      word <<= 1;
    }
    return -1;
  }
}

function makeCode(lengths: Uint8Array): Code {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0;
  const offsets = new Uint16Array(17);
  for (let i = 1; i < 16; i++) offsets[i + 1] = (offsets[i] as number) + (counts[i] as number);
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    symbols[offsets[length] as number] = symbol;
    offsets[length] = (offsets[length] as number) + 1;
  });
  return { counts, symbols, short: shortWords(counts, symbols) };
}

/** Words come bit by bit with the first bit as the greatest: in the table they stand the other way round. */
function shortWords(counts: Uint16Array, symbols: Uint16Array): Uint16Array {
  const short = new Uint16Array(1 << SHORT);
  let word = 0;
  let index = 0;
  for (let length = 1; length <= SHORT; length++) {
    for (let k = counts[length] as number; k > 0; k--, word++, index++) {
      let turned = 0;
      for (let i = 0; i < length; i++) turned |= ((word >> i) & 1) << (length - 1 - i);
      const entry = ((symbols[index] as number) << 4) | length;
      for (let at = turned; at < short.length; at += 1 << length) short[at] = entry;
    }
    word <<= 1;
  }
  return short;
}

function literalLeaps({ short }: Code): Leaps {
  const leaps = new Uint16Array(1 << SHORT);
  for (let next = 0; next < leaps.length; next++) {
    const word = short[next] as number;
    const symbol = word >> 4;
    const length = word & 15;
    if (word === 0 || symbol > 285) continue;
    if (symbol === 256) leaps[next] = END;
    else if (symbol > 256) leaps[next] = LENGTH | (length + (LENGTH_EXTRA[symbol - 257] as number));
    else leaps[next] = LITERALS | literalsIn(short, next);
  }
  return leaps;
}

/** The bits of all the literals that are whole in SHORT bits. */
function literalsIn(short: Uint16Array, next: number): number {
  for (let bits = 0; ; ) {
    const word = short[next >> bits] as number;
    const length = word & 15;
    if (word === 0 || word >= 256 << 4 || bits + length > SHORT) return bits;
    bits += length;
  }
}

function distanceLeaps({ short }: Code): Leaps {
  return short.map((word) => {
    const symbol = word >> 4;
    if (word === 0 || symbol > 29) return 0;
    return (word & 15) + (symbol > 3 ? (symbol >> 1) - 1 : 0);
  });
}
