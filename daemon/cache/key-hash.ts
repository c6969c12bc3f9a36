// The hash of keys and variants: HalfSipHash-1-3 with a 64-bit result, keyed with the worker's random seed, so that clients
// cannot choose colliding keys. Works on the string's char codes without copying; the result is in fields, since returning a
// pair would allocate.

export class KeyHash {
  /** The two halves of the last hash, as signed 32-bit integers. */
  lo = 0;
  hi = 0;
  /** All char codes of the last key or-ed together: above 255 it was not a key of bytes. */
  codes = 0;
  private readonly k0: number;
  private readonly k1: number;

  constructor(seed0: number, seed1: number) {
    this.k0 = seed0 | 0;
    this.k1 = seed1 | 0;
  }

  /** Hashes a key of bytes (char codes up to 255). */
  hash(key: string): void {
    const length = key.length;
    let v0 = this.k0;
    let v1 = this.k1 ^ 0xee;
    let v2 = 0x6c796765 ^ this.k0;
    let v3 = 0x74656462 ^ this.k1;
    const whole = length & ~3;
    let codes = 0;
    for (let i = 0; i <= whole; i += 4) {
      let m: number;
      if (i < whole) {
        const a = key.charCodeAt(i);
        const b = key.charCodeAt(i + 1);
        const c = key.charCodeAt(i + 2);
        const d = key.charCodeAt(i + 3);
        codes |= a | b | c | d;
        m = a | (b << 8) | (c << 16) | (d << 24);
      } else {
        const a = i < length ? key.charCodeAt(i) : 0;
        const b = i + 1 < length ? key.charCodeAt(i + 1) : 0;
        const c = i + 2 < length ? key.charCodeAt(i + 2) : 0;
        codes |= a | b | c;
        m = a | (b << 8) | (c << 16) | (length << 24);
      }
      v3 ^= m;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= m;
    }
    this.codes = codes;
    v2 ^= 0xee;
    for (let round = 0; round < 7; round++) {
      if (round === 3) {
        this.lo = v1 ^ v3;
        v1 ^= 0xdd;
      } else if (round === 6) {
        break;
      }
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.hi = v1 ^ v3;
  }
}
