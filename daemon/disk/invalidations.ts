// The invalidations that objects on disk are held against: the newest ones, in memory, by what they name.
//
// Each has a number, and an object carries the number of the newest one when its fetch began. One rule holds while the daemon
// runs and after a start alike: an object is served only if nothing newer concerns it. The window is bounded: when an
// invalidation leaves it, the floor rises to its number, and an object that began before the floor is a miss, since nobody
// knows any more.

export type InvalidationKind = 'key' | 'tag' | 'soft-key' | 'soft-tag' | 'ban' | 'all';

export interface Invalidation {
  readonly sequence: number;
  readonly kind: InvalidationKind;
  /** The key, the surrogate key or the ban's expression; of `all` nothing. */
  readonly text: string;
  /** When it was made: seconds since 1970. */
  readonly at: number;
  /** Lifetimes that a soft one leaves, in seconds; negative ones are as they were. */
  readonly ttl: number;
  readonly grace: number;
  readonly keep: number;
  /** Those are upper bounds. */
  readonly shortens?: boolean;
}

/** Invalidations since an object was fetched that may match it, oldest first; null if it is invalidated. */
export type Concerns = {
  readonly soft: readonly Invalidation[];
  readonly bans: readonly Invalidation[];
} | null;

/** Soft purges of one name that are kept; with one more they count as a purge. */
const MOST_SOFT = 16;
/** Numbers without an invalidation that the list may have in any case. */
const LEFT_BEHIND = 1000;
/** Bans that an object may be newer than; with more it is a miss. */
const MOST_BANS = 1000;

export class Invalidations {
  /** Objects that began before this number are misses. */
  floor: number;
  /** The newest number given out. */
  newest: number;
  private readonly most: number;
  /** Those of the same name follow each other's place in `named`. */
  private readonly window = new Map<number, Invalidation>();
  /** Their numbers, lowest first, and some that have left: to find the first in the map itself would mean to step over every
   * entry that was deleted before it. */
  private order: number[] = [];
  /** Numbers at the beginning of the list that are forgotten. */
  private orderForgotten = 0;
  private readonly named = new Map<string, Invalidation[]>();
  private bans: Invalidation[] = [];
  /** Bans at the beginning of the list that are forgotten. */
  private forgotten = 0;

  constructor(most: number, floor = 0) {
    this.most = most;
    this.floor = floor;
    this.newest = floor;
  }

  add(one: Invalidation): void {
    this.newest = Math.max(this.newest, one.sequence);
    if (one.sequence <= this.floor) return;
    if (one.kind === 'all') {
      this.forgetAll(one.sequence);
      return;
    }
    this.window.set(one.sequence, one);
    this.order.push(one.sequence);
    if (one.kind === 'ban') {
      this.bans.push(one);
    } else {
      const name = nameOf(one.kind, one.text);
      const same = this.named.get(name) ?? [];
      const isHard = one.kind === 'key' || one.kind === 'tag' || same.length >= MOST_SOFT;
      // A purge hides everything older of its name.
      if (isHard) for (const older of same) this.window.delete(older.sequence);
      this.named.set(name, isHard ? [hard(one)] : [...same, one]);
      if (isHard) this.window.set(one.sequence, hard(one));
    }
    if (this.window.size > this.most) this.forgetFirst();
    // Those that were replaced have left as well.
    else if (this.order.length > 2 * this.window.size + LEFT_BEHIND) {
      this.order = [...this.window.keys()];
      this.orderForgotten = 0;
    }
  }

  /** Whatever was fetched until now before the newest one is a miss. */
  forgetOlder(): void {
    this.forgetAll(this.newest);
  }

  /** All there are, oldest first. */
  all(): IterableIterator<Invalidation> {
    return this.window.values();
  }

  /** Those that may match an object whose fetch began at `since`. */
  concerning(since: number, key: string, tags: readonly string[]): Concerns {
    if (since < this.floor || since > this.newest) return null;
    const soft: Invalidation[] = [];
    for (const name of [nameOf('key', key), ...tags.map((tag) => nameOf('tag', tag))]) {
      for (const one of this.named.get(name) ?? []) {
        if (one.sequence <= since) continue;
        if (one.kind === 'key' || one.kind === 'tag') return null;
        soft.push(one);
      }
    }
    let first = this.bans.length;
    while (first > this.forgotten && (this.bans[first - 1] as Invalidation).sequence > since) {
      first--;
      if (this.bans.length - first > MOST_BANS) return null;
    }
    return { soft: soft.sort((a, b) => a.sequence - b.sequence), bans: this.bans.slice(first) };
  }

  /** Takes the first number of the window off the list. */
  private first(): Invalidation {
    let one: Invalidation | undefined;
    while (one === undefined) one = this.window.get(this.order[this.orderForgotten++] as number);
    if (this.orderForgotten * 2 > this.order.length) {
      this.order.splice(0, this.orderForgotten);
      this.orderForgotten = 0;
    }
    return one;
  }

  private forgetAll(sequence: number): void {
    this.floor = sequence;
    this.window.clear();
    this.order = [];
    this.orderForgotten = 0;
    this.named.clear();
    this.bans = [];
    this.forgotten = 0;
  }

  private forgetFirst(): void {
    const one = this.first();
    const { sequence } = one;
    this.window.delete(sequence);
    this.floor = Math.max(this.floor, sequence);
    if (one.kind === 'ban') {
      // The list is shortened when half of it is forgotten: a step each would cost the square.
      this.forgotten++;
      if (this.forgotten * 2 > this.bans.length) {
        this.bans.splice(0, this.forgotten);
        this.forgotten = 0;
      }
      return;
    }
    const name = nameOf(one.kind, one.text);
    const left = (this.named.get(name) ?? []).filter((same) => same.sequence !== sequence);
    if (left.length === 0) this.named.delete(name);
    else this.named.set(name, left);
  }
}

function hard(one: Invalidation): Invalidation {
  return { ...one, kind: one.kind === 'soft-key' || one.kind === 'key' ? 'key' : 'tag' };
}

function nameOf(kind: InvalidationKind, text: string): string {
  return kind === 'key' || kind === 'soft-key' ? `k${text}` : `t${text}`;
}
