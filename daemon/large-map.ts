// A map for hundreds of thousands of short-lived keys. A single Map of that size takes a hundred milliseconds in the
// turn in which it grows or compacts, and skipping deleted entries at its front takes time as well. This one consists
// of many small Maps, selected by a hash of the key; none is ever iterated.

/** Number of Maps; a power of two (chosen): with 250,000 keys each has 1,000, which takes a twentieth of a
 * millisecond. */
const PARTS = 256;

export class LargeMap<V> {
  private readonly parts: (Map<string, V> | undefined)[] = new Array<Map<string, V> | undefined>(PARTS);
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    return this.parts[partOf(key)]?.get(key);
  }

  set(key: string, value: V): void {
    const at = partOf(key);
    let part = this.parts[at];
    if (part === undefined) {
      part = new Map();
      this.parts[at] = part;
    }
    const before = part.size;
    part.set(key, value);
    this.count += part.size - before;
  }

  delete(key: string): void {
    if (this.parts[partOf(key)]?.delete(key) === true) this.count--;
  }
}

/** FNV-1a, folded. */
function partOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) & (PARTS - 1);
}
