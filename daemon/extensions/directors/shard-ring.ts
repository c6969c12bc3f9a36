// The ring of consistent hashing: every host stands at many points of a circle of 2^32 numbers, and a key belongs
// to the host at the next point. The points of a host depend on its ident alone, so that hosts which come or go
// move only their own share of the keys, and so that this ring is the field's.
//
// Never more than MAX_POINTS: building is synchronous, and a program may ask for billions.

import { stringKey } from './key.ts';

export interface RingHost {
  readonly ident: string;
  /** Points for each replica, 1 or more. */
  readonly weight: number;
}

export const MAX_POINTS = 2_000_000;

/** Points a host gets. */
export function hostPoints(host: RingHost, replicas: number): number {
  return Math.trunc(host.weight * replicas);
}

/** Points and owners share a number while they are sorted: 2^32 points times 2^21 owners fit into 2^53. */
const OWNERS = 2 ** 21;

export class ShardRing {
  /** Ascending. */
  private readonly points: Uint32Array;
  /** Position in the list of hosts, one for each point. */
  private readonly owners: Uint32Array;

  constructor(hosts: readonly RingHost[], replicas: number) {
    const total = hosts.reduce((n, h) => n + hostPoints(h, replicas), 0);
    const packed = new Float64Array(total);
    let filled = 0;
    hosts.forEach((host, owner) => {
      const count = hostPoints(host, replicas);
      for (let n = 1; n <= count; n++) packed[filled++] = stringKey(`${host.ident}${n}`) * OWNERS + owner;
    });
    packed.sort();
    this.points = Uint32Array.from(packed, (p) => Math.floor(p / OWNERS));
    this.owners = Uint32Array.from(packed, (p) => p % OWNERS);
  }

  get length(): number {
    return this.points.length;
  }

  /** Position of the point that a key belongs to; 0 behind the last point. */
  find(key: number): number {
    let low = 0;
    let high = this.points.length;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if ((this.points[mid] as number) < key) low = mid + 1;
      else high = mid;
    }
    return low === this.points.length ? 0 : low;
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
