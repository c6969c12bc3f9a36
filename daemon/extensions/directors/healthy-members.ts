// The healthy members of a director at one health epoch, with cumulative weights: a choice takes O(log n) steps.
// Callers that reuse it check isOf() first.
//
// Members whose health is not steady (saintmode, directors of extensions) have to be asked for each choice.

import type { Director, VclContext } from '../../contract/context.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';

export interface Weighed {
  readonly director: Director;
  readonly weight: number;
}

export class HealthyMembers {
  /** Places in the list of members, ascending. */
  readonly places: readonly number[];
  /** Cumulative weight up to and including each place; never less than at the place before, even if a weight is
   * negative. */
  readonly #sums: Float64Array;
  /** Total weight. */
  readonly total: number;
  readonly #epoch: number;

  constructor(members: readonly Weighed[], now: number, ctx: VclContext | null) {
    // Read before any member is asked, so that a change meanwhile invalidates this.
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

  /** Whether this epoch is still current. */
  isOf(epoch: number): boolean {
    return this.#epoch === epoch;
  }

  get count(): number {
    return this.places.length;
  }

  /** Number of healthy members before this place. */
  before(place: number): number {
    const { places } = this;
    return lowest(places.length, (i) => (places[i] as number) >= place);
  }

  /** The first healthy place from `place` on, wrapping around; -1 if there is none. */
  from(place: number): number {
    const { places } = this;
    return places[this.before(place)] ?? places[0] ?? -1;
  }

  /** The place at this share of the total weight; -1 if there is none. */
  atShare(share: number): number {
    const wanted = share * this.total;
    return this.places[lowest(this.count, (i) => (this.#sums[i] as number) > wanted)] ?? -1;
  }
}

/** Binary search: the lowest number below `count` for which `holds` is true, which is then true for all after it;
 * `count` if none. */
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

/** The healthy members of a list, recomputed when health may have changed. */
export class Membership {
  readonly #members: () => readonly Weighed[];
  #known: HealthyMembers | null = null;
  /** Whether all members are steady, cached per epoch: the members of a nested director may change. */
  #isSteady = false;
  #steadyAt: number | null = null;
  #isAsked = false;

  constructor(members: () => readonly Weighed[]) {
    this.#members = members;
  }

  /** A director nested in itself is not steady: its health depends on where the question began. */
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

  /** Whether any member is healthy; asks no more members than necessary. */
  any(now: number, ctx: VclContext | null): boolean {
    if (this.isSteady) return this.healthy(now, ctx).count > 0;
    return this.#members().some(({ director }) => director.healthy(now, ctx));
  }
}
