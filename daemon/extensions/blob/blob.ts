// The extension blob: encodes, decodes, compares and slices BLOB values, and stores some by name. Follows
// vmod_blob(3) of 7.1.
//
// A failure is logged and the statement continues with an empty value, as in Varnish; the state then fails.

import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import { decode, ENCODINGS, type Encoding, encode, hasCase } from './encodings.ts';

type Case = 'LOWER' | 'UPPER' | 'DEFAULT';
type Bytes = Uint8Array | null;

const SCHEMES = `ENUM {${ENCODINGS.join(', ')}}`;
const CASES = 'ENUM {LOWER, UPPER, DEFAULT} case=DEFAULT';
const NOTHING = new Uint8Array(0);

function fail(ctx: VclContext, what: string): null {
  softFail(ctx, `vmod blob error: ${what}`);
  return null;
}

/** Whether the encoding supports the letter case; logs the failure. */
function caseIsLegal(ctx: VclContext, encoding: Encoding, letters: Case): boolean {
  if (letters === 'DEFAULT' || hasCase(encoding)) return true;
  fail(ctx, `case ${letters} is illegal with encoding ${encoding}`);
  return false;
}

function decoded(ctx: VclContext, decoding: Encoding, length: number, text: string): Bytes {
  const part = length > 0 && length < text.length ? text.slice(0, length) : text;
  return decode(decoding, part) ?? fail(ctx, `cannot decode, illegal encoding beginning with "${text}"`);
}

function encoded(ctx: VclContext, encoding: Encoding, letters: Case, bytes: Bytes): string | null {
  if (!caseIsLegal(ctx, encoding, letters)) return null;
  return encode(encoding, letters === 'UPPER', bytes ?? NOTHING);
}

function isEmpty(bytes: Bytes): boolean {
  return bytes === null || bytes.length === 0;
}

/** A blob made in vcl_init, with a cache of its encodings. */
class NamedBlob {
  readonly bytes: Uint8Array;
  private readonly texts = new Map<string, string>();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  encode(ctx: VclContext, encoding: Encoding, letters: Case): string | null {
    if (!caseIsLegal(ctx, encoding, letters)) return null;
    const key = `${encoding} ${letters}`;
    let text = this.texts.get(key);
    if (text === undefined) {
      text = encode(encoding, letters === 'UPPER', this.bytes);
      this.texts.set(key, text);
    }
    return text;
  }
}

function encodeNamed(ctx: VclContext, self: NamedBlob, encoding: Encoding, letters: Case): string | null {
  return self.encode(ctx, encoding, letters);
}

function decodeText(
  ctx: VclContext,
  decoding: Encoding,
  length: number,
  text: string | null,
): Uint8Array | null {
  return decoded(ctx, decoding, length, text ?? '');
}

function transcode(
  ctx: VclContext,
  decoding: Encoding,
  encoding: Encoding,
  letters: Case,
  length: number,
  text: string | null,
): string | null {
  if (!caseIsLegal(ctx, encoding, letters)) return null;
  const bytes = decoded(ctx, decoding, length, text ?? '');
  return bytes === null ? null : encoded(ctx, encoding, letters, bytes);
}

function same(_ctx: VclContext, a: Bytes, b: Bytes): boolean {
  if (a === null || b === null || isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.length === b.length;
}

function sub(ctx: VclContext, a: Bytes, length: number, offset: number): Uint8Array | null {
  if (a === null || a.length === 0) return fail(ctx, 'blob is empty in blob.sub()');
  if (offset + length > a.length) {
    return fail(
      ctx,
      `size ${length} from offset ${offset} requires more bytes than blob length ${a.length} in blob.sub()`,
    );
  }
  return a.subarray(offset, offset + length);
}

export const blob: Extension = {
  name: 'blob',
  help: 'bytes and their encodings',
  // biome-ignore format: a row is a line
  functions: byName(
    row(`BLOB decode(${SCHEMES} decoding=IDENTITY, INT length=0, STRING encoded)`, decodeText,
      'Decodes a text. A length other than 0 limits how much of the text is read.'),
    row(`STRING encode(${SCHEMES} encoding=IDENTITY, ${CASES}, BLOB blob)`, encoded, 'Encodes the bytes.'),
    row(`STRING transcode(${SCHEMES} decoding=IDENTITY, ${SCHEMES} encoding=IDENTITY, ${CASES}, INT length=0, STRING encoded)`, transcode,
      'Converts a text between encodings: decode() and encode() in one.'),
    row('BOOL same(BLOB, BLOB)', same, 'Whether both are the same piece of memory, or both empty.'),
    row('BOOL equal(BLOB, BLOB)', (_ctx, a: Bytes, b: Bytes) => Buffer.compare(a ?? NOTHING, b ?? NOTHING) === 0,
      'Whether both have the same bytes.'),
    row('INT length(BLOB)', (_ctx, a: Bytes) => a?.length ?? 0, 'Number of bytes.'),
    row('BLOB sub(BLOB, BYTES length, BYTES offset=0)', sub, 'A part: length bytes from offset on. Fails where it ends beyond the blob.'),
  ),
  objects: {
    blob: {
      signature: `blob(${SCHEMES} decoding=IDENTITY, STRING encoded)`,
      help: 'A blob that is decoded once, when the program is loaded.',
      create: (ctx, name, decoding: Encoding, text: string | null) => {
        const bytes = decode(decoding, text ?? '');
        if (bytes === null) {
          fail(ctx, `cannot create blob ${name}, illegal encoding beginning with "${text}"`);
        }
        return new NamedBlob(bytes ?? NOTHING);
      },
      // biome-ignore format: a row is a line
      methods: byName(
        row('BLOB get()', (_ctx, self: NamedBlob) => self.bytes, 'The bytes.'),
        row(`STRING encode(${SCHEMES} encoding=IDENTITY, ${CASES})`, encodeNamed, 'Encodes the bytes.'),
      ),
    },
  },
};
