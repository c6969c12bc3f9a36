// The hosts of a shard director while the changes of a task are made: new hosts take the places of those removed, the first
// ones first. Hosts are found by ident and by director, and free places in their order, however many there are.

import type { Director } from '../../contract/context.ts';
import { LowestFirst } from '../../lowest-first.ts';
import type { NewHost, ShardChange, ShardHost } from './shard-hosts.ts';

/** The hosts while changes are made: some places may be free. */
export class Places {
  private readonly hosts: (ShardHost | null)[];
  private readonly byIdent: Map<string, number>;
  /** Places of each director's hosts; made for the first removal by director. */
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

  /** The hosts, those at the end in the places that are left free. */
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
