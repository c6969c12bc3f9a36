// directors.fallback(): the first healthy member in the order in which they were added. A sticky one stays with
// the member it has come to for as long as that is healthy.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { MemberDirector } from './member-director.ts';
import { memberMethods } from './member-methods.ts';

class Fallback extends MemberDirector {
  readonly sticky: boolean;
  private current = 0;

  constructor(name: string, now: number, sticky: boolean) {
    super('fallback', name, 'Current', now);
    this.sticky = sticky;
  }

  override facts(): string[] {
    return [`"sticky": ${this.sticky}`];
  }

  protected pick(ctx: VclContext): Director | null {
    const at = this.healthyFrom(this.sticky ? this.current : 0, ctx);
    if (at >= 0) this.current = at;
    else if (!this.sticky) this.current = 0;
    return this.members[at]?.director ?? null;
  }

  protected override removed(at: number): void {
    if (at < this.current) this.current--;
    else if (this.current >= this.members.length) this.current = 0;
  }

  protected override memberCell(at: number): string {
    return at === this.current ? '*' : '';
  }

  protected override memberJson(at: number): string[] {
    return [`"current": ${at === this.current}`];
  }
}

export const fallback: ExtensionObject = {
  signature: 'fallback(BOOL sticky=0)',
  help: 'A director that takes the first healthy member; with sticky it stays with it until that one is sick.',
  create: (ctx, name, sticky: boolean) => new Fallback(name, ctx.now, sticky),
  methods: memberMethods,
};
