// The extension digest: hashes, message authentication codes (RFC 2104) and base64 (RFC 4648) of texts. Follows
// vmod_digest(3) of libvmod-digest 1.0.3.
//
// Texts are byte strings. An unset one is hashed as the empty one, except for a key, which gives nothing: a code
// made with no key would look right.

import { createHash, createHmac, getHashes } from 'node:crypto';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';
import { adler32, crc32, crc32b } from './checksums.ts';

type Text = string | null;

const VERSION = '1.0.3';
/** Names that the crypto library of the runtime knows: builds differ. */
const OFFERED = new Set(getHashes());

const bytesOf = (text: Text): Buffer => Buffer.from(text ?? '', 'latin1');

/** As strings of the language: up to the first zero byte. */
function textOf(bytes: Buffer): string {
  const zero = bytes.indexOf(0);
  return bytes.toString('latin1', 0, zero < 0 ? bytes.length : zero);
}

function hash(name: string): ExtensionFunction {
  const help = `The ${name.toUpperCase()} hash of the text, in hexadecimal digits.`;
  const call = (_ctx: unknown, text: Text): string => createHash(name).update(bytesOf(text)).digest('hex');
  return row(`STRING hash_${name}(STRING)`, call, help);
}

function missingHash(name: string): ExtensionFunction {
  const help = 'Not available: a program that calls it does not compile.';
  const refusal = `The crypto library here does not have ${name}. Take hash_sha256() where the choice is yours.`;
  return row(`STRING hash_${name}(STRING)`, () => null, help, { refusal });
}

function checksum(name: string, sum: (bytes: Uint8Array) => Buffer, help: string): ExtensionFunction {
  const call = (_ctx: unknown, text: Text): string => sum(bytesOf(text)).toString('hex');
  return row(
    `STRING hash_${name}(STRING)`,
    call,
    `${help} of the text, in hexadecimal digits. It protects nothing from intent.`,
  );
}

function hmac(algorithm: string): ExtensionFunction {
  const call = (_ctx: unknown, key: Text, message: Text): string | null =>
    key === null ? null : `0x${createHmac(algorithm, bytesOf(key)).update(bytesOf(message)).digest('hex')}`;
  const help = `The code of the message (second) with the key (first) by HMAC-${algorithm.toUpperCase()}: 0x and hexadecimal digits. Unset when the key is.`;
  return row(`STRING hmac_${algorithm}(STRING, STRING)`, call, help);
}

interface Alphabet {
  readonly name: string;
  readonly padded: boolean;
  readonly legal: RegExp;
  readonly help: string;
}

// biome-ignore format: a row is a line
const ALPHABETS: readonly Alphabet[] = [
  { name: 'base64', padded: true, legal: /^[A-Za-z0-9+/]*$/, help: 'base64' },
  { name: 'base64url', padded: true, legal: /^[A-Za-z0-9_-]*$/, help: 'base64 for URLs, with padding' },
  { name: 'base64url_nopad', padded: false, legal: /^[A-Za-z0-9_-]*$/, help: 'base64 for URLs, without padding' },
];

function encoded({ name, padded }: Alphabet, bytes: Buffer): string {
  if (name === 'base64') return bytes.toString('base64');
  const text = bytes.toString('base64url');
  return padded ? text.padEnd(Math.ceil(text.length / 4) * 4, '=') : text;
}

/** Padding may be missing, or there where there should be none. Null for a text that is not base64. */
function decoded({ legal }: Alphabet, text: string): string | null {
  let end = text.length;
  while (end > 0 && text[end - 1] === '=') end--;
  const plain = text.slice(0, end);
  return plain.length % 4 === 1 || !legal.test(plain) ? null : textOf(Buffer.from(plain, 'base64'));
}

const HEX = /^(?:0[xX])?((?:[0-9A-Fa-f]{2})*)$/;

function ofHex(alphabet: Alphabet, text: string): string | null {
  const digits = HEX.exec(text)?.[1];
  return digits === undefined ? null : encoded(alphabet, Buffer.from(digits, 'hex'));
}

function base64Rows(alphabet: Alphabet): ExtensionFunction[] {
  const { name, help } = alphabet;
  // biome-ignore format: a row is a line
  return [
    row(`STRING ${name}(STRING)`, (_ctx, text: Text) => encoded(alphabet, bytesOf(text)), `Encodes the text in ${help}.`),
    row(`STRING ${name}_hex(STRING)`, (_ctx, text: Text) => ofHex(alphabet, text ?? ''),
      `Encodes bytes in ${help} that are given in hexadecimal digits, with 0x in front or without. Unset when they are no pairs of such digits.`),
    row(`STRING ${name}_decode(STRING)`, (_ctx, text: Text) => decoded(alphabet, text ?? ''),
      `Decodes ${help}; padding may be missing. Unset for a text that is none. A text ends before a first zero byte.`),
  ];
}

const HASHES = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'md5', 'ripemd160'];
// biome-ignore format: a list in lines
const MISSING_HASHES = [
  'gost', 'md2', 'md4', 'haval128', 'haval160', 'haval192', 'haval224', 'haval256', 'ripemd128', 'ripemd256',
  'ripemd320', 'tiger', 'tiger128', 'tiger160', 'snefru128', 'snefru256', 'whirlpool',
];

export const digest: Extension = {
  name: 'digest',
  help: 'hashes, message authentication codes and base64',
  notes: {
    algorithms:
      'Hashes come from the crypto library of the runtime (OpenSSL): MD5, SHA-1, the SHA-2 family and RIPEMD-160. Of the others that libmhash has, GOST, MD2, MD4, HAVAL, TIGER, SNEFRU, WHIRLPOOL and RIPEMD of other lengths, it has none: a program that calls them does not compile, and the message names the hash. The three checksums are there.\n\nMD5 and SHA-1 no longer keep anybody from making two texts with one hash. Take SHA-256.',
    'checking a signature':
      'A comparison by == takes longer the more of the text is right. Compare codes of both sides instead, made with a key that the client does not know, as in digest.hmac_sha256(key, given) == digest.hmac_sha256(key, digest.hmac_sha256(key, message)).',
  },
  functions: byName(
    hmac('sha256'),
    hmac('sha1'),
    hmac('md5'),
    ...ALPHABETS.flatMap(base64Rows),
    ...HASHES.map((name) => (OFFERED.has(name) ? hash(name) : missingHash(name))),
    ...MISSING_HASHES.map(missingHash),
    checksum('crc32', crc32, 'The checksum of bzip2 (CRC-32), lowest byte first,'),
    checksum('crc32b', crc32b, 'The checksum of gzip (CRC-32), lowest byte first,'),
    checksum('adler32', adler32, 'The checksum of zlib (Adler-32)'),
    row('STRING version()', () => VERSION, 'The version of libvmod-digest whose functions these are.'),
  ),
};
