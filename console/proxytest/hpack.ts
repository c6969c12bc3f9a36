// HPACK (RFC 7541) as scripts need it: each representation at will, right or wrong, and a table that can be looked into.

import { huffmanCoded, huffmanDecoded, STATIC_FIELDS } from './hpack-tables.ts';
import { ScriptError } from './script.ts';

export type Field = readonly [name: string, value: string];
export type Indexing = 'inc' | 'not' | 'never';

/** Octets that an entry counts beside its texts (RFC 7541 section 4.1). */
const OVERHEAD = 32;
const FIRST_SIZE = 4096;
const KINDS: Readonly<Record<Indexing, readonly [kind: number, bits: number]>> = {
  inc: [0x40, 6],
  not: [0x00, 4],
  never: [0x10, 4],
};

export class HpackError extends Error {}

/** The dynamic table of one direction. */
export class FieldTable {
  /** The newest first. */
  #entries: Field[] = [];
  maxSize = FIRST_SIZE;

  get size(): number {
    return this.#entries.reduce((sum, [name, value]) => sum + name.length + value.length + OVERHEAD, 0);
  }

  get length(): number {
    return this.#entries.length;
  }

  resize(size: number): void {
    this.maxSize = size;
    while (this.size > size) this.#entries.pop();
  }

  /** By the index of a block, which begins with 1 and has the static fields first. */
  at(index: number): Field | null {
    if (index < 1) return null;
    return STATIC_FIELDS[index - 1] ?? this.dynamic(index - STATIC_FIELDS.length);
  }

  /** Of the dynamic entries; 1 is the newest. */
  dynamic(index: number): Field | null {
    return this.#entries[index - 1] ?? null;
  }

  /** One that is larger than the table empties it. */
  insert(field: Field): void {
    this.#entries.unshift(field);
    this.resize(this.maxSize);
  }

  /** A field by its index alone. */
  indexed(index: number): Buffer {
    return integer(index, 0x80, 7);
  }

  /**
   * A literal field.
   * @param name a name, or the index of one
   */
  literal(
    indexing: Indexing,
    name: string | number,
    value: string,
    nameIsCoded = false,
    valueIsCoded = false,
  ): Buffer {
    const [kind, bits] = KINDS[indexing];
    const known = typeof name === 'number' ? this.at(name) : null;
    if (indexing === 'inc') {
      if (typeof name === 'number' && known === null) throw new ScriptError(`no field has the index ${name}`);
      this.insert([typeof name === 'number' ? (known as Field)[0] : name, value]);
    }
    const begin =
      typeof name === 'number'
        ? integer(name, kind, bits)
        : Buffer.concat([integer(0, kind, bits), text(name, nameIsCoded)]);
    return Buffer.concat([begin, text(value, valueIsCoded)]);
  }

  /** Throws HpackError. */
  decode(block: Buffer): Field[] {
    const fields: Field[] = [];
    let at = 0;
    const readInteger = (bits: number): number => {
      const most = (1 << bits) - 1;
      let value = (block[at++] ?? 0) & most;
      if (value < most) return value;
      for (let shift = 0; ; shift += 7) {
        const octet = block[at++];
        if (octet === undefined || shift > 28) throw new HpackError('an integer does not end');
        value += (octet & 0x7f) * 2 ** shift;
        if (octet < 0x80) return value;
      }
    };
    const readText = (): string => {
      const isCoded = ((block[at] ?? 0) & 0x80) !== 0;
      const length = readInteger(7);
      if (at + length > block.length) throw new HpackError('a string does not end');
      const from = at;
      at += length;
      if (!isCoded) return block.toString('latin1', from, at);
      const decoded = huffmanDecoded(block.subarray(from, at));
      if (decoded === null) throw new HpackError('a string is no Huffman code');
      return decoded;
    };
    const fieldAt = (index: number): Field => {
      const field = this.at(index);
      if (field === null) throw new HpackError(`no field has the index ${index}`);
      return field;
    };
    while (at < block.length) {
      const first = block[at] as number;
      if ((first & 0x80) !== 0) fields.push(fieldAt(readInteger(7)));
      else if ((first & 0xe0) === 0x20) this.resize(readInteger(5));
      else {
        const isIndexed = (first & 0x40) !== 0;
        const index = readInteger(isIndexed ? 6 : 4);
        const name = index === 0 ? readText() : fieldAt(index)[0];
        const field: Field = [name, readText()];
        if (isIndexed) this.insert(field);
        fields.push(field);
      }
    }
    return fields;
  }
}

function integer(value: number, kind: number, bits: number): Buffer {
  const most = (1 << bits) - 1;
  if (value < most) return Buffer.from([kind | value]);
  const out = [kind | most];
  for (let left = value - most; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...out, left]);
    out.push(0x80 | (left % 128));
  }
}

function text(value: string, isCoded: boolean): Buffer {
  if (!isCoded) return Buffer.concat([integer(value.length, 0, 7), Buffer.from(value, 'latin1')]);
  const coded = huffmanCoded(value);
  return Buffer.concat([integer(coded.length, 0x80, 7), coded]);
}
