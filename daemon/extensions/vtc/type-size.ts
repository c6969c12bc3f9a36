// Sizes of C structures on 64-bit Linux.

const SIZES: Readonly<Record<string, number>> = { p: 8, i: 4, d: 8, f: 4, l: 8, s: 2, z: 8, o: 8, j: 8 };

const upTo = (size: number, alignment: number): number => Math.ceil(size / alignment) * alignment;

/** Bytes of a structure with members of these types, padding included; -1 if one is unknown. */
export function typeSize(types: string): number {
  let size = 0;
  let widest = 1;
  for (const type of types) {
    const bytes = SIZES[type];
    if (bytes === undefined) return -1;
    size = upTo(size, bytes) + bytes;
    widest = Math.max(widest, bytes);
  }
  return upTo(size, widest);
}
