// The hosts of a shard director and the pending changes of a task: nothing changes until the task reconfigures, so
// that no request sees a partial ring. A host is identified by its ident, or its backend's name.
//
// As in Varnish, a host keeps the number of points it was added with: a later reconfigure with another number of
// replicas affects new hosts only. New hosts take the places of removed ones; then the last ones fill the gaps.
//
// The ring of many hosts takes long to build: it is built in steps while the program is loaded, and otherwise with
// the first choice.

import type { Director } from '../../contract/context.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';
import { LowestFirst } from '../../lowest-first.ts';
import { MAX_POINTS, type RingHost, ringOf, type ShardRing, wholeRing } from './shard-ring.ts';

/** A host as given to add_backend(). */
interface NewHost {
  readonly director: Director;
  /** Null: the backend's name. */
  readonly ident: string | null;
  /** Seconds; undefined: the director's. */
  readonly rampup: number | undefined;
  /** Scales the number of points; 1 or more. */
  readonly weight: number;
}

export interface ShardHost extends RingHost {
  readonly director: Director;
  readonly weight: number;
  readonly rampup: number | undefined;
  /** Name in messages. */
  readonly shown: string;
}

export type ShardChange =
  | { readonly kind: 'add'; readonly host: NewHost }
  /** By ident alone if given. */
  | { readonly kind: 'remove'; readonly director: Director | null; readonly ident: string | null }
  | { readonly kind: 'clear' };

export class ShardHosts {
  hosts: readonly ShardHost[] = [];
  /** The last finished ring, and its hosts. */
  private last: { readonly ring: ShardRing; readonly hosts: readonly ShardHost[] } | null = null;
  /** The ring under construction. */
  private making: Generator<void, ShardRing> | null = null;

  /** The ring of the hosts; null if there are none. */
  get ring(): ShardRing | null {
    if (this.making !== null) this.finished(wholeRing(this.making));
    return this.last?.ring ?? null;
  }

  /** Continues building the ring; false when it is finished. */
  step(): boolean {
    const next = this.making?.next();
    if (next?.done === true) this.finished(next.value);
    return next?.done === false;
  }

  /** Applies the changes. Returns the reason why there is no new ring, or null. `notice` is called for skipped
   * hosts. */
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

/** For each host of `of` its index in `hosts`, or -1. */
function placesIn(hosts: readonly ShardHost[], of: readonly ShardHost[]): Int32Array {
  const places = new Map(hosts.map((host, i) => [host, i]));
  return Int32Array.from(of, (host) => places.get(host) ?? -1);
}

// Hosts and free places while changes are applied: new hosts take the places of removed ones, lowest first. Lookups
// by ident and director, and the next free place, do not depend on the number of hosts.

/** The hosts while changes are applied: some places may be free. */
class Places {
  private readonly hosts: (ShardHost | null)[];
  private readonly byIdent: Map<string, number>;
  /** Places of each director's hosts; built at the first removal by director. */
  private byDirector: Map<Director, Set<number>> | null = null;
  private gaps = new LowestFirst();

  constructor(hosts: readonly ShardHost[]) {
    this.hosts = [...hosts];
    this.byIdent = new Map(hosts.map((host, i) => [host.ident, i]));
  }

  add(host: NewHost, replicas: number, notice: (text: string) => void): void {
    const { director, rampup, weight } = host;
    const ident = host.ident ?? director.vclName;
    const known = this.hosts[this.byIdent.get(ident) ?? -1];
    if (known) {
      notice(`backend ${known.shown} already exists - skipping`);
      return;
    }
    const shown = host.ident === null ? ident : `${director.vclName}/${ident}`;
    const at = this.gaps.pop() ?? this.hosts.length;
    this.hosts[at] = { director, weight, ident, shown, rampup, points: Math.trunc(weight * replicas) };
    this.byIdent.set(ident, at);
    if (this.byDirector !== null) note(this.byDirector, director, at);
  }

  remove({ director, ident }: Extract<ShardChange, { kind: 'remove' }>): void {
    if (ident !== null) {
      const at = this.byIdent.get(ident);
      if (at !== undefined) this.free(at);
    } else if (director !== null) {
      if (this.byDirector === null) {
        const found = new Map<Director, Set<number>>();
        this.hosts.forEach((host, i) => {
          if (host !== null) note(found, host.director, i);
        });
        this.byDirector = found;
      }
      for (const at of [...(this.byDirector.get(director) ?? [])]) this.free(at);
    }
  }

  clear(): void {
    this.hosts.length = 0;
    this.gaps = new LowestFirst();
    this.byIdent.clear();
    this.byDirector = null;
  }

  /** The hosts without gaps: the last ones fill the free places. */
  closed(): ShardHost[] {
    const { hosts: places } = this;
    const hosts: ShardHost[] = [];
    for (let i = 0; i < places.length; i++) {
      while (places.length > i && places.at(-1) === null) places.pop();
      const host = places[i] ?? (i < places.length ? places.pop() : undefined);
      if (host) hosts.push(host);
    }
    return hosts;
  }

  private free(at: number): void {
    const host = this.hosts[at];
    if (!host) return;
    this.hosts[at] = null;
    this.byIdent.delete(host.ident);
    this.byDirector?.get(host.director)?.delete(at);
    this.gaps.push(at);
  }
}

function note(places: Map<Director, Set<number>>, director: Director, at: number): void {
  const known = places.get(director);
  if (known === undefined) places.set(director, new Set([at]));
  else known.add(at);
}
