// directors.random() and directors.hash(): members with weights, one of which is picked by a number from 0 to 1.
// The weights of healthy members, in the order of the list, share out that range.
//
// A hash director picks when the program asks, a random one when the fetch begins. Varnish takes any weight, so
// this does too; a member without weight is picked only where rounding leaves nobody else.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';
import { KEYS, stringKey } from './key.ts';
import { MemberDirector } from './member-director.ts';
import { lazyBackend, removeBackend } from './member-methods.ts';

abstract class Weighted extends MemberDirector {
  /** @param share from 0 up to, not including, 1 */
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

  /** Without a string there is nothing to choose by. */
  protected pick(): Director | null {
    return null;
  }

  /** As a value of its own (directors.lookup) it is asked nothing of its members. */
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
