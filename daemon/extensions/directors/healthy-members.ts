// The healthy members of a director as of one epoch of health, with their weights added up: a choice takes a few steps,
// however many members there are. Whoever keeps it for later choices asks isOf() first.
//
// Special case: members whose health is not steady (saintmode, directors of extensions) have to be asked for each choice.

import type { Director, VclContext } from '../../contract/context.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';

export interface Weighed {
  readonly director: Director;
  readonly weight: number;
}

export class HealthyMembers {
  /** Places in the list of members, ascending. */
  readonly places: readonly number[];
  /** Weight of the members up to each place, that one included; never less than at a place before, where a weight below
   * zero would make it so. */
  readonly #sums: Float64Array;
  /** Weight of all of them. */
  readonly total: number;
  readonly #epoch: number;

  constructor(members: readonly Weighed[], now: number, ctx: VclContext | null) {
    // Before any member is asked, so that what changes meanwhile is seen the next time.
    this.#epoch = healthEpoch.now;
    const places: number[] = [];
    for (let at = 0; at < members.length; at++) {
      if ((members[at] as Weighed).director.healthy(now, ctx)) places.push(at);
    }
    this.places = places;
    this.#sums = new Float64Array(places.length);
    let sum = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < places.length; i++) {
      sum += (members[places[i] as number] as Weighed).weight;
      most = Math.max(most, sum);
      this.#sums[i] = most;
    }
    this.total = sum;
  }

  /** Whether nothing has changed since. */
  isOf(epoch: number): boolean {
    return this.#epoch === epoch;
  }

  get count(): number {
    return this.places.length;
  }

  /** How many of them stand before this place. */
  before(place: number): number {
    const { places } = this;
    return lowest(places.length, (i) => (places[i] as number) >= place);
  }

  /** The place of the first one from a place on, going round; -1 without any. */
  from(place: number): number {
    const { places } = this;
    return places[this.before(place)] ?? places[0] ?? -1;
  }

  /** The place of the one that a share of the whole weight falls to; -1 without any. */
  atShare(share: number): number {
    const wanted = share * this.total;
    return this.places[lowest(this.count, (i) => (this.#sums[i] as number) > wanted)] ?? -1;
  }
}

/** The lowest number below `count` of which something holds that holds of all after it; `count` when it holds of none. */
function lowest(count: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The healthy ones of a list of members, looked at again when anything may have changed. */
export class Membership {
  readonly #members: () => readonly Weighed[];
  #known: HealthyMembers | null = null;
  /** Whether all are steady, as of an epoch: who belongs to a director below may change. */
  #isSteady = false;
  #steadyAt: number | null = null;
  #isAsked = false;

  constructor(members: () => readonly Weighed[]) {
    this.#members = members;
  }

  /** A director that is below itself is not steady: its health depends on where the question began. */
  get isSteady(): boolean {
    if (this.#isAsked) return false;
    const epoch = healthEpoch.now;
    if (this.#steadyAt === epoch) return this.#isSteady;
    this.#isAsked = true;
    this.#isSteady = this.#members().every(({ director }) => director.isSteady === true);
    this.#isAsked = false;
    this.#steadyAt = epoch;
    return this.#isSteady;
  }

  healthy(now: number, ctx: VclContext | null): HealthyMembers {
    const known = this.#known;
    if (known?.isOf(healthEpoch.now) === true && this.isSteady) return known;
    const found = new HealthyMembers(this.#members(), now, ctx);
    this.#known = this.isSteady ? found : null;
    return found;
  }

  /** Whether any is healthy, without asking more of them than it takes. */
  any(now: number, ctx: VclContext | null): boolean {
    if (this.isSteady) return this.healthy(now, ctx).count > 0;
    return this.#members().some(({ director }) => director.healthy(now, ctx));
  }
}
