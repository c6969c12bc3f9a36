// directors.least_conn(): beyond Varnish. The healthy member with the fewest connections in use for its weight;
// among equals, in turn. A member that is a director counts the connections of all that are below it. The count
// is this worker's own: connections that are kept idle are not in use.

import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import type { Weighed } from './healthy-members.ts';
import { MemberDirector } from './member-director.ts';
import { lazyBackend, removeBackend } from './member-methods.ts';
import { MemberPlace } from './member-place.ts';

class LeastConn extends MemberDirector {
  readonly next: MemberPlace;

  constructor(ctx: VclContext, name: string) {
    super('least-conn', name, 'Weight', ctx.now);
    this.next = new MemberPlace(ctx, name);
  }

  override add(director: Director | null, weight = 1): void {
    if (!(weight > 0)) throw new ExtensionError(`${this.vclName}: weight ${weight} is not above zero`);
    super.add(director, weight);
  }

  protected pick(ctx: VclContext): Director | null {
    return this.memberInTurn(this.next, (from) => this.leastFrom(from, ctx));
  }

  /** The healthy member with the fewest connections, of equal ones the first from `start` on; -1 when there is none. */
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
      // None has less.
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
