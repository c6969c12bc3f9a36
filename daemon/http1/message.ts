// HttpMessage: one HTTP head, as the steps and the VCL program use it.
//
// A header is stored as its complete line ("Name: value", as received) together with its lower-case name, so that
// forwarding, logging and lookup need no re-assembly. Changes are logged as in vsl(7): setting one is a Header record,
// unsetting one an Unset record. The message never parses or validates bytes.

import type { LentBytes } from './lent-bytes.ts';

/** The operations of the transaction log that a message uses: records of text or of bytes. */
export interface MessageLog {
  put(tag: number, text: string): void;
  readonly putBytes: (tag: number, src: LentBytes, start: number, end: number) => void;
  putConstant(record: ConstantRecord): void;
  /** Whether records of this tag are logged. */
  wants(tag: number): boolean;
}

/** Records that never change, which a log may keep encoded. */
export interface ConstantRecord {
  readonly items: readonly (readonly [tag: number, text: string])[];
}

/** Offsets of the records of one message kind from its Method tag (tables/tags.ts keeps them in a row). */
const MSG_METHOD = 0;
const MSG_URL = 1;
export const MSG_PROTOCOL = 2;
export const MSG_STATUS = 3;
export const MSG_REASON = 4;
export const MSG_HEADER = 5;
export const MSG_UNSET = 6;

/** One of 32 bits for a lower-case header name: names that share a bit only cost a futile search. */
export function nameBit(key: string): number {
  const n = key.length;
  return n === 0 ? 1 : 1 << ((key.charCodeAt(0) + key.charCodeAt(n - 1) * 3 + n * 5) & 31);
}

export class HttpMessage {
  method = '';
  url = '';
  proto = '';
  status = 0;
  reason = '';
  /** Number of headers in use; `keys` and `lines` may be longer. */
  n = 0;
  /** Bits of all names the message has or had: most searches are for headers that a message never had. */
  names = 0;
  /** Lower-case header names. */
  readonly keys: string[] = [];
  /** Whole header lines, "Name: value", without line end. */
  readonly lines: string[] = [];
  /** Tag id of this kind's Method record (ReqMethod, RespMethod, BereqMethod, BerespMethod, ObjMethod). */
  readonly base: number;
  log: MessageLog | null = null;
  /** The bytes of the first `rawLines` headers, joined by CRLF, from `rawFrom` on: logging and forwarding copy them
   * instead of encoding the lines again. The lender takes the bytes back. */
  raw: LentBytes | null = null;
  rawFrom = 0;
  rawLines = 0;
  /** Number of lines in `raw` if it holds nothing else; -1 when it holds more. */
  rawWhole = -1;
  /** Lines that end at this hop because the sender's Connection named them (RFC 9110 section 7.6.1); null when it named
   * none. A line that a program sets afterwards is not among them, whatever its name. */
  private ending: boolean[] | null = null;

  constructor(base: number) {
    this.base = base;
  }

  /** Empties the message for reuse. */
  reset(): void {
    this.method = '';
    this.url = '';
    this.proto = '';
    this.status = 0;
    this.reason = '';
    this.n = 0;
    this.names = 0;
    this.log = null;
    this.raw = null;
    this.rawLines = 0;
    this.ending = null;
  }

  /** Sets the headers' count and name bits, and clears the marks of an earlier head: for parsers that fill `lines`. */
  filled(n: number, names: number): void {
    this.n = n;
    this.names = names;
    this.ending = null;
  }

  /** Lends the raw bytes of all current headers. */
  lend(raw: LentBytes, from: number): void {
    this.raw = raw;
    this.rawFrom = from;
    this.rawLines = this.n;
    this.rawWhole = -1;
  }

  /** Lends bytes that are exactly the current headers. */
  lendWhole(raw: LentBytes): void {
    this.raw = raw;
    this.rawFrom = 0;
    this.rawLines = this.n;
    this.rawWhole = this.n;
  }

  /** Shares the raw bytes of the first `lines` headers of a message that begins with the same ones. */
  borrow(from: HttpMessage, lines: number): void {
    this.raw = from.raw;
    this.rawFrom = from.rawFrom;
    this.rawLines = lines;
    this.rawWhole = -1;
  }

  /** Logs every header. */
  logFields(log: MessageLog): void {
    const tag = this.base + MSG_HEADER;
    let i = 0;
    if (this.raw !== null) {
      let at = this.rawFrom;
      for (; i < this.rawLines; i++) {
        const end = at + (this.lines[i] as string).length;
        log.putBytes(tag, this.raw, at, end);
        at = end + 2;
      }
    }
    for (; i < this.n; i++) log.put(tag, this.lines[i] as string);
  }

  /** Index of the first header named `key` (lower case) at or after `from`, or -1. */
  find(key: string, from = 0): number {
    if ((this.names & nameBit(key)) === 0) return -1;
    for (let i = from; i < this.n; i++) if (this.keys[i] === key) return i;
    return -1;
  }

  has(key: string): boolean {
    return this.find(key) >= 0;
  }

  /** Value of header `i` without leading blanks. The parser removes trailing ones; those that a program sets stay. */
  valueAt(i: number): string {
    const line = this.lines[i] as string;
    const e = line.length;
    let s = (this.keys[i] as string).length + 1;
    for (; s < e; s++) {
      const c = line.charCodeAt(s);
      if (c !== 32 && c !== 9) break;
    }
    return line.slice(s, e);
  }

  /** Value of the first header named `key` (lower case), or null. */
  get(key: string): string | null {
    const i = this.find(key);
    return i < 0 ? null : this.valueAt(i);
  }

  /** Values of all headers named `key`, joined by ", " (RFC 9110 section 5.3), or null. */
  getAll(key: string): string | null {
    let out: string | null = null;
    if ((this.names & nameBit(key)) === 0) return out;
    for (let i = 0; i < this.n; i++) {
      if (this.keys[i] !== key) continue;
      out = out === null ? this.valueAt(i) : `${out}, ${this.valueAt(i)}`;
    }
    return out;
  }

  /** Appends a header without logging: for parsers and copies. */
  push(key: string, line: string): void {
    this.keys[this.n] = key;
    this.lines[this.n] = line;
    this.names |= nameBit(key);
    if (this.ending !== null) this.ending[this.n] = false;
    this.n++;
  }

  /** Marks the present lines with one of these names (lower case) as ending at this hop. */
  endHere(names: ReadonlySet<string>): void {
    for (let i = 0; i < this.n; i++) {
      if (!names.has(this.keys[i] as string)) continue;
      this.ending ??= new Array<boolean>(this.n).fill(false);
      this.ending[i] = true;
    }
  }

  /** Whether the sender's Connection named line `i`. */
  endsAt(i: number): boolean {
    return this.ending !== null && this.ending[i] === true;
  }

  /** Replaces all headers of this name by one at the end, and logs both changes. */
  set(name: string, value: string): void {
    const key = name.toLowerCase();
    this.unset(key);
    this.add(name, value, key);
  }

  /** Appends a header and logs it. */
  add(name: string, value: string, key: string = name.toLowerCase()): void {
    const line = `${name}: ${value}`;
    this.push(key, line);
    if (this.log !== null) this.log.put(this.base + MSG_HEADER, line);
  }

  /**
   * Replaces all headers of its name by a complete line, and logs it: for headers that the proxy adds itself.
   * @param record the same line as a Header record of this kind, for lines that never change
   */
  put(key: string, line: string, record: ConstantRecord | null = null): void {
    if (this.find(key) >= 0) this.unset(key);
    this.push(key, line);
    if (this.log === null) return;
    if (record === null) this.log.put(this.base + MSG_HEADER, line);
    else this.log.putConstant(record);
  }

  /** Joins several headers named `key` (lower case) where the first one is, without records (RFC 9110 section 5.3). */
  join(key: string): void {
    const first = this.find(key);
    if (first < 0 || this.find(key, first + 1) < 0) return;
    const line = `${(this.lines[first] as string).slice(0, key.length)}: ${this.getAll(key)}`;
    const { log } = this;
    this.log = null;
    this.unset(key);
    this.log = log;
    this.keys.splice(first, 0, key);
    this.lines.splice(first, 0, line);
    this.ending?.splice(first, 0, false);
    this.n++;
  }

  /** Removes all headers named `key` (lower case) and logs each; returns their number. */
  unset(key: string): number {
    if ((this.names & nameBit(key)) === 0) return 0;
    let kept = 0;
    for (let i = 0; i < this.n; i++) {
      if (this.keys[i] === key) {
        if (i < this.rawLines) this.rawLines = i;
        if (this.log !== null) this.log.put(this.base + MSG_UNSET, this.lines[i] as string);
        continue;
      }
      if (kept !== i) this.move(i, kept);
      kept++;
    }
    const gone = this.n - kept;
    this.n = kept;
    return gone;
  }

  private move(from: number, to: number): void {
    this.keys[to] = this.keys[from] as string;
    this.lines[to] = this.lines[from] as string;
    if (this.ending !== null) this.ending[to] = this.ending[from] === true;
  }

  /** Replaces line `i`, without a record. */
  replaceAt(i: number, key: string, line: string): void {
    if (i < this.rawLines) this.rawLines = i;
    this.names |= nameBit(key);
    this.keys[i] = key;
    this.lines[i] = line;
    if (this.ending !== null) this.ending[i] = false;
  }

  /** Removes the lines from `from` on for which `gone` returns true, without records. */
  removeWhere(from: number, gone: (i: number) => boolean): void {
    let kept = from;
    for (let i = from; i < this.n; i++) {
      if (gone(i)) {
        if (kept < this.rawLines) this.rawLines = kept;
        continue;
      }
      if (kept !== i) this.move(i, kept);
      kept++;
    }
    this.n = kept;
  }

  setMethod(method: string): void {
    this.method = method;
    if (this.log !== null) this.log.put(this.base + MSG_METHOD, method);
  }

  setUrl(url: string): void {
    this.url = url;
    if (this.log !== null) this.log.put(this.base + MSG_URL, url);
  }

  setProto(proto: string): void {
    this.proto = proto;
    if (this.log !== null) this.log.put(this.base + MSG_PROTOCOL, proto);
  }

  setStatus(status: number): void {
    this.status = status;
    if (this.log !== null) this.log.put(this.base + MSG_STATUS, String(status));
  }

  setReason(reason: string): void {
    this.reason = reason;
    if (this.log !== null) this.log.put(this.base + MSG_REASON, reason);
  }

  /** Logs the status line as it is. */
  logStatusLine(log: MessageLog): void {
    log.put(this.base + MSG_PROTOCOL, this.proto);
    log.put(this.base + MSG_STATUS, String(this.status % 1000).padStart(3, '0'));
    log.put(this.base + MSG_REASON, this.reason);
  }

  /** Copies headers and start line of another message; log and kind stay. */
  copyFrom(other: HttpMessage): void {
    this.method = other.method;
    this.url = other.url;
    this.proto = other.proto;
    this.status = other.status;
    this.reason = other.reason;
    this.n = other.n;
    this.names = other.names;
    this.raw = null;
    this.rawLines = 0;
    this.ending = other.ending === null ? null : other.ending.slice(0, other.n);
    for (let i = 0; i < other.n; i++) {
      this.keys[i] = other.keys[i] as string;
      this.lines[i] = other.lines[i] as string;
    }
  }
}
