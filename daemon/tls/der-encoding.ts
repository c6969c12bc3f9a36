// DER (X.690), as much of it as certificate requests need: a writer of elements, and a reader that walks a certificate to
// one of its extensions. The runtime reads certificates, but makes none.

import { isIPv6 } from 'node:net';

const TAG = { boolean: 1, integer: 2, bits: 3, octets: 4, oid: 6, utf8: 12, sequence: 48, set: 49 } as const;
const UTC_TIME = 23;
const GENERALIZED_TIME = 24;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
/** UTCTime has two digits for the year and ends with 2049 (RFC 5280 section 4.1.2.5). */
const END_OF_UTC_TIME = Date.UTC(2050, 0, 1);

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export function sequence(...contents: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, ...contents);
}

export function setOf(...contents: readonly Uint8Array[]): Buffer {
  return element(TAG.set, ...contents);
}

export function boolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.from([value ? 255 : 0]));
}

/** A positive number, from its bytes with the most significant one first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  const sign = ((shortest[0] ?? 0) & 0x80) === 0 ? [] : [0];
  return element(TAG.integer, Buffer.from(sign), shortest.length === 0 ? Buffer.from([0]) : shortest);
}

export function octets(bytes: Uint8Array): Buffer {
  return element(TAG.octets, bytes);
}

/** A bit string of whole bytes. */
export function bits(bytes: Uint8Array): Buffer {
  return element(TAG.bits, Buffer.from([0]), bytes);
}

export function utf8(text: string): Buffer {
  return element(TAG.utf8, Buffer.from(text));
}

/** @param dotted such as `2.5.29.17` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
    bytes.unshift(0x80 | (left % 128));
  return bytes;
}

/** A time of X.509, in whole seconds. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return at.getTime() < END_OF_UTC_TIME
    ? element(UTC_TIME, Buffer.from(digits.slice(2)))
    : element(GENERALIZED_TIME, Buffer.from(digits));
}

/** An element with a tag of its context around other elements (EXPLICIT, or IMPLICIT of a SEQUENCE or SET). */
export function tagged(number: number, ...contents: readonly Uint8Array[]): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, ...contents);
}

/** An extension of a certificate. @param value the DER of its type */
export function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** A subjectAltName extension. @param names DNS names and IP addresses */
export function subjectAltName(names: readonly string[], critical: boolean): Buffer {
  const general = names.map((name) => {
    const address = addressBytes(name);
    return address === null
      ? element(CONTEXT | DNS_NAME, Buffer.from(name, 'latin1'))
      : element(CONTEXT | IP_ADDRESS, address);
  });
  return extension('2.5.29.17', critical, sequence(...general));
}

/** The 4 or 16 bytes of an IP address; null for other texts. */
export function addressBytes(text: string): Buffer | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return Buffer.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return null;
  // The URL parser writes an IPv4 tail as hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split('::');
  const groups = (part: string | undefined): string[] =>
    part === undefined || part === '' ? [] : part.split(':');
  const before = groups(head);
  const after = groups(tail);
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [i, group] of [...before, ...zeros, ...after].entries())
    bytes.writeUInt16BE(parseInt(group, 16), 2 * i);
  return bytes;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The elements one after another in some bytes. Throws RangeError if they end within one. */
export function elementsOf(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at++);
    let length = bytes.readUInt8(at++);
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count === 0 || count > 4) throw new RangeError(`DER: a length of ${count} bytes`);
      length = bytes.readUIntBE(at, count);
      at += count;
    }
    if (at + length > bytes.length) throw new RangeError('DER: the bytes end within an element');
    elements.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return elements;
}

const EXTENSIONS = CONTEXT | CONSTRUCTED | 3;

/** The value of an extension of a certificate; null if it has none of that kind. Throws RangeError. */
export function extensionOf(certificate: Buffer, id: string): Buffer | null {
  const wanted = elementsOf(oid(id))[0]?.content;
  const [whole] = elementsOf(certificate);
  const [signed] = whole === undefined ? [] : elementsOf(whole.content);
  const parts = signed === undefined ? [] : elementsOf(signed.content);
  const list = parts.find(({ tag }) => tag === EXTENSIONS);
  const [all] = list === undefined ? [] : elementsOf(list.content);
  for (const { content } of all === undefined ? [] : elementsOf(all.content)) {
    const [name, ...rest] = elementsOf(content);
    if (name !== undefined && wanted?.equals(name.content) === true) return rest.at(-1)?.content ?? null;
  }
  return null;
}
