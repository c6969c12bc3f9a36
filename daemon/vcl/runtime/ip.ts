// IP values of VCL: an address with a port, as text and, on demand, as bytes.

import { isIP } from 'node:net';
import { VclFailure } from '../../contract/failure.ts';

/** An empty text is no address: the value of extensions if there is none. */
export class VclIp {
  readonly text: string;
  readonly port: number;
  readonly #mapped: boolean;
  #bytes: number[] | null = null;

  /** @param mapped an IPv4-mapped IPv6 address, which is shown, but not compared, as IPv4 */
  constructor(text: string, port: number, mapped = false) {
    this.text = text;
    this.port = port;
    this.#mapped = mapped;
  }

  /** 4 or 16 bytes; an IPv4-mapped IPv6 address has 16. */
  get bytes(): readonly number[] {
    if (this.text === '') throw new VclFailure('VRT_ipcmp: Illegal IP');
    if (this.#bytes === null) {
      this.#bytes = familyBytes(this.#mapped ? `::ffff:${this.text}` : this.text) ?? [0, 0, 0, 0];
    }
    return this.#bytes;
  }
}

/** Bytes of a numeric address, or null; an IPv4-mapped IPv6 address gives the four of the IPv4 one. */
export function addressBytes(text: string): number[] | null {
  const bytes = familyBytes(text);
  if (bytes === null || bytes.length === 4) return bytes;
  const mapped = bytes.slice(0, 10).every((b) => b === 0) && bytes[10] === 255 && bytes[11] === 255;
  return mapped ? bytes.slice(12) : bytes;
}

/** Bytes of a numeric address in the family it is written in, or null. */
export function familyBytes(text: string): number[] | null {
  const kind = isIP(text);
  if (kind === 4) return text.split('.').map(Number);
  if (kind !== 6) return null;
  let body = text.replace(/%.*$/, '');
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(body);
  if (dotted !== null) {
    const [, head = '', a, b, c, d] = dotted;
    const hex = (x?: string, y?: string): string => (Number(x) * 256 + Number(y)).toString(16);
    body = `${head}${hex(a, b)}:${hex(c, d)}`;
  }
  const [left = '', right] = body.split('::');
  const words = (s: string): number[] => (s === '' ? [] : s.split(':').map((w) => Number.parseInt(w, 16)));
  const l = words(left);
  const r = right === undefined ? [] : words(right);
  const all = [...l, ...new Array<number>(8 - l.length - r.length).fill(0), ...r];
  return all.flatMap((w) => [w >> 8, w & 255]);
}

/** Text of 4 or 16 bytes; IPv6 in the short form of RFC 5952. */
export function formatAddress(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const words: number[] = [];
  for (let i = 0; i < 16; i += 2) words.push(((bytes[i] as number) << 8) | (bytes[i + 1] as number));
  let best = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && words[i + n] === 0) n++;
    if (n > bestLength) {
      best = i;
      bestLength = n;
    }
  }
  const hex = (ws: number[]): string => ws.map((w) => w.toString(16)).join(':');
  return best < 0 ? hex(words) : `${hex(words.slice(0, best))}::${hex(words.slice(best + bestLength))}`;
}
