// The consistent hashing ring: every host has many points on a circle of 2^32 numbers, and a key belongs to the host
// at the next point. The points of a host depend on its ident alone, so that adding or removing a host moves only its
// own share of the keys, and so that the ring equals Varnish's.
//
// Never more than MAX_POINTS: a program may ask for billions.

import { KEYS, stringKey } from './key.ts';

export interface RingHost {
  readonly ident: string;
  /** Number of its points. */
  readonly points: number;
}

export const MAX_POINTS = 2_000_000;

/** Point and owner are packed into one number for sorting: 2^32 points times 2^21 owners fit into 2^53. */
const OWNERS = 2 ** 21;
/** Points that are hashed, moved or sorted in one step (chosen: well below a millisecond). */
const A_PIECE = 512;

/** Points in ascending order, and the index of each one's owner in the list of hosts. */
export interface RingPoints {
  readonly points: Uint32Array;
  readonly owners: Uint32Array;
}

export class ShardRing {
  readonly points: Uint32Array;
  readonly owners: Uint32Array;

  constructor({ points, owners }: RingPoints) {
    this.points = points;
    this.owners = owners;
  }

  get length(): number {
    return this.points.length;
  }

  /** Position of a key's point: the first that is not below it. As in Varnish, a key above all points belongs to
   * the last and not to the first, and of two points the second takes every key. */
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

  /** Host at a position, wrapping around. */
  owner(position: number): number {
    return this.owners[position % this.owners.length] as number;
  }
}

/**
 * Builds the ring of these hosts, one piece per step. Points of hosts on the previous ring are reused, so that a
 * change of few hosts among many hashes few points.
 * @param before the previous ring, and for each of its owners the index in `hosts`, or -1 if removed
 */
export function* ringOf(
  hosts: readonly RingHost[],
  before: { readonly ring: RingPoints; readonly places: Int32Array } | null = null,
): Generator<void, ShardRing> {
  const isKept = new Uint8Array(hosts.length);
  before?.places.forEach((place) => {
    if (place >= 0) isKept[place] = 1;
  });
  const added = yield* sortedPoints(hosts, isKept);
  if (before === null) return new ShardRing(added);
  return new ShardRing(yield* merged(before.ring, before.places, added));
}

/** Builds the ring without interruption. */
export function wholeRing(making: Generator<void, ShardRing>): ShardRing {
  for (;;) {
    const { done, value } = making.next();
    if (done === true) return value;
  }
}

/** The sorted points of all hosts but some. Points are digests and evenly distributed: each of as many equal parts
 * of the circle as there are steps holds about as many points as a step handles. */
function* sortedPoints(hosts: readonly RingHost[], isLeftOut: Uint8Array): Generator<void, RingPoints> {
  let total = 0;
  hosts.forEach((host, i) => {
    if (isLeftOut[i] === 0) total += host.points;
  });
  const parts = Math.max(1, Math.ceil(total / A_PIECE));
  const partOf = (point: number): number => Math.floor((point / KEYS) * parts);
  const hashed = new Uint32Array(total);
  const owners = new Uint32Array(total);
  /** Start of each part, after counting. */
  const starts = new Uint32Array(parts + 1);
  let filled = 0;
  for (let owner = 0; owner < hosts.length; owner++) {
    if (isLeftOut[owner] === 1) continue;
    const { ident, points } = hosts[owner] as RingHost;
    for (let n = 0; n < points; n++) {
      const point = stringKey(`${ident}${n}`);
      hashed[filled] = point;
      owners[filled++] = owner;
      const next = partOf(point) + 1;
      starts[next] = (starts[next] as number) + 1;
      if (filled % A_PIECE === 0) yield;
    }
  }
  for (let part = 1; part <= parts; part++)
    starts[part] = (starts[part] as number) + (starts[part - 1] as number);
  const packed = new Float64Array(total);
  const ends = starts.slice();
  for (let i = 0; i < total; i++) {
    const point = hashed[i] as number;
    const part = partOf(point);
    const at = ends[part] as number;
    ends[part] = at + 1;
    packed[at] = point * OWNERS + (owners[i] as number);
    if (i % A_PIECE === 0) yield;
  }
  for (let part = 0; part < parts; part++) {
    const end = starts[part + 1] as number;
    const start = starts[part] as number;
    packed.subarray(start, end).sort();
    for (let i = start; i < end; i++) {
      const both = packed[i] as number;
      hashed[i] = Math.floor(both / OWNERS);
      owners[i] = both % OWNERS;
    }
    yield;
  }
  return { points: hashed, owners };
}

/** Merges the points of a ring whose owners still exist, with their new indices, and those of new hosts. */
function* merged(ring: RingPoints, places: Int32Array, added: RingPoints): Generator<void, RingPoints> {
  const most = ring.points.length + added.points.length;
  const points = new Uint32Array(most);
  const owners = new Uint32Array(most);
  let length = 0;
  let next = 0;
  const put = (point: number, owner: number): void => {
    let at = length++;
    // Equal points are ordered by owner, whose indices may have changed.
    for (; at > 0 && points[at - 1] === point && (owners[at - 1] as number) > owner; at--)
      owners[at] = owners[at - 1] as number;
    points[length - 1] = point;
    owners[at] = owner;
  };
  const putAdded = (last: number): void => {
    for (; next < added.points.length && (added.points[next] as number) <= last; next++)
      put(added.points[next] as number, added.owners[next] as number);
  };
  for (let i = 0; i < ring.points.length; i++) {
    if (i % (A_PIECE * 8) === 0) yield;
    const owner = places[ring.owners[i] as number] as number;
    if (owner < 0) continue;
    const point = ring.points[i] as number;
    putAdded(point);
    put(point, owner);
  }
  putAdded(KEYS);
  return { points: points.slice(0, length), owners: owners.slice(0, length) };
}

/** The hosts in ring order from a key, each once. */
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
