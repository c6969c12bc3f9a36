// directors.fallback(): the first healthy member in the order in which they were added. A sticky one stays with
// the member it has come to for as long as that is healthy, with all threads.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { MemberDirector } from './member-director.ts';
import { memberMethods } from './member-methods.ts';
import { MemberPlace } from './member-place.ts';

class Fallback extends MemberDirector {
  readonly sticky: boolean;
  readonly current: MemberPlace;

  constructor(ctx: VclContext, name: string, sticky: boolean) {
    super('fallback', name, 'Current', ctx.now);
    this.sticky = sticky;
    this.current = new MemberPlace(ctx, name);
  }

  override facts(): string[] {
    return [`"sticky": ${this.sticky}`];
  }

  protected pick(ctx: VclContext): Director | null {
    const { current, sticky } = this;
    const was = current.now;
    const at = this.healthyFrom(sticky ? was : 0, ctx);
    const comesTo = at >= 0 || sticky ? at : 0;
    // If another thread has moved it, it knows as much as this one.
    if (comesTo >= 0 && comesTo !== was) current.move(was, comesTo);
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
