// Bytes of PROXY preambles, right and wrong ones: shared by the tests of the parser, of sessions and of the daemon.
import { crc32c } from '../../../daemon/net/proxy-protocol.ts';

export const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
export const IPV4 = bytes(1, 2, 3, 4, 5, 6, 7, 8, 0x04, 0x57, 0x08, 0xae);
export const IPV6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from('20010db8000000000000000000000002', 'hex'),
  bytes(0x0d, 0x05, 0x11, 0x5c),
]);

export function bytes(...values: number[]): Buffer {
  return Buffer.from(values);
}

/** One attribute. */
export function tlv(type: number, value: Uint8Array | string): Buffer {
  const body = Buffer.from(value as string, 'latin1');
  return Buffer.concat([bytes(type, body.length >> 8, body.length & 255), body]);
}

/** A version 2 preamble; `told` overrides the length it claims. */
export function v2(
  command: number,
  family: number,
  body: Uint8Array = bytes(),
  reported = body.length,
): Buffer {
  return Buffer.concat([SIGNATURE, bytes(command, family, reported >> 8, reported & 255), body]);
}

/** A version 2 preamble that ends in its checksum; `change` breaks it. */
export function v2WithChecksum(family: number, body: Uint8Array, change = 0): Buffer {
  const whole = v2(0x21, family, Buffer.concat([body, tlv(3, bytes(0, 0, 0, 0))]));
  whole.writeUInt32BE((crc32c(whole, 0, whole.length) ^ change) >>> 0, whole.length - 4);
  return whole;
}

/** The TLVs of a TLS terminator. */
export const TLS = tlv(
  0x20,
  Buffer.concat([
    bytes(7, 0, 0, 0, 9),
    tlv(0x21, 'TLSv1.3'),
    tlv(0x22, 'cn.example'),
    tlv(0x23, 'AES'),
    tlv(0x24, 'SHA256'),
    tlv(0x25, 'RSA2048'),
  ]),
);

export function v1(line: string): Buffer {
  return Buffer.from(`${line}\r\n`, 'latin1');
}
