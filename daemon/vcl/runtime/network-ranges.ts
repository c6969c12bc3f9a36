// The networks of an acl as ranges of addresses that do not overlap, each with the most specific network that it lies in: an
// address is found by halving, whatever the number of networks and however they nest. Made once; addresses of a family
// are words of 32 bits, one for IPv4 and four for IPv6.

export interface Network {
  /** 4 or 16. */
  readonly bytes: readonly number[];
  readonly bits: number;
}

export class NetworkRanges<N extends Network> {
  /** Words of an address. */
  readonly #words: number;
  /** The first address of each range, ascending; a range ends where the next begins. */
  readonly #starts: Uint32Array;
  /** The network of each range; null between networks. */
  readonly #owners: (N | null)[];

  /**
   * @param networks of one family; of equal ones the first counts
   * @param length bytes of an address
   */
  constructor(networks: readonly N[], length: 4 | 16) {
    this.#words = length / 4;
    const ranges = disjoint(networks, BigInt(length * 8));
    this.#owners = ranges.map(({ owner }) => owner);
    this.#starts = new Uint32Array(ranges.length * this.#words);
    for (const [i, { start }] of ranges.entries()) {
      for (let word = 0; word < this.#words; word++)
        this.#starts[i * this.#words + word] = Number(
          (start >> BigInt(32 * (this.#words - 1 - word))) & 0xffffffffn,
        );
    }
  }

  /** The most specific network that the address lies in. */
  find(bytes: readonly number[]): N | null {
    let low = 0;
    let high = this.#owners.length;
    // The number of ranges that begin at the address or before it.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isAfter(middle, bytes)) high = middle;
      else low = middle + 1;
    }
    return low === 0 ? null : (this.#owners[low - 1] as N | null);
  }

  /** Whether a range begins after the address. */
  #isAfter(range: number, bytes: readonly number[]): boolean {
    const words = this.#words;
    for (let word = 0; word < words; word++) {
      const start = this.#starts[range * words + word] as number;
      const at = 4 * word;
      const wanted =
        (((bytes[at] as number) << 24) |
          ((bytes[at + 1] as number) << 16) |
          ((bytes[at + 2] as number) << 8) |
          (bytes[at + 3] as number)) >>>
        0;
      if (start !== wanted) return start > wanted;
    }
    return false;
  }
}

interface Range<N> {
  readonly start: bigint;
  readonly owner: N | null;
}

function disjoint<N extends Network>(networks: readonly N[], width: bigint): Range<N>[] {
  const spans = networks
    .map((network) => {
      const size = 1n << (width - BigInt(network.bits));
      const address = network.bytes.reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
      const start = address - (address % size);
      return { network, start, end: start + size };
    })
    // Wider ones first where they begin together, so that those in them come later; the sort keeps the order of equal ones.
    .sort((a, b) => (a.start === b.start ? a.network.bits - b.network.bits : a.start < b.start ? -1 : 1));
  const ranges: Range<N>[] = [];
  /** One beyond the last address. */
  const last = 1n << width;
  const begin = (start: bigint, owner: N | null): void => {
    if (ranges.at(-1)?.start === start) ranges.pop();
    if (start < last) ranges.push({ start, owner });
  };
  const open: typeof spans = [];
  const close = (until: bigint): void => {
    for (let top = open.at(-1); top !== undefined && top.end <= until; top = open.at(-1)) {
      open.pop();
      begin(top.end, open.at(-1)?.network ?? null);
    }
  };
  for (const span of spans) {
    close(span.start);
    const around = open.at(-1);
    if (around?.start === span.start && around.end === span.end) continue;
    begin(span.start, span.network);
    open.push(span);
  }
  close(last);
  return ranges;
}
