// The log of one transaction: encodes its records into the ring writer's staging buffer, each with the transaction's id
// and side. It never writes to the file and delays no record, so records of concurrent transactions interleave.
//
// This is the hot path: about thirty records a request. Short texts are written by a loop over char codes (a native
// call costs more than 40 characters do), long ones by latin1Write, constant ones as prepared words. Texts are expected
// to be latin1, one byte a character, as heads are received; a short text with larger code points is written as UTF-8.

import { Tag } from '../../protocol/tables/tags.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import type { MessageLog } from '../http1/message.ts';
import type { LogMask } from './log-mask.ts';
import { BLOCK_HEAD } from './ring-format.ts';
import type { RingWriter } from './ring-writer.ts';

/** Node's Buffer has the method; its types omit it. */
type Latin1Buffer = Buffer & { latin1Slice(start: number, end: number): string };

/** 'c' client side, 'b' backend side, '-' neither. */
export type LogSide = 'c' | 'b' | '-';

const CLIENT = 1 << 30;
const BACKEND = (1 << 31) >>> 0;
const NATIVE_FROM = 48;
/** Characters of an event's name up to which its record cannot exceed the default record length. */
const LONGEST_EVENT = 150;

/** Digits of 0..999 with leading zeros, in the lower three bytes of a word that is written at once: the fourth byte is
 * overwritten by the text that follows. */
const THREE = new Uint32Array(1000);
for (let i = 0; i < 1000; i++) {
  THREE[i] = 0x303030 + Math.floor(i / 100) + ((Math.floor(i / 10) % 10) << 8) + ((i % 10) << 16);
}
/** `0.`, and the words `0.00` and `0000` of a zero. */
const ZERO_POINT = 0x2e30;
const ZERO_HEAD = 0x30302e30;
const ZERO_TAIL = 0x30303030;

/** Writes 0 to 999 at `p`; returns the end. */
function plainDigits(view: DataView, p: number, value: number): number {
  const missing = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  view.setUint32(p, (THREE[value] as number) >>> (missing << 3), true);
  return p + 3 - missing;
}

const NO_WORDS = new Uint32Array(0);
const NO_IDS: number[] = [];

/** Constant records, encoded once and copied with the id of the transaction that logs them. They are encoded at their
 * second use, because those of a connection with one request have no other. */
export class PreparedRecords {
  /** Set after the first use. */
  used = false;
  readonly items: readonly (readonly [tag: number, text: string])[];
  words = NO_WORDS;
  /** Word offsets of the ids. */
  ids = NO_IDS;
  epoch = 0;

  constructor(items: readonly (readonly [tag: number, text: string])[]) {
    this.items = items;
  }

  /** Encodes the records for the current mask. */
  encode(mask: LogMask, reclen: number): void {
    this.epoch = mask.epoch;
    this.ids = [];
    const parts: Buffer[] = [];
    let at = 0;
    for (const [tag, text] of this.items) {
      if (mask.on[tag] === 0) continue;
      const payload = Buffer.from(text, 'latin1').subarray(0, reclen - 1);
      const record = Buffer.alloc(8 + ((payload.length + 4) & ~3));
      record.writeUInt32LE(((tag << 24) | (payload.length + 1)) >>> 0, 0);
      payload.copy(record, 8);
      this.ids.push((at >> 2) + 1);
      at += record.length;
      parts.push(record);
    }
    const all = Buffer.concat(parts);
    this.words = new Uint32Array(all.buffer.slice(all.byteOffset, all.byteOffset + all.length));
  }
}

/** A single record that never changes. */
export function constantRecord(tag: number, text: string): PreparedRecords {
  return new PreparedRecords([[tag, text]]);
}

function idOf(vxid: number, side: LogSide): number {
  return side === 'c' ? (vxid | CLIENT) >>> 0 : side === 'b' ? (vxid | BACKEND) >>> 0 : vxid;
}

const END = constantRecord(Tag.End, '');

/** The part that all logs of a worker share: writer, mask and vsl_reclen (bytes with the final NUL). */
export class LogShared {
  readonly writer: RingWriter;
  readonly mask: LogMask;
  reclen = 255;
  /** The second whose digits `secondDigits` holds. */
  second = -1;
  readonly secondDigits = new Uint32Array(5);
  secondLength = 0;

  constructor(writer: RingWriter, mask: LogMask) {
    this.writer = writer;
    this.mask = mask;
  }
}

export class TxLog implements MessageLog {
  vxid = 0;
  /** Second word of each record: id with the side's marker. */
  id = 0;
  /** Epoch seconds of the first and of the last timestamp; 0 before the first. */
  tFirst = 0;
  tPrev = 0;
  /** Write position of the record being built. */
  private at = 0;
  private began = 0;
  private readonly shared: LogShared;
  private readonly writer: RingWriter;
  private readonly on: Uint8Array;

  constructor(shared: LogShared) {
    this.shared = shared;
    this.writer = shared.writer;
    this.on = shared.mask.on;
  }

  /** Starts to log for another transaction; writes nothing. */
  begin(vxid: number, side: LogSide): void {
    this.vxid = vxid;
    this.id = idOf(vxid, side);
    this.tFirst = 0;
    this.tPrev = 0;
    this.began = this.writer.begin();
  }

  /** Ends the transaction. */
  end(): void {
    this.put(Tag.End, '');
  }

  /** Ends a request whose response was sent. @param isAll false: its fetch may end a moment later */
  endAnswered(isAll: boolean): void {
    this.putConstant(END);
    this.writer.answered(this.began, isAll);
  }

  /** Call before each write to a client: whatever the client does next is logged after this transaction's end. */
  answering(): void {
    this.writer.answering();
  }

  /** Whether records of this tag are logged: saves a caller from building the text. */
  wants(tag: number): boolean {
    return this.on[tag] !== 0;
  }

  /** Writes a text record. */
  put(tag: number, text: string): void {
    if (this.on[tag] === 0) return;
    let len = text.length;
    if (len >= this.shared.reclen) {
      len = this.shared.reclen - 1;
      text = text.slice(0, len);
    }
    const w = this.writer;
    let pos = w.pos;
    if (pos + len + 12 > w.limit) pos = w.makeRoom();
    const words = w.words;
    let i = pos >> 2;
    words[i++] = (tag << 24) | (len + 1);
    words[i++] = this.id;
    if (len < NATIVE_FROM) {
      let any = 0;
      let k = 0;
      const whole = len & ~3;
      while (k < whole) {
        const a = text.charCodeAt(k);
        const b = text.charCodeAt(k + 1);
        const c = text.charCodeAt(k + 2);
        const d = text.charCodeAt(k + 3);
        any |= a | b | c | d;
        words[i++] = a | (b << 8) | (c << 16) | (d << 24);
        k += 4;
      }
      let rest = 0;
      for (let shift = 0; k < len; k++, shift += 8) {
        const a = text.charCodeAt(k);
        any |= a;
        rest |= a << shift;
      }
      words[i] = rest;
      if (any > 255) {
        this.putBytes(tag, Buffer.from(text, 'utf8'), 0, Buffer.byteLength(text, 'utf8'));
        return;
      }
    } else {
      words[(pos + 8 + len) >> 2] = 0;
      w.bytes.latin1Write(text, pos + 8, len);
    }
    w.pos = pos + ((len + 12) & ~3);
    w.count++;
    if (!w.scheduled) w.schedule();
  }

  /** Writes a text record that the mask may leave out. */
  putUnmasked(tag: number, text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    this.record(tag, bytes, 0, bytes.length);
  }

  /** Writes a record of another transaction, or of none. */
  putFor(vxid: number, side: LogSide, tag: number, text: string): void {
    const { id } = this;
    this.id = idOf(vxid, side);
    this.put(tag, text);
    this.id = id;
  }

  /** Writes a record of raw bytes, src[start..end). The final NUL is added. */
  putBytes(tag: number, src: LentBytes, start: number, end: number): void {
    if (this.on[tag] !== 0) this.record(tag, src, start, end);
  }

  private record(tag: number, src: LentBytes, start: number, end: number): void {
    let len = end - start;
    if (len >= this.shared.reclen) len = this.shared.reclen - 1;
    const w = this.writer;
    let pos = w.pos;
    if (pos + len + 12 > w.limit) pos = w.makeRoom();
    const { words, bytes } = w;
    words[pos >> 2] = (tag << 24) | (len + 1);
    words[(pos >> 2) + 1] = this.id;
    words[(pos + 8 + len) >> 2] = 0;
    const at = pos + 8;
    if (len < 96) for (let k = 0; k < len; k++) bytes[at + k] = src[start + k] as number;
    else bytes.set(src.subarray(start, start + len), at);
    w.pos = pos + ((len + 12) & ~3);
    w.count++;
    if (!w.scheduled) w.schedule();
  }

  /** Writes a record whose text is one integer. */
  putInt(tag: number, value: number): void {
    this.put(tag, String(value));
  }

  /** Writes constant records in the order of their preparation. */
  putConstant(records: PreparedRecords): void {
    if (records.epoch !== this.shared.mask.epoch) {
      if (!records.used) {
        records.used = true;
        this.putEach(records);
        return;
      }
      records.encode(this.shared.mask, this.shared.reclen);
    }
    const from = records.words;
    const n = from.length;
    if (n === 0) return;
    const w = this.writer;
    let pos = w.pos;
    if (pos + n * 4 > w.limit) {
      if (n * 4 > w.limit - BLOCK_HEAD) {
        // More than a block holds: the headers of one object may be.
        this.putEach(records);
        return;
      }
      pos = w.makeRoom();
    }
    const words = w.words;
    const at = pos >> 2;
    for (let k = 0; k < n; k++) words[at + k] = from[k] as number;
    const ids = records.ids;
    for (let k = 0; k < ids.length; k++) words[at + (ids[k] as number)] = this.id;
    w.pos = pos + n * 4;
    w.count += ids.length;
    if (!w.scheduled) w.schedule();
  }

  private putEach(records: PreparedRecords): void {
    for (const [tag, text] of records.items) this.put(tag, text);
  }

  /** Writes a Timestamp record: `now` in epoch seconds, then the seconds since the first and since the last one. */
  timestamp(event: string, now: number): void {
    if (this.tFirst === 0) {
      this.tFirst = now;
      this.tPrev = now;
    }
    const first = now - this.tFirst;
    const prev = now - this.tPrev;
    this.tPrev = now;
    const tag = Tag.Timestamp;
    if (this.on[tag] === 0) return;
    if (event.length > LONGEST_EVENT) {
      // A program may pass a name of any length.
      const figures = `${now.toFixed(6)} ${first.toFixed(6)} ${prev.toFixed(6)}`;
      this.put(tag, `${event.slice(0, this.shared.reclen)}: ${figures}`);
      return;
    }
    const w = this.writer;
    let { pos } = w;
    if (pos + event.length + 100 > w.limit) pos = w.makeRoom();
    const { bytes, view } = w;
    let p = pos + 8;
    for (let k = 0; k < event.length; k++) bytes[p++] = event.charCodeAt(k);
    bytes[p++] = 58;
    bytes[p++] = 32;
    p = this.seconds(view, p, now);
    bytes[p++] = 32;
    p = this.seconds(view, p, first);
    bytes[p++] = 32;
    p = this.seconds(view, p, prev);
    this.finish(tag, p);
  }

  /** Starts a record that is built from parts with text(), int() and fixed(), and ended by close(). No string is made.
   * The parts must not exceed 255 bytes together. */
  open(): this {
    const w = this.writer;
    let { pos } = w;
    if (pos + 300 > w.limit) pos = w.makeRoom();
    this.at = pos + 8;
    return this;
  }

  /** Appends a short Latin-1 text. */
  text(part: string): this {
    const { bytes } = this.writer;
    let p = this.at;
    for (let k = 0; k < part.length; k++) bytes[p++] = part.charCodeAt(k);
    this.at = p;
    return this;
  }

  /** Appends a whole number from 0 to 2^53. */
  int(value: number): this {
    const { bytes, view } = this.writer;
    if (value < 1e9) {
      let p = this.at;
      const millions = (value / 1e6) | 0;
      const rest = value - millions * 1e6;
      const thousands = (rest / 1000) | 0;
      if (millions > 0) {
        p = plainDigits(view, p, millions);
        view.setUint32(p, THREE[thousands] as number, true);
        p += 3;
      } else if (thousands > 0) p = plainDigits(view, p, thousands);
      if (millions > 0 || thousands > 0) {
        view.setUint32(p, THREE[rest - thousands * 1000] as number, true);
        this.at = p + 3;
      } else this.at = plainDigits(view, p, rest);
      return this;
    }
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    let p = this.at + digits;
    this.at = p;
    let high = value;
    // Digits beyond 32 bits come first: the rest uses integer arithmetic, which is much faster.
    while (high > 0x7fff_ffff) {
      const next = Math.floor(high / 10);
      bytes[--p] = 48 + high - next * 10;
      high = next;
    }
    let rest = high | 0;
    do {
      const next = (rest / 10) | 0;
      bytes[--p] = 48 + rest - next * 10;
      rest = next;
    } while (rest > 0);
    return this;
  }

  /** Appends seconds or another fraction as %.6f. */
  fixed(value: number): this {
    this.at = this.seconds(this.writer.view, this.at, value);
    return this;
  }

  close(tag: number): void {
    if (this.on[tag] === 0) return;
    this.finish(tag, this.at);
  }

  /** Completes the record whose text ends at `p`. */
  private finish(tag: number, p: number): void {
    const w = this.writer;
    const { pos, view, words } = w;
    const len = Math.min(p - pos - 8, this.shared.reclen - 1);
    view.setUint32(pos + 8 + len, 0, true);
    words[pos >> 2] = (tag << 24) | (len + 1);
    words[(pos >> 2) + 1] = this.id;
    w.pos = pos + ((len + 12) & ~3);
    w.count++;
    if (!w.scheduled) w.schedule();
  }

  /** Like close(), and returns the text as one flat string. */
  closeText(tag: number): string {
    const { bytes, pos } = this.writer;
    const text = (bytes as unknown as Latin1Buffer).latin1Slice(pos + 8, this.at);
    this.close(tag);
    return text;
  }

  /** Like close(), and copies the text with a CRLF to `to` at `at`; returns the end of the copy. */
  closeInto(tag: number, to: Uint8Array, at: number): number {
    const { bytes, pos } = this.writer;
    const end = this.at;
    for (let k = pos + 8; k < end; k++) to[at++] = bytes[k] as number;
    to[at++] = 13;
    to[at++] = 10;
    this.close(tag);
    return at;
  }

  /** Writes a record of six byte counts: ReqAcct, BereqAcct. */
  acct(tag: number, a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.open()
      .int(a)
      .text(' ')
      .int(b)
      .text(' ')
      .int(c)
      .text(' ')
      .int(d)
      .text(' ')
      .int(e)
      .text(' ')
      .int(f)
      .close(tag);
  }

  /** Writes seconds as %.6f at `p`; returns the end. */
  private seconds(view: DataView, p: number, value: number): number {
    if (value === 0) {
      view.setUint32(p, ZERO_HEAD, true);
      view.setUint32(p + 4, ZERO_TAIL, true);
      return p + 8;
    }
    if (value < 0) {
      view.setUint8(p++, 45);
      value = -value;
    }
    // Truncation and integers throughout: Math.round and a division cost three times as much.
    let whole = value < 1 ? 0 : Math.floor(value);
    let frac = ((value - whole) * 1e6 + 0.5) | 0;
    if (frac >= 1_000_000) {
      frac -= 1_000_000;
      whole++;
    }
    if (whole === 0) {
      view.setUint16(p, ZERO_POINT, true);
      p += 2;
    } else {
      if (whole >= 1_000_000) p = this.clockSeconds(view, p, whole);
      else {
        // Lifetimes of objects; the cached digits are those of the clock.
        const thousands = (whole / 1000) | 0;
        if (thousands === 0) p = plainDigits(view, p, whole);
        else {
          p = plainDigits(view, p, thousands);
          view.setUint32(p, THREE[whole - thousands * 1000] as number, true);
          p += 3;
        }
      }
      view.setUint8(p++, 46);
    }
    const high = (frac / 1000) | 0;
    view.setUint32(p, THREE[high] as number, true);
    view.setUint32(p + 3, THREE[frac - high * 1000] as number, true);
    return p + 6;
  }

  /** Writes whole seconds, usually the same as last time. */
  private clockSeconds(view: DataView, p: number, whole: number): number {
    const s = this.shared;
    const { secondDigits } = s;
    if (s.second !== whole) {
      const text = String(whole);
      s.second = whole;
      s.secondLength = text.length;
      secondDigits.fill(0);
      for (let k = 0; k < text.length; k++) {
        secondDigits[k >> 2] = (secondDigits[k >> 2] as number) | (text.charCodeAt(k) << ((k & 3) << 3));
      }
    }
    const { secondLength } = s;
    for (let k = 0; k < secondLength; k += 4) view.setUint32(p + k, secondDigits[k >> 2] as number, true);
    return p + secondLength;
  }
}
