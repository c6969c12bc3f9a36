// The block sizes of a slab: which sizes exist for a page, and which one serves a request.
//
// Small sizes are spaced by at most a sixteenth, so that rounding wastes about 3 % on average (a thirty-second with large
// pages: a large store can afford a partly used page for twice as many classes); above an eighth of the page only whole
// fractions of it exist, since any other size would leave the rest of the page unused.

/** Blocks start and end on a multiple of this many bytes, the unit of block references. */
export const GRANULE = 16;
/** Larger pages have finer classes. */
const LARGE_PAGE = 64 * 1024;

export class SizeClasses {
  readonly pageSize: number;
  /** Block sizes in bytes, ascending; the last is the page. */
  readonly sizes: number[];
  /** Smallest class that holds a number of granules, by that number, up to a page. */
  private readonly up: Uint8Array;

  constructor(pageSize: number) {
    this.pageSize = pageSize;
    this.sizes = [];
    const steps = pageSize > LARGE_PAGE ? 32 : 16;
    for (let size = GRANULE; size < pageSize / 8; size += stepAfter(size, steps)) this.sizes.push(size);
    for (let parts = 8; parts >= 1; parts--) {
      this.sizes.push(Math.floor(pageSize / parts / GRANULE) * GRANULE);
    }
    this.up = new Uint8Array(pageSize / GRANULE + 1);
    for (let granules = 0, cls = 0; granules < this.up.length; granules++) {
      while ((this.sizes[cls] as number) < granules * GRANULE) cls++;
      this.up[granules] = cls;
    }
  }

  /** The smallest class that holds `bytes`; -1 when they are more than a page. */
  ceil(bytes: number): number {
    return bytes > this.pageSize ? -1 : (this.up[(bytes + GRANULE - 1) >>> 4] as number);
  }

  /** Whether one block for `bytes` would leave more than an eighth of them unused. */
  wasteful(bytes: number): boolean {
    const cls = this.ceil(bytes);
    return cls >= 0 && ((this.sizes[cls] as number) - bytes) * 8 > bytes;
  }

  /** The largest class that `bytes` fill completely; -1 below the smallest. */
  floor(bytes: number): number {
    if (bytes >= this.pageSize) return this.sizes.length - 1;
    const cls = this.ceil(bytes);
    return this.sizes[cls] === bytes ? cls : cls - 1;
  }
}

function stepAfter(size: number, steps: number): number {
  return Math.max(GRANULE, 2 ** Math.floor(Math.log2(size)) / steps);
}
