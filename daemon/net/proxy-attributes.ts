// The attributes (TLVs) behind the addresses of a PROXY v2 header: checks that they fill their room exactly,
// verifies the checksum where there is one, and collects the values by type.
//
// Caution: what the SSL attribute holds is five bytes of its own and then attributes again. They are collected beside
// the outer ones, as their types do not clash; within SSL no type has a meaning of its own, so nothing nests.

import { crc32c } from './crc32c.ts';

/** Types of attributes, by the PROXY protocol's specification. */
const ProxyAttribute = {
  alpn: 0x01,
  authority: 0x02,
  crc32c: 0x03,
  ssl: 0x20,
  sslVersion: 0x21,
  sslCommonName: 0x22,
  sslCipher: 0x23,
  sslSignature: 0x24,
  sslKey: 0x25,
} as const;

/** Type and length. */
const HEAD = 3;
/** Flags and verify result of the SSL attribute. */
const SSL_HEAD = 5;

/** What is wrong, in the words of the log. */
export type AttributeError = 'TLV Dribble bytes' | 'TLV Length Error' | 'CRC error';

/**
 * The attributes in bytes[start, end) of a header that begins at byte `from`; the first of a type counts. Values are
 * copies.
 */
export function readAttributes(
  bytes: Uint8Array,
  from: number,
  start: number,
  end: number,
): ReadonlyMap<number, Uint8Array> | AttributeError {
  const found = new Map<number, Uint8Array>();
  const keep = (type: number, a: number, b: number): void => {
    if (!found.has(type)) found.set(type, bytes.slice(a, b));
  };
  const checksum = (a: number, b: number): boolean => {
    if (b - a !== 4) return false;
    const told = new DataView(bytes.buffer, bytes.byteOffset).getUint32(a);
    return told === crc32c(bytes, from, end, a);
  };
  const outer = walk(bytes, start, end, (type, a, b) => {
    if (type === ProxyAttribute.crc32c) return checksum(a, b) ? null : 'CRC error';
    if (type !== ProxyAttribute.ssl) {
      keep(type, a, b);
      return null;
    }
    if (b - a < SSL_HEAD) return 'TLV Length Error';
    keep(type, a, a + SSL_HEAD);
    return walk(bytes, a + SSL_HEAD, b, (inner, c, d) => {
      keep(inner, c, d);
      return null;
    });
  });
  return outer ?? found;
}

type Visit = (type: number, start: number, end: number) => AttributeError | null;

function walk(bytes: Uint8Array, start: number, end: number, visit: Visit): AttributeError | null {
  let at = start;
  while (at < end) {
    if (end - at < HEAD) return 'TLV Dribble bytes';
    const value = at + HEAD;
    const length = ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    if (length > end - value) return 'TLV Length Error';
    const error = visit(bytes[at] as number, value, value + length);
    if (error !== null) return error;
    at = value + length;
  }
  return null;
}
