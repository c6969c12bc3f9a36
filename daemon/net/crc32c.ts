// The CRC-32C checksum (Castagnoli, reflected) that a PROXY v2 header may carry over all of its bytes.

const POLYNOMIAL = 0x82f63b78;

const TABLE = new Uint32Array(256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ POLYNOMIAL : c >>> 1;
  TABLE[n] = c;
}

/** Checksum of bytes[start, end) as an unsigned number, those from `hole` to `hole + 4` taken as zero. */
export function crc32c(bytes: Uint8Array, start: number, end: number, hole = -1): number {
  let c = 0xffffffff;
  for (let i = start; i < end; i++) {
    const byte = hole >= 0 && i >= hole && i < hole + 4 ? 0 : (bytes[i] as number);
    c = (TABLE[(c ^ byte) & 255] as number) ^ (c >>> 8);
  }
  return ~c >>> 0;
}
