// The hosts of a shard director and the changes that a task has asked for: nothing changes until the task
// reconfigures, so that a request never meets half a ring. A host is known by its ident, or its backend's name.
//
// As in Varnish, a host keeps the number of points it was added with: a later reconfigure with another number of
// replicas concerns new hosts only. New hosts take the places of those removed, then the last fill the gaps.

import type { Director } from '../../contract/context.ts';
import { MAX_POINTS, type RingHost, ShardRing } from './shard-ring.ts';

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
  ring: ShardRing | null = null;

  /** Makes the changes. Gives why there is no new ring, or null. `notice` hears of what was left out. */
  apply(changes: readonly ShardChange[], replicas: number, notice: (text: string) => void): string | null {
    const places: (ShardHost | null)[] = [...this.hosts];
    for (const change of changes) {
      if (change.kind === 'clear') places.length = 0;
      else if (change.kind === 'add') add(places, change.host, replicas, notice);
      else remove(places, change);
    }
    const hosts = closeGaps(places);
    const points = hosts.reduce((n, h) => n + h.points, 0);
    if (points > MAX_POINTS) return `.reconfigure() ${points} points are more than ${MAX_POINTS}`;
    this.hosts = hosts;
    this.ring = hosts.length === 0 ? null : new ShardRing(hosts);
    return this.ring === null ? '.reconfigure() no backends' : null;
  }
}

function add(
  places: (ShardHost | null)[],
  host: NewHost,
  replicas: number,
  notice: (text: string) => void,
): void {
  const { director, rampup, weight } = host;
  const ident = host.ident ?? director.vclName;
  const known = places.find((h) => h?.ident === ident);
  if (known) {
    notice(`backend ${known.shown} already exists - skipping`);
    return;
  }
  const shown = host.ident === null ? ident : `${director.vclName}/${ident}`;
  const gap = places.indexOf(null);
  const at = gap < 0 ? places.length : gap;
  places[at] = { director, ident, shown, rampup, points: Math.trunc(weight * replicas) };
}

function remove(places: (ShardHost | null)[], what: Extract<ShardChange, { kind: 'remove' }>): void {
  for (const [i, h] of places.entries()) if (h !== null && matches(h, what)) places[i] = null;
}

function closeGaps(places: (ShardHost | null)[]): ShardHost[] {
  const hosts: ShardHost[] = [];
  for (let i = 0; i < places.length; i++) {
    while (places.length > i && places.at(-1) === null) places.pop();
    const host = places[i] ?? (i < places.length ? places.pop() : undefined);
    if (host) hosts.push(host);
  }
  return hosts;
}

function matches(host: ShardHost, what: Extract<ShardChange, { kind: 'remove' }>): boolean {
  return what.ident === null ? host.director === what.director : host.ident === what.ident;
}
