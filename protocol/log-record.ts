// Varnish's binary log record: two 32-bit little-endian words, then the payload padded to 4 bytes. The first
// word is the tag in its top byte and the payload's length in its low 16 bits, the second the transaction id
// with the client marker in bit 30 and the backend marker in bit 31. Text payloads count their final NUL.
//
// Readers walk records by offset and make no objects until text is needed.

const CLIENT_MARK = 0x4000_0000;
const BACKEND_MARK = 0x8000_0000;
export const VXID_MASK = 0x3fff_ffff;
export const RECORD_HEAD = 8;
/** The magic bytes of a binary log file. */
export const LOG_FILE_MAGIC = new Uint8Array([0x56, 0x53, 0x4c, 0]);

/** 'c' client side, 'b' backend side, '-' neither. */
export type RecordSide = 'c' | 'b' | '-';

/** Length of the payload in bytes, a text's final NUL included. */
export function payloadLength(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
}

export function recordTag(bytes: Uint8Array, at: number): number {
  return bytes[at + 3] as number;
}

/** The id word: vxid and markers. */
function recordId(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at + 4] as number) |
      ((bytes[at + 5] as number) << 8) |
      ((bytes[at + 6] as number) << 16) |
      ((bytes[at + 7] as number) << 24)) >>>
    0
  );
}

export function recordVxid(bytes: Uint8Array, at: number): number {
  return recordId(bytes, at) & VXID_MASK;
}

export function recordSide(bytes: Uint8Array, at: number): RecordSide {
  const mark = bytes[at + 7] as number;
  return (mark & 0x40) !== 0 ? 'c' : (mark & 0x80) !== 0 ? 'b' : '-';
}

/** Bytes the record takes, padding included. */
export function recordSize(bytes: Uint8Array, at: number): number {
  return RECORD_HEAD + ((payloadLength(bytes, at) + 3) & ~3);
}

/** Payload as text, one character per byte, without the final NUL. */
export function recordText(bytes: Uint8Array, at: number): string {
  const from = at + RECORD_HEAD;
  let to = from + payloadLength(bytes, at);
  if (to > from && bytes[to - 1] === 0) to--;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', from, to);
}

/**
 * Iterates over contiguous records, starting with the first that begins at `from`; a truncated record ends the
 * iteration.
 *
 * const cursor = new RecordCursor(records);
 * while (cursor.next()) if (cursor.tag === Tag.Hit) …
 *
 * One cursor may be used for many buffers (`over`). It allocates nothing, and its fields are valid until the next
 * call of next().
 */
export class RecordCursor {
  bytes: Uint8Array;
  /** Offsets of the record and of the next one. */
  at = 0;
  end: number;
  tag = 0;

  constructor(bytes: Uint8Array, from = 0) {
    this.bytes = bytes;
    this.end = from;
  }

  /** Restarts with other records. */
  over(bytes: Uint8Array, from = 0): this {
    this.bytes = bytes;
    this.end = from;
    return this;
  }

  /** Advances to the next record; false at the end. */
  next(): boolean {
    const { bytes, end } = this;
    if (end + RECORD_HEAD > bytes.length) return false;
    const next = end + recordSize(bytes, end);
    if (next > bytes.length) return false;
    this.at = end;
    this.end = next;
    this.tag = recordTag(bytes, end);
    return true;
  }

  get vxid(): number {
    return recordVxid(this.bytes, this.at);
  }

  get side(): RecordSide {
    return recordSide(this.bytes, this.at);
  }

  /** Offset of the payload. */
  get from(): number {
    return this.at + RECORD_HEAD;
  }

  /** End offset of the payload, without a text's final NUL. */
  get to(): number {
    const to = this.at + RECORD_HEAD + payloadLength(this.bytes, this.at);
    return to > this.at + RECORD_HEAD && this.bytes[to - 1] === 0 ? to - 1 : to;
  }

  /** Payload as text, one character per byte. */
  get text(): string {
    return recordText(this.bytes, this.at);
  }
}

/** Number of contiguous records. */
export function countRecords(records: Uint8Array): number {
  const cursor = new RecordCursor(records);
  let n = 0;
  while (cursor.next()) n++;
  return n;
}

/** Encodes one record; `payload` is text in latin1 (a NUL is added) or raw bytes. */
export function encodeRecord(
  tag: number,
  vxid: number,
  side: RecordSide,
  payload: string | Uint8Array,
): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(`${payload}\0`, 'latin1') : payload;
  const out = Buffer.alloc(RECORD_HEAD + ((bytes.length + 3) & ~3));
  out.writeUInt32LE(((tag << 24) | bytes.length) >>> 0, 0);
  out.writeUInt32LE((vxid | (side === 'c' ? CLIENT_MARK : side === 'b' ? BACKEND_MARK : 0)) >>> 0, 4);
  out.set(bytes, RECORD_HEAD);
  return out;
}
