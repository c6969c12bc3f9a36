// The hosts of a shard director and the changes that a task has asked for: nothing changes until the task
// reconfigures, so that a request never meets half a ring. Identity is the ident (by default the backend's name).

import type { Director } from '../../vcl/context.ts';
import { hostPoints, MAX_POINTS, type RingHost, ShardRing } from './shard-ring.ts';

export interface ShardHost extends RingHost {
  readonly director: Director;
  /** Seconds; undefined takes the director's. */
  readonly rampup: number | undefined;
}

export type ShardChange =
  | { readonly kind: 'add'; readonly host: ShardHost }
  | { readonly kind: 'remove'; readonly director: Director | null; readonly ident: string | null }
  | { readonly kind: 'clear' };

export class ShardHosts {
  hosts: readonly ShardHost[] = [];
  ring: ShardRing | null = null;

  /** Makes the changes. Gives why there is no ring now, or null. `notice` hears of what was left out. */
  apply(changes: readonly ShardChange[], replicas: number, notice: (text: string) => void): string | null {
    let hosts = [...this.hosts];
    for (const change of changes) {
      if (change.kind === 'clear') hosts = [];
      else if (change.kind === 'remove') hosts = hosts.filter((h) => !matches(h, change));
      else if (hosts.some((h) => h.ident === change.host.ident)) {
        notice(`backend ${change.host.ident} already exists - skipping`);
      } else hosts.push(change.host);
    }
    const points = hosts.reduce((n, h) => n + hostPoints(h, replicas), 0);
    if (points > MAX_POINTS) return `.reconfigure() ${points} points are more than ${MAX_POINTS}`;
    this.hosts = hosts;
    if (hosts.length === 0) {
      this.ring = null;
      return '.reconfigure() no backends';
    }
    this.ring = new ShardRing(hosts, replicas);
    return null;
  }
}

function matches(host: ShardHost, what: Extract<ShardChange, { kind: 'remove' }>): boolean {
  if (what.ident !== null && host.ident !== what.ident) return false;
  return what.director === null || host.director === what.director;
}
