// The ring of consistent hashing: every host stands at many points of a circle of 2^32 numbers, and a key belongs
// to the host at the next point. The points of a host depend on its ident alone, so that hosts which come or go
// move only their own share of the keys, and so that this ring is Varnish's.
//
// Never more than MAX_POINTS: building is synchronous, and a program may ask for billions.

import { stringKey } from './key.ts';

export interface RingHost {
  readonly ident: string;
  /** How many points of the ring it takes. */
  readonly points: number;
}

export const MAX_POINTS = 2_000_000;

/** Points and owners share a number while they are sorted: 2^32 points times 2^21 owners fit into 2^53. */
const OWNERS = 2 ** 21;

export class ShardRing {
  /** Ascending. */
  private readonly points: Uint32Array;
  /** Position in the list of hosts, one for each point. */
  private readonly owners: Uint32Array;

  constructor(hosts: readonly RingHost[]) {
    const total = hosts.reduce((n, h) => n + h.points, 0);
    const packed = new Float64Array(total);
    let filled = 0;
    hosts.forEach((host, owner) => {
      for (let n = 0; n < host.points; n++) {
        packed[filled++] = stringKey(`${host.ident}${n}`) * OWNERS + owner;
      }
    });
    packed.sort();
    this.points = Uint32Array.from(packed, (p) => Math.floor(p / OWNERS));
    this.owners = Uint32Array.from(packed, (p) => p % OWNERS);
  }

  get length(): number {
    return this.points.length;
  }

  /**
   * Position of the point that a key belongs to: the first that is not below it. As in Varnish, a key above all
   * points belongs to the last and not to the first, and of two points the second takes every key.
   */
  find(key: number): number {
    const last = this.points.length - 1;
    if (last === 1) return 1;
    let low = 0;
    let high = last;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if ((this.points[mid] as number) < key) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  /** Host at a position, going round. */
  owner(position: number): number {
    return this.owners[position % this.owners.length] as number;
  }
}

/** The hosts in the order of a key: each once, as the ring comes by them. */
export class RingWalk {
  private readonly ring: ShardRing;
  private readonly seen: Uint8Array;
  private position: number;
  private left: number;

  constructor(ring: ShardRing, hosts: number, key: number) {
    this.ring = ring;
    this.seen = new Uint8Array(hosts);
    this.position = ring.find(key);
    this.left = hosts;
  }

  /** The next host, or -1 after the last. */
  next(): number {
    if (this.left === 0) return -1;
    for (let steps = this.ring.length; steps > 0; steps--) {
      const owner = this.ring.owner(this.position++);
      if (this.seen[owner] === 1) continue;
      this.seen[owner] = 1;
      this.left--;
      return owner;
    }
    this.left = 0;
    return -1;
  }
}
