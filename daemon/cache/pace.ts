// How many objects to work on between two looks at the clock: as many as take a small part of a step. Objects may
// take a hundred times as long as others, and the first ones do, before the runtime has compiled what works on them.

/** Milliseconds between two looks: more than twice this is too long, less than this is too short. */
const PART = 0.2;
const FIRST = 32;

export class Pace {
  private readonly most: number;
  private size: number;

  constructor(most: number) {
    this.most = most;
    this.size = Math.min(FIRST, most);
  }

  /** Objects to take now. */
  get count(): number {
    return this.size;
  }

  /** Learns how many milliseconds so many of them took. */
  took(count: number, millis: number): void {
    if (millis > 2 * PART) this.size = Math.max(1, this.size >>> 1);
    else if (millis < PART && count >= this.size) this.size = Math.min(this.most, this.size * 2);
  }
}
