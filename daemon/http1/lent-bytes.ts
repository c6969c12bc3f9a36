// Bytes of a read buffer, lent for one turn. Sockets of a worker read into one buffer, which the next read overwrites:
// whoever is called with bytes of it uses them before returning, or copies them with keep().
//
// Every Buffer and Uint8Array may be lent, but what is lent is no Buffer: tsc refuses it wherever bytes are asked for
// that stay. It has neither `buffer` nor any method that makes another object over the same memory, except a smaller
// loan. A field that holds a loan across calls has to say so by this type; test/structure/loans.test.ts lists them all.
//
// Interfaces whose functions take a loan declare them as properties: tsc compares the parameters of methods both ways,
// and would let one that asks for a Buffer stand in.

export interface LentBytes {
  readonly [Symbol.toStringTag]: 'Uint8Array';
  readonly length: number;
  readonly byteOffset: number;
  readonly [index: number]: number;
  indexOf(value: number, from?: number): number;
  subarray(start?: number, end?: number): LentBytes;
}

declare const STORED: unique symbol;

/** Bytes where an object is stored: they stay only while the object is held (daemon/flow/piece.ts), and are as little a
 * Buffer as lent ones are. */
export interface StoredBytes extends LentBytes {
  readonly [STORED]: true;
}

/** A copy of buf[start, end) that stays. */
export function keep(buf: LentBytes, start: number, end: number): Buffer {
  return Buffer.from((buf as Buffer).subarray(start, end));
}
