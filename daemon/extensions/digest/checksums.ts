// Checksums of 32 bits as libmhash gives them: the two of CRC with their lowest byte first, Adler-32 with its highest.

/** IEEE 802.3, highest bit first, and the same with its bits reversed. */
const POLYNOMIAL = 0x04c11db7;
const REVERSED_POLYNOMIAL = 0xedb88320;
/** The largest prime number below 2 ** 16 (RFC 1950). */
const ADLER_BASE = 65_521;

const table = (step: (crc: number) => number, start: (byte: number) => number): Int32Array =>
  Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = start(byte);
    for (let bit = 0; bit < 8; bit++) crc = step(crc);
    return crc;
  });

const HIGH_FIRST = table(
  (crc) => (crc < 0 ? (crc << 1) ^ POLYNOMIAL : crc << 1),
  (byte) => byte << 24,
);
const LOW_FIRST = table(
  (crc) => ((crc & 1) === 1 ? (crc >>> 1) ^ REVERSED_POLYNOMIAL : crc >>> 1),
  (byte) => byte,
);

function lowestByteFirst(crc: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeInt32LE(~crc);
  return out;
}

/** The checksum of bzip2. */
export function crc32(bytes: Uint8Array): Buffer {
  let crc = -1;
  for (const byte of bytes) crc = (crc << 8) ^ (HIGH_FIRST[(crc >>> 24) ^ byte] as number);
  return lowestByteFirst(crc);
}

/** The checksum of gzip (RFC 1952). */
export function crc32b(bytes: Uint8Array): Buffer {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (LOW_FIRST[(crc ^ byte) & 255] as number);
  return lowestByteFirst(crc);
}

export function adler32(bytes: Uint8Array): Buffer {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % ADLER_BASE;
    b = (b + a) % ADLER_BASE;
  }
  const out = Buffer.alloc(4);
  out.writeUInt32BE(b * 65_536 + a);
  return out;
}
