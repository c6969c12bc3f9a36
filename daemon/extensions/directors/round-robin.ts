// directors.round_robin(): each fetch, of whichever thread, goes to the next healthy member.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { MemberDirector } from './member-director.ts';
import { memberMethods } from './member-methods.ts';
import { MemberPlace } from './member-place.ts';

class RoundRobin extends MemberDirector {
  readonly next: MemberPlace;

  constructor(ctx: VclContext, name: string) {
    super('round-robin', name, 'Weight', ctx.now);
    this.next = new MemberPlace(ctx, name);
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
