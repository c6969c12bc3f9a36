// The directors with a plain list of members: round_robin(), fallback(), least_conn(), random() and hash().

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import type { Weighed } from './healthy-members.ts';
import { KEYS, stringKey } from './key.ts';
import { MemberDirector } from './member-director.ts';
import { SharedPosition } from './shared-position.ts';

// Methods shared by these directors.

const removeBackend = row(
  'VOID remove_backend(BACKEND)',
  (_ctx, self: MemberDirector, be: Director | null) => self.remove(be),
  'Removes a member.',
);

const lazyBackend = row(
  'BACKEND backend()',
  (_ctx, self: MemberDirector) => self,
  'The director, for req.backend_hint or bereq.backend.',
);

// biome-ignore format: a row is a line
const memberMethods = byName(
  row('VOID add_backend(BACKEND)', (_ctx, self: MemberDirector, be: Director | null) => self.add(be), 'Adds a member.'),
  removeBackend,
  lazyBackend,
);

class RoundRobin extends MemberDirector {
  readonly next: SharedPosition;

  constructor(ctx: VclContext, name: string) {
    super('round-robin', name, 'Weight', ctx.now);
    this.next = new SharedPosition(ctx, name);
  }

  protected pick(ctx: VclContext): Director | null {
    return this.memberInTurn(this.next, (from) => this.healthyFrom(from, ctx));
  }
}

export const roundRobin: ExtensionObject = {
  signature: 'round_robin()',
  help: 'A director that takes one healthy member after another.',
  create: (ctx, name) => new RoundRobin(ctx, name),
  destroy: (self: RoundRobin) => self.next.release(),
  methods: memberMethods,
};

// directors.fallback(): the first healthy member in order of addition. A sticky one stays with its current member, in
// all threads, for as long as that is healthy.

class Fallback extends MemberDirector {
  readonly sticky: boolean;
  readonly current: SharedPosition;

  constructor(ctx: VclContext, name: string, sticky: boolean) {
    super('fallback', name, 'Current', ctx.now);
    this.sticky = sticky;
    this.current = new SharedPosition(ctx, name);
  }

  override facts(): string[] {
    return [`"sticky": ${this.sticky}`];
  }

  protected pick(ctx: VclContext): Director | null {
    const { current, sticky } = this;
    const was = current.now;
    const at = this.healthyFrom(sticky ? was : 0, ctx);
    const to = at >= 0 || sticky ? at : 0;
    // If another thread has moved it, that thread knew as much as this one.
    if (to >= 0 && to !== was) current.move(was, to);
    return this.members[at]?.director ?? null;
  }

  protected override removed(at: number): void {
    const was = this.current.now;
    if (at < was) this.current.move(was, was - 1);
    else if (was >= this.members.length) this.current.move(was, 0);
  }

  protected override memberCells(): (at: number) => string {
    return (at) => (at === this.current.now ? '*' : '');
  }

  protected override memberJson(at: number): string[] {
    return [`"current": ${at === this.current.now}`];
  }
}

export const fallback: ExtensionObject = {
  signature: 'fallback(BOOL sticky=0)',
  help: 'A director that takes the first healthy member; with sticky it stays with it until that one is sick.',
  create: (ctx, name, sticky: boolean) => new Fallback(ctx, name, sticky),
  destroy: (self: Fallback) => self.current.release(),
  methods: memberMethods,
};

// directors.least_conn(), not in Varnish: the healthy member with the fewest connections in use per weight; among
// equals, in turn. A nested director counts the connections of all its members. The count is local to this worker;
// idle connections do not count.

class LeastConn extends MemberDirector {
  readonly next: SharedPosition;

  constructor(ctx: VclContext, name: string) {
    super('least-conn', name, 'Weight', ctx.now);
    this.next = new SharedPosition(ctx, name);
  }

  override add(director: Director | null, weight = 1): void {
    if (!(weight > 0)) throw new ExtensionError(`${this.vclName}: weight ${weight} is not above zero`);
    super.add(director, weight);
  }

  protected pick(ctx: VclContext): Director | null {
    return this.memberInTurn(this.next, (from) => this.leastFrom(from, ctx));
  }

  /** The healthy member with the fewest connections, of equal ones the first from `start` on; -1 if there is none. */
  private leastFrom(start: number, ctx: VclContext): number {
    const { members } = this;
    const healthy = this.healthyMembers(ctx.now, ctx);
    const { places } = healthy;
    const first = healthy.before(start % members.length);
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < places.length; i++) {
      const at = places[(first + i) % places.length] as number;
      const { director, weight } = members[at] as Weighed;
      const load = director.inUse / weight;
      if (load >= least) continue;
      least = load;
      best = at;
      // No member can have fewer.
      if (load === 0) break;
    }
    return best;
  }

  protected override memberCells(): (at: number) => string {
    return (at) => (this.members[at]?.weight ?? 0).toFixed(2);
  }

  protected override memberJson(at: number): string[] {
    return [`"weight": ${(this.members[at]?.weight ?? 0).toFixed(6)}`];
  }
}

export const leastConn: ExtensionObject = {
  signature: 'least_conn()',
  help: 'A director that takes the healthy member with the fewest connections for its weight.',
  create: (ctx, name) => new LeastConn(ctx, name),
  destroy: (self: LeastConn) => self.next.release(),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID add_backend(BACKEND, REAL weight=1.0)', (_ctx, self: LeastConn, be: Director | null, weight: number) => self.add(be, weight),
      'Adds a member.'),
    removeBackend,
    lazyBackend,
  ),
};

// directors.random() and directors.hash(): members with weights, chosen by a number from 0 to 1, a range that the
// healthy members share in proportion to their weights, in list order.
//
// A hash director chooses when the program calls it, a random one when the fetch begins. Varnish accepts any weight,
// so this does too; a member without weight is chosen only if rounding leaves no other.

abstract class Weighted extends MemberDirector {
  /** @param share in [0, 1) */
  protected pickShare(share: number, ctx: VclContext): Director | null {
    const at = this.healthyMembers(ctx.now, ctx).atShare(share);
    return this.members[at]?.director ?? null;
  }
}

class RandomDirector extends Weighted {
  constructor(name: string, now: number) {
    super('random', name, 'Weight', now);
  }

  override facts(now: number): string[] {
    return [`"total_weight": ${this.healthyMembers(now, null).total.toFixed(6)}`];
  }

  protected pick(ctx: VclContext): Director | null {
    return this.pickShare(Math.random(), ctx);
  }

  protected override memberCells(now: number): (at: number) => string {
    const { total } = this.healthyMembers(now, null);
    return (at) => {
      const m = this.members[at];
      const share = m === undefined || total === 0 || !m.director.healthy(now) ? 0 : m.weight / total;
      return `${(100 * share).toFixed(2).padStart(6)}%`;
    };
  }

  protected override memberJson(at: number): string[] {
    return [`"weight": ${(this.members[at]?.weight ?? 0).toFixed(6)}`];
  }
}

class HashDirector extends Weighted {
  constructor(name: string, now: number) {
    super('hash', name, null, now);
  }

  choose(ctx: VclContext, key: string | null): Director | null {
    return this.pickShare(stringKey(key) / KEYS, ctx);
  }

  /** Without a string there is no key. */
  protected pick(): Director | null {
    return null;
  }

  /** As a plain value (directors.lookup) it does not ask its members. */
  protected override measured(): boolean {
    return true;
  }

  override get isSteady(): boolean {
    return true;
  }
}

export const random: ExtensionObject = {
  signature: 'random()',
  help: 'A director that takes a member at random, by weight.',
  create: (ctx, name) => new RandomDirector(name, ctx.now),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID add_backend(BACKEND, REAL)', (_ctx, self: RandomDirector, be: Director | null, weight: number) => self.add(be, weight),
      'Adds a member.'),
    removeBackend,
    lazyBackend,
  ),
};

function addBackend(_ctx: VclContext, self: HashDirector, be: Director | null, weight: number): void {
  self.add(be, weight);
}

export const hash: ExtensionObject = {
  signature: 'hash()',
  help: 'A director whose member a text decides, by weight.',
  create: (ctx, name) => new HashDirector(name, ctx.now),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID add_backend(BACKEND, REAL weight=1.0)', addBackend, 'Adds a member.'),
    removeBackend,
    row('BACKEND backend(STRING)', (ctx, self: HashDirector, key: string | null) => self.choose(ctx, key), 'The member that the text decides.'),
  ),
};
