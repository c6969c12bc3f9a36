// directors.round_robin(): each fetch goes to the next healthy member.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { MemberDirector } from './member-director.ts';
import { memberMethods } from './member-methods.ts';

class RoundRobin extends MemberDirector {
  private next = 0;

  protected pick(ctx: VclContext): Director | null {
    const at = this.healthyFrom(this.next, ctx);
    if (at < 0) return null;
    this.next = (at + 1) % this.members.length;
    return this.members[at]?.director ?? null;
  }
}

export const roundRobin: ExtensionObject = {
  signature: 'round_robin()',
  help: 'A director that takes one healthy member after another.',
  create: (ctx, name) => new RoundRobin('round-robin', name, 'Weight', ctx.now),
  methods: memberMethods,
};
