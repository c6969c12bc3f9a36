// Writes MaxMind DB files (format 2.0: https://maxmind.github.io/MaxMind-DB/): a binary tree of address bits, values, and a
// description.

import { addressBytes } from '../../daemon/vcl/runtime/ip.ts';

export type Value =
  | string
  | boolean
  | Uint8Array
  | { readonly double: number }
  | { readonly float: number }
  | { readonly uint16: number }
  | { readonly uint32: number }
  | { readonly int32: number }
  | { readonly uint64: bigint }
  /** A place in the section of values. */
  | { readonly pointer: number }
  | readonly Value[]
  | ReadonlyMap<string, Value>;

const NUMBERS: Readonly<Record<string, readonly [type: number, bytes: number]>> = {
  double: [3, 8],
  uint16: [5, 2],
  uint32: [6, 4],
  int32: [8, 4],
  uint64: [9, 8],
  float: [15, 4],
};

function head(type: number, size: number): Buffer {
  const [low, more] =
    size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >> 8, (size - 285) & 255]];
  return Buffer.from(type < 8 ? [(type << 5) | low, ...more] : [low, type - 7, ...more]);
}

function number(kind: string, value: number | bigint): Buffer {
  const [type, bytes] = NUMBERS[kind] as readonly [number, number];
  const data = Buffer.alloc(bytes);
  if (kind === 'double') data.writeDoubleBE(Number(value));
  else if (kind === 'float') data.writeFloatBE(Number(value));
  else if (kind === 'int32') data.writeInt32BE(Number(value));
  else if (kind === 'uint64') data.writeBigUInt64BE(BigInt(value));
  else data.writeUIntBE(Number(value), 0, bytes);
  return Buffer.concat([head(type, bytes), data]);
}

export function encoded(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([head(2, text.length), text]);
  }
  if (typeof value === 'boolean') return head(14, value ? 1 : 0);
  if (value instanceof Uint8Array) return Buffer.concat([head(4, value.length), value]);
  if (value instanceof Map) {
    const parts = [...value].flatMap(([key, each]) => [encoded(key), encoded(each)]);
    return Buffer.concat([head(7, value.size), ...parts]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(encoded)]);
  const [kind, what] = Object.entries(value)[0] as [string, number | bigint];
  if (kind !== 'pointer') return number(kind, what);
  const pointer = Buffer.alloc(5);
  pointer[0] = 0b001_11_000;
  pointer.writeUInt32BE(Number(what), 1);
  return pointer;
}

/** A node: what is under 0 and under 1. A number is a place in the section of values. */
interface Node {
  under: [Node | number | null, Node | number | null];
}

function bitsOf(prefix: string, version: 4 | 6): number[] {
  const [address = '', length = ''] = prefix.split('/');
  const bytes = addressBytes(address) ?? [];
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((at) => (byte >> at) & 1));
  const cut = bits.slice(0, Number(length));
  return version === 6 && bytes.length === 4 ? [...Array<number>(96).fill(0), ...cut] : cut;
}

export interface Shape {
  readonly version?: 4 | 6;
  readonly recordSize?: 24 | 28 | 32;
  /** Values before those of the addresses: pointers may refer to them. */
  readonly shared?: Buffer;
  /** Fields of the description instead of the right ones. */
  readonly description?: readonly (readonly [string, Value])[];
}

/** A file with a value for each prefix, such as 192.0.2.0/24; none may be inside another. */
export function locationDatabase(values: Readonly<Record<string, Value>>, shape: Shape = {}): Buffer {
  const { version = 6, recordSize = 24, shared = Buffer.alloc(0), description = [] } = shape;
  const root: Node = { under: [null, null] };
  const data: Buffer[] = [shared];
  let at = shared.length;
  for (const [prefix, value] of Object.entries(values)) {
    const bits = bitsOf(prefix, version);
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      const next = node.under[bit as 0 | 1];
      if (typeof next === 'number') throw new Error(`${prefix} is inside another prefix`);
      const below: Node = next ?? { under: [null, null] };
      node.under[bit as 0 | 1] = below;
      node = below;
    }
    node.under[bits.at(-1) as 0 | 1] = at;
    const bytes = encoded(value);
    data.push(bytes);
    at += bytes.length;
  }
  const nodes: Node[] = [root];
  for (const { under } of nodes)
    nodes.push(...under.filter((each) => typeof each === 'object' && each !== null));
  const numbers = new Map(nodes.map((node, index) => [node, index]));
  const record = (each: Node | number | null): number =>
    each === null
      ? nodes.length
      : typeof each === 'number'
        ? nodes.length + 16 + each
        : (numbers.get(each) as number);
  const tree = nodes.map(({ under: [left, right] }) => pair(record(left), record(right), recordSize));
  const fields = new Map<string, Value>([
    ['binary_format_major_version', { uint16: 2 }],
    ['binary_format_minor_version', { uint16: 0 }],
    ['build_epoch', { uint64: 1_700_000_000n }],
    ['database_type', 'Test'],
    ['description', new Map<string, Value>([['en', 'test']])],
    ['ip_version', { uint16: version }],
    ['languages', ['en']],
    ['node_count', { uint32: nodes.length }],
    ['record_size', { uint16: recordSize }],
    ...description,
  ]);
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, encoded(fields)]);
}

function pair(left: number, right: number, recordSize: number): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 28) {
    bytes.writeUIntBE(left & 0xff_ffff, 0, 3);
    bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
    bytes.writeUIntBE(right & 0xff_ffff, 4, 3);
    return bytes;
  }
  bytes.writeUIntBE(left, 0, recordSize / 8);
  bytes.writeUIntBE(right, recordSize / 8, recordSize / 8);
  return bytes;
}
