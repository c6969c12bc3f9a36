// Purges by surrogate key: dooms a tag at once, however many objects it has, and takes the objects out in steps.
//
// From the moment of the purge a lookup treats a doomed object as what it is about to become, so nobody notices
// how far the work has come. Never runs longer than a step at a time. Awkward: a fetch that was under way may bring
// what is older than the purge, and its keys are known only when its head comes; so purges are remembered by number,
// and an object whose fetch began before a purge of one of its keys is not let in. When more purges have come since
// than are remembered, every object with keys counts as purged.

import { BATCH, type Oc, SURROGATE } from '../objcore.ts';
import { Pace } from '../pace.ts';
import type { Rows } from '../rows.ts';
import { Doom, type Tag, type TagIndex } from './tag-index.ts';

/** Milliseconds of a step, and of what a purge does itself before it leaves the rest to steps. */
const STEP = 2;
const AT_ONCE = 1;
/** Members looked at one by one to count what a purge hits, of all its keys together; beyond them, all members of a tag
 * count. */
const COUNTED = 16_384;
/** Purged keys remembered for fetches under way. */
const REMEMBERED = 4096;
/** Keys an object may have; one with more is not kept, since it could not be purged. */
const MOST_KEYS = 4096;

interface Job {
  tag: Tag;
  key: string;
  doom: Doom;
  /** When the objects became stale, in epoch seconds. */
  at: number;
}

export class TagPurges {
  readonly index: TagIndex;
  private readonly rows: Rows;
  private readonly kill: (ocs: Int32Array, count: number, at: number) => void;
  private readonly batch = new Int32Array(BATCH);
  private readonly pace = new Pace(BATCH);
  private readonly soften: (oc: Oc, at: number) => boolean;
  private readonly isFresh: (oc: Oc, now: number) => boolean;
  private readonly defer: (run: () => void) => void;
  private readonly millis: () => number;
  private readonly space: () => number;
  private readonly jobs: Job[] = [];
  private softJobs = 0;
  private running = false;
  /** Members that may still be looked at to count what this purge hits. */
  private looks = 0;
  /** Number of the last purge of each key, in the order of the purges. */
  private readonly recent = new Map<string, number>();
  /** Purges up to this one are forgotten. */
  private forgotten = 0;
  /** Purges so far. */
  private serial = 0;

  constructor(o: {
    rows: Rows;
    index: TagIndex;
    /** Ends the time of so many objects as of a point in it. */
    kill: (ocs: Int32Array, count: number, at: number) => void;
    /** Makes an object stale as of a point in time; false when it was already. */
    soften: (oc: Oc, at: number) => boolean;
    isFresh: (oc: Oc, now: number) => boolean;
    defer: (run: () => void) => void;
    millis: () => number;
    /** Bytes that the index may take; 0 sets no limit. */
    space: () => number;
  }) {
    this.rows = o.rows;
    this.index = o.index;
    this.kill = o.kill;
    this.soften = o.soften;
    this.isFresh = o.isFresh;
    this.defer = o.defer;
    this.millis = o.millis;
    this.space = o.space;
  }

  /** Whether there are objects that a lookup has to look at more closely. */
  get pending(): boolean {
    return this.jobs.length > 0;
  }

  /** A fetch begins: notes in the row which purges came before it. */
  begin(oc: Oc): void {
    this.rows.set(oc, SURROGATE, this.serial);
  }

  /** An object is about to be found by lookups: files it under its keys. False when it must not be, because a key
   * was purged since its fetch began, or because there is no room to keep its keys. */
  admit(oc: Oc, keys: readonly string[]): 'filed' | 'purged' | 'full' {
    const began = this.rows.get(oc, SURROGATE);
    if (began < this.forgotten) return 'purged';
    if (began < this.serial && keys.some((key) => (this.recent.get(key) ?? 0) > began)) return 'purged';
    const space = this.space();
    if (keys.length > MOST_KEYS || (space > 0 && this.index.bytes >= space)) return 'full';
    for (const key of keys) this.index.add(oc, key);
    return 'filed';
  }

  /** What is about to happen to an object that has keys. */
  doomOf(oc: Oc): Doom {
    return this.index.doomOf(oc);
  }

  /** Does to one object what waits for it, soft ones only: it is asked for before its turn. */
  softenNow(oc: Oc): void {
    // The oldest purge that the object can belong to is not known here, so it is stale as of the first one.
    for (const job of this.jobs) {
      if (job.doom === Doom.SOFT && this.soften(oc, job.at)) return;
    }
  }

  /** Purges all objects that carry one of the keys; returns how many. Each counts once, unless the keys have more
   * objects than can be looked at in a moment. Soft ones that are stale already do not count. */
  purge(keys: readonly string[], doom: typeof Doom.SOFT | typeof Doom.HARD, now: number): number {
    let count = 0;
    this.looks = COUNTED;
    for (const key of keys) {
      this.remember(key);
      if (doom === Doom.HARD && this.softJobs > 0) count += this.harden(key);
      const tag = this.index.find(key);
      if (tag === 0) continue;
      count += this.hits(tag, doom, now);
      this.index.doom(tag, doom);
      this.jobs.push({ tag, key, doom, at: now });
      if (doom === Doom.SOFT) this.softJobs++;
    }
    if (this.jobs.length > 0 && !this.running) this.run(AT_ONCE);
    return count;
  }

  /** A soft purge that is still at work becomes a hard one. */
  private harden(key: string): number {
    let count = 0;
    for (const job of this.jobs) {
      if (job.key !== key || job.doom !== Doom.SOFT) continue;
      count += this.hits(job.tag, Doom.HARD, 0);
      job.doom = Doom.HARD;
      this.softJobs--;
      this.index.doom(job.tag, Doom.HARD);
    }
    return count;
  }

  private hits(tag: Tag, doom: Doom, now: number): number {
    const { index } = this;
    const all = index.count(tag);
    if (all > this.looks || (doom === Doom.HARD && this.jobs.length === 0)) return all;
    this.looks -= all;
    let count = 0;
    index.forEach(tag, (oc) => {
      if (this.jobs.length > 0 && index.doomOf(oc) >= doom) return;
      if (doom === Doom.HARD || this.isFresh(oc, now)) count++;
    });
    return count;
  }

  private remember(key: string): void {
    this.serial++;
    this.recent.delete(key);
    this.recent.set(key, this.serial);
    if (this.recent.size <= REMEMBERED) return;
    const [oldest, serial] = this.recent.entries().next().value as [string, number];
    this.recent.delete(oldest);
    this.forgotten = serial;
  }

  /** Works for so long, and leaves the rest to a later turn. */
  private run(budget: number): void {
    const { pace } = this;
    this.running = true;
    let at = this.millis();
    const end = at + budget;
    while (at < end && this.jobs.length > 0) {
      const count = this.workOn(this.jobs[0] as Job);
      const begun = at;
      at = this.millis();
      pace.took(count, at - begun);
    }
    this.running = this.jobs.length > 0;
    if (this.running) this.defer(() => this.run(STEP));
  }

  /** Some objects, or the end of the job; returns how many. */
  private workOn(job: Job): number {
    const { index, batch } = this;
    const most = this.pace.count;
    const hard = job.doom === Doom.HARD;
    const count = hard ? index.cutFirst(job.tag, batch, most) : index.firstObjects(job.tag, batch, most);
    if (count === 0) {
      index.release(job.tag);
      if (job.doom === Doom.SOFT) this.softJobs--;
      this.jobs.shift();
    } else if (hard) {
      this.kill(batch, count, job.at);
    } else {
      for (let i = 0; i < count; i++) this.soften(batch[i] as Oc, job.at);
      index.moveFirst(job.tag, count, job.key);
    }
    return count;
  }
}
