// Purges by surrogate key: dooms a tag at once, however many objects it has, and takes the objects out in steps.
//
// From the moment of the purge a lookup treats a doomed object as what it is about to become, so nobody notices
// how far the work has come. Never runs longer than a step at a time: maintenance has it done.

import type { CacheState } from '../cache-state.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { BATCH, type Oc } from '../objcore.ts';
import { Pace } from '../pace.ts';
import type { Reaper } from '../reaper.ts';
import { Doom, type Tag } from './tag-index.ts';

/** Milliseconds that a purge works itself before it leaves the rest to steps. Small beside a request's time. */
const AT_ONCE = 1;
/** Members looked at one by one to count what a purge hits, of all its keys together; beyond them, all members of a tag
 * count. */
const COUNTED = 16_384;

interface Job {
  tag: Tag;
  key: string;
  doom: Doom;
  /** When the objects became stale, in epoch seconds. */
  at: number;
}

export class TagPurges {
  private readonly state: CacheState;
  private readonly lifetimes: Lifetimes;
  private readonly reaper: Reaper;
  private readonly batch = new Int32Array(BATCH);
  private readonly pace = new Pace(BATCH);
  private readonly jobs: Job[] = [];
  private softJobs = 0;
  private working = false;
  /** Members that may still be looked at to count what this purge hits. */
  private looks = 0;

  constructor(state: CacheState, lifetimes: Lifetimes, reaper: Reaper) {
    this.state = state;
    this.lifetimes = lifetimes;
    this.reaper = reaper;
  }

  /** Whether there are objects that a lookup has to look at more closely, and work for step(). */
  get pending(): boolean {
    return this.jobs.length > 0;
  }

  /** Does to one object what waits for it, soft ones only: it is asked for before its turn. */
  softenNow(oc: Oc): void {
    // The oldest purge that the object can belong to is not known here, so it is stale as of the first one.
    for (const job of this.jobs) {
      if (job.doom === Doom.SOFT && this.lifetimes.soften(oc, job.at)) return;
    }
  }

  /** Purges all objects that carry one of the keys; returns how many. Each counts once, unless the keys have more
   * objects than can be looked at in a moment. Soft ones that are stale already do not count. */
  purge(keys: readonly string[], doom: typeof Doom.SOFT | typeof Doom.HARD, now: number): number {
    let count = 0;
    this.looks = COUNTED;
    for (const key of keys) {
      this.state.purgeLog.add(key);
      if (doom === Doom.HARD && this.softJobs > 0) count += this.harden(key);
      const tag = this.state.tags.find(key);
      if (tag === 0) continue;
      count += this.hits(tag, doom, now);
      this.state.tags.doom(tag, doom);
      this.jobs.push({ tag, key, doom, at: now });
      if (doom === Doom.SOFT) this.softJobs++;
    }
    // A reader that learns of a purge may ask for one itself.
    if (this.pending && !this.working) {
      this.step(AT_ONCE);
      if (this.pending) this.state.wake();
    }
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
      this.state.tags.doom(job.tag, Doom.HARD);
    }
    return count;
  }

  private hits(tag: Tag, doom: Doom, now: number): number {
    const index = this.state.tags;
    const all = index.count(tag);
    if (all > this.looks || (doom === Doom.HARD && this.jobs.length === 0)) return all;
    this.looks -= all;
    let count = 0;
    index.forEach(tag, (oc) => {
      if (this.jobs.length > 0 && index.doomOf(oc) >= doom) return;
      if (doom === Doom.HARD || this.lifetimes.isFresh(oc, now)) count++;
    });
    return count;
  }

  /** Takes objects out for about `budgetMs`. */
  step(budgetMs: number): void {
    const { pace } = this;
    const { millis } = this.state;
    let at = millis();
    const end = at + budgetMs;
    this.working = true;
    while (at < end && this.jobs.length > 0) {
      const count = this.workOn(this.jobs[0] as Job);
      const begun = at;
      at = millis();
      pace.took(count, at - begun);
    }
    this.working = false;
  }

  /** Some objects, or the end of the job; returns how many. */
  private workOn(job: Job): number {
    const { batch } = this;
    const index = this.state.tags;
    const most = this.pace.count;
    const hard = job.doom === Doom.HARD;
    const count = hard ? index.cutFirst(job.tag, batch, most) : index.firstObjects(job.tag, batch, most);
    if (count === 0) {
      index.release(job.tag);
      if (job.doom === Doom.SOFT) this.softJobs--;
      this.jobs.shift();
    } else if (hard) {
      this.reaper.purge(batch, count, job.at);
    } else {
      for (let i = 0; i < count; i++) this.lifetimes.soften(batch[i] as Oc, job.at);
      index.moveFirst(job.tag, count, job.key);
    }
    return count;
  }
}
