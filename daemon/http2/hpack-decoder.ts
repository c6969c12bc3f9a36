// The reading side of HPACK (RFC 7541): a whole header block into fields, in order. Whatever is wrong with a block is an
// error of its connection, since its table is out of step from there on; what is wrong with a field is the field's own
// (header-field.ts). The cost is linear in the block's octets: a reference to an entry costs nothing, and a string is
// never longer than 8/5 of its code.
//
// Special case: a block whose fields together are larger than the limit. It is read to its end, because the table must
// stay in step; from there on nothing is made but what goes into the table.

import { latin1Text } from '../http1/latin1.ts';
import { copyLent, type LentBytes } from '../http1/lent-bytes.ts';
import { ENTRY_OVERHEAD, HeaderField, isPseudo } from './header-field.ts';
import { STATIC_COUNT, STATIC_ENTRIES } from './hpack-static.ts';
import { HpackTable } from './hpack-table.ts';
import { huffmanDecode, huffmanMost } from './huffman.ts';

const STATIC_FIELDS: readonly HeaderField[] = STATIC_ENTRIES.map(
  ([name, value]) => new HeaderField(name, value),
);

/** Octets after the first that an integer may have: 28 bits. Longer ones stand for nothing that fits, zeros included. */
const INTEGER_OCTETS = 4;
/** Updates of the table's size at the beginning of a block (RFC 7541 section 4.2): the smallest and the last. */
const MOST_UPDATES = 2;
/** From here on a native copy is cheaper than a loop (measured for head-writer.ts). */
const NATIVE_FROM = 24;
const COLON = 58;
const SP = 32;

/** A field's text while it is read, "name: value". One for all connections of the thread: it is used within a call. */
let scratch: Buffer = Buffer.allocUnsafeSlow(4096);

export class HpackDecoder {
  private readonly table: HpackTable<HeaderField>;
  /** Size that our settings allow. */
  private allowed: number;
  /** Size that the next block must go down to before anything else, or -1. */
  private demanded = -1;
  /** The last block was larger than its limit when uncompressed: take() has not got all fields. */
  oversized = false;
  /** Offset of the next octet. */
  private at = 0;
  /** Sizes of the block's fields so far, and the most that they may be. */
  private listed = 0;
  private maxList = 0;

  /** @param tableSize our SETTINGS_HEADER_TABLE_SIZE */
  constructor(tableSize: number) {
    this.allowed = tableSize;
    this.table = new HpackTable<HeaderField>(tableSize);
  }

  /** Octets of the dynamic table, as RFC 7541 section 4.1 counts them. */
  get bytesHeld(): number {
    return this.table.size;
  }

  /** The peer has acknowledged another size: one that is smaller than the table's it has to announce (section 4.2). */
  limit(tableSize: number): void {
    this.allowed = tableSize;
    if (tableSize >= this.table.maxSize) return;
    this.demanded = this.demanded < 0 ? tableSize : Math.min(this.demanded, tableSize);
  }

  /**
   * Decodes the block buf[start, end).
   * @param maxList the largest sum of sizes of its fields; beyond it take() is no longer called, see `oversized`
   * @param take is called with each field, in order
   * @returns null, or for the log what is wrong: a COMPRESSION_ERROR of the connection
   */
  decode(
    buf: LentBytes,
    start: number,
    end: number,
    maxList: number,
    take: (field: HeaderField) => void,
  ): string | null {
    this.oversized = false;
    this.at = start;
    this.listed = 0;
    this.maxList = maxList;
    const wrong = this.readUpdates(buf, end);
    if (wrong !== null) return wrong;
    while (this.at < end) {
      const first = buf[this.at] as number;
      let field: HeaderField | string | null;
      if (first >= 0x80) field = this.readIndexed(buf, end);
      else if (first >= 0x40) field = this.readLiteral(buf, end, 0x3f, true);
      else if (first < 0x20) field = this.readLiteral(buf, end, 0x0f, false);
      else return 'the size of the table changes within a block';
      if (typeof field === 'string') return field;
      if (field !== null && !this.oversized) take(field);
    }
    return null;
  }

  private readUpdates(buf: LentBytes, end: number): string | null {
    for (let updates = 0; this.at < end && ((buf[this.at] as number) & 0xe0) === 0x20; updates++) {
      if (updates === MOST_UPDATES) return 'the size of the table changes more than twice';
      const size = this.readInteger(buf, end, 0x1f);
      if (size < 0) return BAD_INTEGER;
      if (size > this.allowed) return 'the table is made larger than it may be';
      if (this.demanded >= 0 && size <= this.demanded) this.demanded = -1;
      this.table.resize(size);
    }
    return this.demanded < 0 ? null : 'the table is not made smaller, as it had to be';
  }

  private readIndexed(buf: LentBytes, end: number): HeaderField | string {
    let index = (buf[this.at] as number) & 0x7f;
    if (index === 0x7f) {
      index = this.readInteger(buf, end, 0x7f);
      if (index < 0) return BAD_INTEGER;
    } else {
      this.at++;
    }
    const field = this.fieldAt(index);
    if (field === undefined) return BAD_INDEX;
    this.count(field.size);
    return field;
  }

  private fieldAt(index: number): HeaderField | undefined {
    return index <= STATIC_COUNT ? STATIC_FIELDS[index - 1] : this.table.at(index - STATIC_COUNT - 1);
  }

  private count(size: number): void {
    this.listed += size;
    if (this.listed > this.maxList) this.oversized = true;
  }

  /** A literal field (section 6.2): null when it is neither kept nor taken, else the field, or what is wrong. */
  private readLiteral(
    buf: LentBytes,
    end: number,
    mask: number,
    keeps: boolean,
  ): HeaderField | string | null {
    const index = this.readInteger(buf, end, mask);
    if (index < 0) return BAD_INTEGER;
    let name: string | null = null;
    let nameLength: number;
    if (index > 0) {
      const named = this.fieldAt(index);
      if (named === undefined) return BAD_INDEX;
      // The entry may leave the table below: its name is held here.
      name = named.name;
      nameLength = name.length;
    } else {
      nameLength = this.readString(buf, end, 0);
      if (nameLength < 0) return BAD_STRING;
    }
    const valueLength = this.readString(buf, end, nameLength + 2);
    if (valueLength < 0) return BAD_STRING;
    const size = nameLength + valueLength + ENTRY_OVERHEAD;
    this.count(size);
    if (keeps && size > this.table.maxSize) {
      this.table.clear();
      keeps = false;
    }
    if (this.oversized && !keeps) return null;
    const field = fieldOf(name, nameLength, valueLength);
    if (keeps) this.table.insert(field);
    return field;
  }

  /**
   * Reads a string (section 5.2) into the scratch at `to`, as far as it can be of use: one that is longer than what a
   * block may hold and than the table is neither taken nor kept.
   * @returns its length, or -1 when it is malformed
   */
  private readString(buf: LentBytes, end: number, to: number): number {
    if (this.at >= end) return -1;
    const isCoded = (buf[this.at] as number) >= 0x80;
    const length = this.readInteger(buf, end, 0x7f);
    const start = this.at;
    if (length < 0 || length > end - start) return -1;
    this.at = start + length;
    const most = isCoded ? huffmanMost(length) : length;
    if (to + most > scratch.length) makeRoom(to, most, Math.max(this.maxList, this.table.maxSize));
    if (isCoded) return huffmanDecode(buf, start, start + length, scratch, to);
    if (length >= NATIVE_FROM) copyLent(buf, start, start + length, scratch, to);
    else for (let i = 0; i < length; i++) scratch[to + i] = buf[start + i] as number;
    return length;
  }

  /** An integer with the prefix `mask` (section 5.1), or -1 when it is cut off or longer than any that is of use. */
  private readInteger(buf: LentBytes, end: number, mask: number): number {
    let value = (buf[this.at++] as number) & mask;
    if (value < mask) return value;
    for (let i = 0; i < INTEGER_OCTETS && this.at < end; i++) {
      const octet = buf[this.at++] as number;
      value += (octet & 0x7f) * 2 ** (7 * i);
      if (octet < 0x80) return value;
    }
    return -1;
  }
}

const BAD_INTEGER = 'an integer is cut off or too long';
const BAD_INDEX = 'an index is of no entry';
const BAD_STRING = 'a string is cut off or not Huffman coded as it should be';

/** Makes the scratch larger, for `most` octets from `to` on, or for what is of use of them. */
function makeRoom(to: number, most: number, useful: number): void {
  const room = Math.min(to, useful) + Math.min(most, useful) + 2;
  if (room <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(room)));
  scratch.copy(larger);
  scratch = larger;
}

/** The field whose name, unless it is given, and value stand in the scratch. */
function fieldOf(name: string | null, nameLength: number, valueLength: number): HeaderField {
  const from = nameLength + 2;
  if (name !== null) {
    if (isPseudo(name)) return new HeaderField(name, latin1Text(scratch, from, from + valueLength), '');
    for (let i = 0; i < nameLength; i++) scratch[i] = name.charCodeAt(i);
  }
  scratch[nameLength] = COLON;
  scratch[nameLength + 1] = SP;
  // One string is made, of which the others are parts.
  const line = latin1Text(scratch, 0, from + valueLength);
  return new HeaderField(name ?? line.substring(0, nameLength), line.substring(from), line);
}
