// The hosts of a shard director and the changes that a task has asked for: nothing changes until the task
// reconfigures, so that a request never meets half a ring. A host is known by its ident, or its backend's name.
//
// As in Varnish, a host keeps the number of points it was added with: a later reconfigure with another number of
// replicas concerns new hosts only. New hosts take the places of those removed, then the last fill the gaps.
//
// The ring of many hosts takes long: it is made in steps while the program is loaded, and otherwise with the first choice.

import type { Director } from '../../contract/context.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';
import { Places } from './shard-places.ts';
import { MAX_POINTS, type RingHost, ringOf, type ShardRing, wholeRing } from './shard-ring.ts';

/** A host as add_backend() names it. */
export interface NewHost {
  readonly director: Director;
  /** Null takes the backend's name. */
  readonly ident: string | null;
  /** Seconds; undefined takes the director's. */
  readonly rampup: number | undefined;
  /** Scales the number of points; 1 or more. */
  readonly weight: number;
}

export interface ShardHost extends RingHost {
  readonly director: Director;
  readonly weight: number;
  readonly rampup: number | undefined;
  /** How messages name it. */
  readonly shown: string;
}

export type ShardChange =
  | { readonly kind: 'add'; readonly host: NewHost }
  /** By ident alone where there is one. */
  | { readonly kind: 'remove'; readonly director: Director | null; readonly ident: string | null }
  | { readonly kind: 'clear' };

export class ShardHosts {
  hosts: readonly ShardHost[] = [];
  /** The last ring that was finished, and its hosts. */
  private last: { readonly ring: ShardRing; readonly hosts: readonly ShardHost[] } | null = null;
  /** The ring of the hosts while it is in the making. */
  private making: Generator<void, ShardRing> | null = null;

  /** The ring of the hosts; null without any. */
  get ring(): ShardRing | null {
    if (this.making !== null) this.finished(wholeRing(this.making));
    return this.last?.ring ?? null;
  }

  /** Goes on with the ring; false when it is finished. */
  step(): boolean {
    const next = this.making?.next();
    if (next?.done === true) this.finished(next.value);
    return next?.done === false;
  }

  /** Makes the changes. Gives why there is no new ring, or null. `notice` hears of what was left out. */
  apply(changes: readonly ShardChange[], replicas: number, notice: (text: string) => void): string | null {
    const places = new Places(this.hosts);
    for (const change of changes) {
      if (change.kind === 'clear') places.clear();
      else if (change.kind === 'add') places.add(change.host, replicas, notice);
      else places.remove(change);
    }
    const hosts = places.closed();
    const points = hosts.reduce((n, h) => n + h.points, 0);
    if (points > MAX_POINTS) return `.reconfigure() ${points} points are more than ${MAX_POINTS}`;
    this.hosts = hosts;
    healthEpoch.changed();
    if (hosts.length === 0) {
      this.last = null;
      this.making = null;
      return '.reconfigure() no backends';
    }
    const { last } = this;
    this.making = ringOf(hosts, last && { ring: last.ring, places: placesIn(hosts, last.hosts) });
    return null;
  }

  private finished(ring: ShardRing): void {
    this.making = null;
    this.last = { ring, hosts: this.hosts };
  }
}

/** For each of some hosts its place among others, or -1. */
function placesIn(hosts: readonly ShardHost[], of: readonly ShardHost[]): Int32Array {
  const places = new Map(hosts.map((host, i) => [host, i]));
  return Int32Array.from(of, (host) => places.get(host) ?? -1);
}
