// The history of counters as bytes. A file is a sequence of frames: the first one has all names and values, each of the
// others the changes since its predecessor. Every frame carries a checksum, and a file with anything but whole frames
// is damaged. Pure functions; history-level.ts does the file access.
//
// A frame: size of its content (u32), CRC of it (u32), the content: kind, time in milliseconds of the epoch (after the
// first frame relative to the previous one), and the numbers, all of variable length: seven bits a byte, the lowest
// first.

import { crc32 } from 'node:zlib';

const HEAD = 8;
const WHOLE = 1;
const CHANGES = 2;
const WRAP = 1n << 64n;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** Names or values, and bytes, processed in one step (chosen). */
const A_STEP = 256;
const A_RUN = 64 * 1024;

/** One object is reused for all samples: the next one overwrites it and its values. */
export interface HistorySample {
  /** Milliseconds of the epoch. */
  at: number;
  /** The same array within a file. */
  names: readonly string[];
  values: readonly bigint[];
}

/** Makes frames, those of many values in steps; one frame at a time. */
export class HistoryEncoder {
  private bytes = Buffer.allocUnsafe(4096);
  private length = 0;

  /** Makes the first frame of a file. */
  *whole({ at, names, values }: HistorySample): Generator<void, Buffer> {
    const texts: Buffer[] = [];
    let bytes = 0;
    for (let i = 0; i < names.length; i += A_STEP) {
      const text = Buffer.from((i === 0 ? '' : '\n') + names.slice(i, i + A_STEP).join('\n'));
      texts.push(text);
      bytes += text.length;
      yield;
    }
    this.begin(WHOLE);
    this.number(at);
    this.number(names.length);
    this.number(bytes);
    for (const text of texts) {
      this.reserve(text.length);
      text.copy(this.bytes, this.length);
      this.length += text.length;
      yield;
    }
    for (let i = 0; i < values.length; i++) {
      this.wide(values[i] as bigint);
      if (i % A_STEP === A_STEP - 1) yield;
    }
    return yield* this.end();
  }

  /** Makes a frame of the values that differ from `before`. */
  *changes(since: number, before: readonly bigint[], values: readonly bigint[]): Generator<void, Buffer> {
    this.begin(CHANGES);
    this.number(since);
    let last = -1;
    for (let i = 0; i < values.length; i++) {
      if (i % A_STEP === A_STEP - 1) yield;
      const value = values[i] as bigint;
      const former = before[i] as bigint;
      if (value === former) continue;
      this.number(i - last - 1);
      last = i;
      // Signed: the lowest bit is 1 for a decrease.
      const down = value < former;
      this.wide(((down ? former - value : value - former) << 1n) | (down ? 1n : 0n));
    }
    return yield* this.end();
  }

  private begin(kind: number): void {
    this.length = HEAD;
    this.bytes[this.length++] = kind;
  }

  private *end(): Generator<void, Buffer> {
    const frame = Buffer.from(this.bytes.subarray(0, this.length));
    let sum = 0;
    for (let at = HEAD; at < frame.length; at += A_RUN) {
      sum = crc32(frame.subarray(at, at + A_RUN), sum);
      if (at + A_RUN < frame.length) yield;
    }
    frame.writeUInt32LE(frame.length - HEAD, 0);
    frame.writeUInt32LE(sum, 4);
    return frame;
  }

  private wide(value: bigint): void {
    let rest = value;
    this.reserve(10);
    while (rest > SAFE) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.number(Number(rest));
  }

  private number(value: number): void {
    let rest = value;
    this.reserve(10);
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.length + more, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}

/** The samples of a file, in order. Throws for bytes that are not whole frames. */
export function* decodeHistory(bytes: Buffer): Generator<HistorySample> {
  let sample: { at: number; names: string[]; values: bigint[] } | null = null;
  for (const content of frames(bytes)) {
    const from = new Numbers(content);
    if (sample === null) sample = from.whole();
    else from.change(sample);
    yield sample;
  }
}

/** First and last time of a file's samples, and their number, without decoding values. Throws for an empty file and for
 * bytes that are not whole frames. */
export function spanOfHistory(bytes: Buffer): { from: number; to: number; samples: number } {
  const span = { from: 0, to: 0, samples: 0 };
  for (const content of frames(bytes)) {
    const time = new Numbers(content).next();
    if (span.samples++ === 0) span.from = time;
    span.to += time;
  }
  if (span.samples === 0) throw new Error('it is empty');
  return span;
}

/** The contents of the frames; only the first one may be a whole sample, and all others must be changes. */
function* frames(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = at + HEAD <= bytes.length ? bytes.readUInt32LE(at) : 0;
    const end = at + HEAD + length;
    const content = bytes.subarray(at + HEAD, end);
    if (length === 0 || end > bytes.length || crc32(content) !== bytes.readUInt32LE(at + 4))
      throw new Error(`no whole frame at byte ${at}`);
    if (content[0] !== (at === 0 ? WHOLE : CHANGES)) throw new Error(`unexpected frame at byte ${at}`);
    at = end;
    yield content;
  }
}

/** Decodes a frame's content, after its kind. */
class Numbers {
  private readonly bytes: Buffer;
  private at = 1;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  whole(): { at: number; names: string[]; values: bigint[] } {
    const at = this.next();
    const count = this.next();
    const length = this.next();
    const names = length === 0 ? [] : this.bytes.toString('utf8', this.at, this.at + length).split('\n');
    if (names.length !== count) throw new Error('names are missing');
    this.at += length;
    return { at, names, values: Array.from(names, () => this.wide()) };
  }

  change(sample: { at: number; values: bigint[] }): void {
    sample.at += this.next();
    for (let i = -1; this.at < this.bytes.length; ) {
      i += this.next() + 1;
      const former = sample.values[i];
      if (former === undefined) throw new Error('a change of an unknown counter');
      const coded = this.wide();
      const by = coded >> 1n;
      sample.values[i] = BigInt.asUintN(64, (coded & 1n) === 1n ? former + WRAP - by : former + by);
    }
  }

  next(): number {
    return Number(this.wide());
  }

  private wide(): bigint {
    let low = 0;
    let scale = 1;
    let { at } = this;
    const { bytes } = this;
    for (let n = 0; n < 7; n++, scale *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('a number without an end');
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.at = at;
        return BigInt(low);
      }
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return value;
      }
    }
    throw new Error('a number without an end');
  }
}
