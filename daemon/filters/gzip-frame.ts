// The frame around the deflate data of a gzip stream (RFC 1952 section 2.3): a head, whose name, remark and extra field
// may be of any length and are never kept, and a trailer with the sum and the length. Faults have the words of
// zlib, as Varnish logs them. What follows the trailer is not read here.

import { crc32 } from 'node:zlib';

const MAGIC = [0x1f, 0x8b];
const DEFLATE = 8;
const FIXED = 10;
const FLAG = { sum: 2, extra: 4, name: 8, remark: 16, reserved: 0xe0 } as const;

/** The parts of a head, in order; DATA is what comes after it. */
const Part = { fixed: 0, extraLength: 1, extra: 2, name: 3, remark: 4, sum: 5, data: 6 } as const;

/** Reads a head, in whatever pieces it comes. */
export class GzipHead {
  /** Why it is none; null as far as it is one. */
  fault: string | null = null;
  private part: number = Part.fixed;
  /** Bytes read of this part, and the value of a part that is a number. */
  private count = 0;
  private value = 0;
  private flags = 0;
  private crc = 0;

  get whole(): boolean {
    return this.part === Part.data;
  }

  /** Reads on; returns how many of these bytes belong to the head, or are read when its fault shows. */
  read(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.whole && this.fault === null) {
      this.step(bytes[at++] as number);
      // The head's sum is of all that comes before it.
      if (this.part === Part.sum && this.count === 0) this.crc = crc32(bytes.subarray(0, at), this.crc);
    }
    if (this.part < Part.sum) this.crc = crc32(bytes.subarray(0, at), this.crc);
    return at;
  }

  private step(byte: number): void {
    const at = this.count++;
    switch (this.part) {
      case Part.fixed:
        this.fixed(at, byte);
        return;
      case Part.extraLength:
        this.value |= byte << (8 * at);
        if (at === 1) this.next();
        return;
      case Part.extra:
        if (this.count === this.value) this.next();
        return;
      case Part.name:
      case Part.remark:
        if (byte === 0) this.next();
        return;
      default:
        this.value |= byte << (8 * at);
        if (at < 1) return;
        if (this.value === (this.crc & 0xffff)) this.next();
        else this.fault = 'header crc mismatch';
    }
  }

  private fixed(at: number, byte: number): void {
    if (at < 2 && byte !== MAGIC[at]) this.value = 1;
    if (at === 1 && this.value !== 0) this.fault = 'incorrect header check';
    if (at === 2) this.value = byte;
    if (at === 3) {
      this.flags = byte;
      if (this.value !== DEFLATE) this.fault = 'unknown compression method';
      else if ((byte & FLAG.reserved) !== 0) this.fault = 'unknown header flags set';
    }
    if (at === FIXED - 1) this.next();
  }

  /** Goes to the next part that this head has. */
  private next(): void {
    const { flags } = this;
    const length = this.part === Part.extraLength ? this.value : 0;
    this.count = 0;
    this.value = 0;
    for (this.part++; this.part < Part.data; this.part++) {
      if (this.part === Part.extraLength && (flags & FLAG.extra) !== 0) return;
      if (this.part === Part.extra && length > 0) {
        this.value = length;
        return;
      }
      if (this.part === Part.name && (flags & FLAG.name) !== 0) return;
      if (this.part === Part.remark && (flags & FLAG.remark) !== 0) return;
      if (this.part === Part.sum && (flags & FLAG.sum) !== 0) return;
    }
  }
}

/** Bytes of a trailer. */
const TRAILER = 8;
const SUM = 4;

/** Reads a trailer, in whatever pieces it comes, and compares it with what was unpacked. */
export class GzipTrailer {
  private readonly bytes: Buffer = Buffer.alloc(TRAILER);
  private count = 0;
  private crc = 0;
  private length = 0;

  get whole(): boolean {
    return this.count === TRAILER;
  }

  /** Bytes that were unpacked. */
  add(bytes: Uint8Array): void {
    this.crc = crc32(bytes, this.crc);
    this.length = (this.length + bytes.length) % 2 ** 32;
  }

  /** Reads on, when everything is unpacked; returns how many of these bytes belong to it, or are read when its fault
   * shows. */
  read(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.whole && this.fault === null)
      this.bytes[this.count++] = bytes[at++] as number;
    return at;
  }

  /** Why it is wrong; null as far as it is right. */
  get fault(): string | null {
    if (this.count >= SUM && this.bytes.readUInt32LE(0) !== this.crc) return 'incorrect data check';
    return this.whole && this.bytes.readUInt32LE(SUM) !== this.length ? 'incorrect length check' : null;
  }
}
