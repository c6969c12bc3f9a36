// The writing side of HPACK (RFC 7541), for responses. A field that stands in the peer's table is one or two octets; any
// other is copied as it was encoded once (response-field.ts). A field enters the table when an encoder of the thread
// writes it for the second time, so that values which never return push nothing out.

import { putInteger, putName, putPlainString, WITHOUT_INDEXING } from './hpack-literals.ts';
import { STATIC_COUNT } from './hpack-static.ts';
import { HpackTable } from './hpack-table.ts';
import { ResponseField } from './response-field.ts';

/** The table that is used at the most, and the size that each connection begins with (RFC 9113 section 6.5.2). */
const MOST_TABLE = 4096;
/** Octets that begin() and status() write at the most. */
export const BLOCK_BEGIN_MOST = 16;
/** Octets that value() writes at the most beside prefix and value. */
export const VALUE_LENGTH_MOST = 6;

const INDEXED = 0x80;
const INDEXED_MASK = 0x7f;
const SIZE_UPDATE = 0x20;
const SIZE_UPDATE_MASK = 0x1f;

/** A field for each status that has been sent; three digits bound them. */
const statusFields: (ResponseField | undefined)[] = new Array<ResponseField | undefined>(1000).fill(
  undefined,
);

export class HpackEncoder {
  private readonly table: HpackTable<ResponseField>;
  /** Entries of the table, with the number of insertions when they came. */
  private readonly entered = new Map<ResponseField, number>();
  private insertions = 0;
  /** Size that the peer allows, and the smallest one since the last block. */
  private allowed = MOST_TABLE;
  private smallest = MOST_TABLE;

  constructor() {
    this.table = new HpackTable<ResponseField>(MOST_TABLE, (field) => this.entered.delete(field));
  }

  /** The peer has set its SETTINGS_HEADER_TABLE_SIZE; the next block announces it (RFC 7541 section 4.2). */
  limit(tableSize: number): void {
    this.allowed = Math.min(tableSize, MOST_TABLE);
    this.smallest = Math.min(this.smallest, this.allowed);
  }

  /** Begins a block. This method and the others write at `at` and return the offset past what they wrote. */
  begin(out: Uint8Array, at: number): number {
    const { allowed, smallest, table } = this;
    let p = at;
    if (smallest < Math.min(allowed, table.maxSize)) p = this.resize(out, p, smallest);
    if (allowed !== table.maxSize) p = this.resize(out, p, allowed);
    this.smallest = allowed;
    return p;
  }

  private resize(out: Uint8Array, at: number, size: number): number {
    this.table.resize(size);
    return putInteger(out, at, SIZE_UPDATE, SIZE_UPDATE_MASK, size);
  }

  /** @param status three digits */
  status(out: Uint8Array, at: number, status: number): number {
    let field = statusFields[status];
    if (field === undefined) {
      field = new ResponseField(':status', String(status));
      statusFields[status] = field;
    }
    return this.field(out, at, field);
  }

  field(out: Uint8Array, at: number, field: ResponseField): number {
    if (field.staticIndex !== 0) {
      out[at] = INDEXED | field.staticIndex;
      return at + 1;
    }
    let literal = field.plain;
    if (field.isKept) {
      const number = this.entered.get(field);
      if (number !== undefined) {
        const index = STATIC_COUNT + 1 + this.insertions - number;
        return putInteger(out, at, INDEXED, INDEXED_MASK, index);
      }
      // A field as large as the table would empty it.
      if (field.isRepeated && field.size <= this.table.maxSize) {
        literal = field.inserting;
        this.table.insert(field);
        this.entered.set(field, ++this.insertions);
      }
      field.isRepeated = true;
    }
    out.set(literal, at);
    return at + literal.length;
  }

  /**
   * Writes a value of this response alone, such as Age.
   * @param prefix the name, from nameOf()
   * @param value Latin-1, without blanks around it
   */
  value(out: Uint8Array, at: number, prefix: Uint8Array, value: string): number {
    out.set(prefix, at);
    return putPlainString(out, at + prefix.length, value);
  }
}

/** The name of a field as value() needs it. @param name lower case */
export function nameOf(name: string): Uint8Array {
  const out = new Uint8Array(name.length + VALUE_LENGTH_MOST + 1);
  return out.slice(0, putName(out, 0, WITHOUT_INDEXING, name));
}
