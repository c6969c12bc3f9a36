import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { huffmanDecode, huffmanEncode, huffmanLength, huffmanMost } from '../../../daemon/http2/huffman.ts';

function encode(text: string): Buffer {
  const out = Buffer.alloc(huffmanLength(text) + 4, 0xee);
  const end = huffmanEncode(text, out, 2);
  expect(end).toBe(huffmanLength(text) + 2);
  expect([out[0], out[1], out[end]]).toEqual([0xee, 0xee, 0xee]);
  return Buffer.from(out.subarray(2, end));
}

function decode(bytes: Uint8Array, room = huffmanMost(bytes.length)): string | number {
  const out = Buffer.alloc(room);
  const length = huffmanDecode(bytes, 0, bytes.length, out, 0);
  return length < 0 ? length : out.toString('latin1', 0, Math.min(length, room));
}

/** Codes of RFC 7541 appendix B, some of each length, as bits. */
const CODES: readonly (readonly [octet: number, code: number, bits: number])[] = [
  [0x30, 0x0, 5],
  [0x74, 0x9, 5],
  [0x20, 0x14, 6],
  [0x3a, 0x5c, 7],
  [0x7a, 0x7b, 7],
  [0x26, 0xf8, 8],
  [0x5a, 0xfd, 8],
  [0x21, 0x3f8, 10],
  [0x7c, 0x7fc, 11],
  [0x23, 0xffa, 12],
  [0x00, 0x1ff8, 13],
  [0x7d, 0x3ffd, 14],
  [0x7b, 0x7ffe, 15],
  [0x5c, 0x7fff0, 19],
  [0xd0, 0x7fff2, 19],
  [0x80, 0xfffe6, 20],
  [0x99, 0x1fffdc, 21],
  [0x81, 0x3fffd2, 22],
  [0x01, 0x7fffd8, 23],
  [0x09, 0xffffea, 24],
  [0xc7, 0x1ffffec, 25],
  [0xff, 0x3ffffee, 26],
  [0xcb, 0x7ffffde, 27],
  [0x02, 0xfffffe2, 28],
  [0x7f, 0xffffffc, 28],
  [0x0a, 0x3ffffffc, 30],
  [0x16, 0x3ffffffe, 30],
];

describe('the Huffman code', () => {
  it.each(CODES)('has for octet %i the code %i of %i bits', (octet, code, bits) => {
    const padded = code
      .toString(2)
      .padStart(bits, '0')
      .padEnd(Math.ceil(bits / 8) * 8, '1');
    const bytes = Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
    const text = String.fromCharCode(octet);
    expect(encode(text)).toEqual(bytes);
    expect(decode(bytes)).toBe(text);
  });

  it('gives back any text', () => {
    const octets = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    fc.assert(
      fc.property(octets, (text) => {
        expect(decode(encode(text))).toBe(text);
      }),
    );
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('latin1');
    expect(decode(encode(all + all))).toBe(all + all);
  });

  it('counts octets for which there is no room', () => {
    const bytes = encode('0'.repeat(80));
    const out = Buffer.alloc(20, 1);
    expect(huffmanDecode(bytes, 0, bytes.length, out, 10)).toBe(80);
    expect(out.toString('latin1', 10)).toBe('0'.repeat(10));
  });

  it.each([
    ['padding of eight bits', '07ff'],
    ['padding of nine bits', 'feffff'],
    ['padding alone', 'ff'],
    ['padding of zeros', '00'],
    ['padding that is not all ones', '06'],
    ['the end of string', 'ffffffff'],
    ['the end of string after an octet', '07fffffffc'],
    ['the end of string before padding', '07ffffffff'],
    ['a code that is cut off', 'fffffe'],
  ])('refuses %s', (_, hex) => {
    expect(decode(Buffer.from(hex, 'hex'))).toBe(-1);
  });

  it('takes no bits, and padding of up to seven', () => {
    expect(decode(Buffer.alloc(0))).toBe('');
    for (const text of ['0', ' 0', '  0', '   0', '00', '000', '0000', '00000000', ':', '&']) {
      expect(decode(encode(text))).toBe(text);
    }
  });
});
