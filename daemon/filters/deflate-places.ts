// Where the deflate blocks of a gzip body lie, for the Gzip record: the bit at which the first one begins, the bit
// that marks the last one, and the bit behind it. zlib keeps that to itself, so the codes are read once more here,
// without writing what they stand for. A body that is not whole or not gzip has no places.
//
// Awkward: this is plain JavaScript on the way of a response, a fifth of a millisecond for the longest body that is
// read (MAX_WALKED); the record of a longer one says 0 for all three.

/** Bytes of packed body that are read. */
export const MAX_WALKED = 16 * 1024;

export interface DeflatePlaces {
  readonly start: number;
  readonly last: number;
  readonly stop: number;
}

/** Keeps a packed body as it passes, as long as it is short enough to be read. */
export class PackedPieces {
  private pieces: Uint8Array[] = [];
  private length = 0;

  /** Takes a copy. */
  add(bytes: Uint8Array): void {
    if (this.length > MAX_WALKED) return;
    this.length += bytes.length;
    if (this.length > MAX_WALKED) this.pieces = [];
    else this.pieces.push(Uint8Array.from(bytes));
  }

  /** The last three numbers of the Gzip record. */
  places(): string {
    const found = this.length > MAX_WALKED ? null : deflatePlaces(Buffer.concat(this.pieces));
    return found === null ? '0 0 0' : `${found.start} ${found.last} ${found.stop}`;
  }
}

/** A code by the lengths of its words: how many words have each length, and the symbols in the order of their words.
 * `short` answers at once for what begins with a word of up to SHORT bits: symbol << 4 | length, else 0. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
  readonly short: Uint16Array;
}

const SHORT = 10;

const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const FIXED = makeCode(
  Uint8Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
);
const FIXED_DISTANCE = makeCode(new Uint8Array(30).fill(5));

/** The places in a whole gzip body of one member; null when there are none to be found. */
export function deflatePlaces(body: Uint8Array): DeflatePlaces | null {
  const head = headLength(body);
  if (head < 0) return null;
  const bits = new BitReader(body, head * 8);
  let last = 0;
  for (let final = false; !final; ) {
    last = bits.at;
    final = bits.take(1) === 1;
    if (!skipBlock(bits)) return null;
  }
  return { start: head * 8, last, stop: bits.at };
}

/** Bytes before the first block (RFC 1952 section 2.3); -1 when this is no gzip. */
function headLength(b: Uint8Array): number {
  if (b.length < 18 || b[0] !== 31 || b[1] !== 139 || b[2] !== 8) return -1;
  const flags = b[3] as number;
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + (b[at] as number) + ((b[at + 1] ?? 0) << 8);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = b.indexOf(0, at);
    if (end < 0) return -1;
    at = end + 1;
  }
  if ((flags & 2) !== 0) at += 2;
  return at < b.length ? at : -1;
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

/** Goes past one block behind its first bit; false when it is broken. */
function skipBlock(bits: BitReader): boolean {
  const kind = bits.take(2);
  if (kind === 0) {
    bits.at = (bits.at + 7) & ~7;
    const length = bits.take(16);
    bits.at += 16 + length * 8;
    return !bits.over;
  }
  if (kind === 1) return skipWords(bits, FIXED, FIXED_DISTANCE);
  if (kind !== 2) return false;
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
  return skipWords(bits, makeCode(all.subarray(0, literals)), makeCode(all.subarray(literals)));
}

/** Goes past the words of a block up to its end. */
function skipWords(bits: BitReader, code: Code, distance: Code): boolean {
  while (!bits.over) {
    const symbol = bits.symbol(code);
    if (symbol === 256) return !bits.over;
    if (symbol < 0 || symbol > 285) return false;
    if (symbol < 256) continue;
    bits.at += LENGTH_EXTRA[symbol - 257] as number;
    const back = bits.symbol(distance);
    if (back < 0 || back > 29) return false;
    if (back > 3) bits.at += (back >> 1) - 1;
  }
  return false;
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
