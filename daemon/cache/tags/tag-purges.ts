// Purges by surrogate key: dooms a tag at once, however many objects it has, and takes the objects out in steps.
//
// From the moment of the purge a lookup treats a doomed object as what it is about to become, so nobody notices
// how far the work has come. Never runs longer than a step at a time: maintenance has it done.

import type { CacheState } from '../cache-state.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { BATCH, type Oc } from '../objcore.ts';
import { Pace } from '../pace.ts';
import type { Reaper } from '../reaper.ts';
import { RowTable } from '../row-table.ts';
import { Doom, type Tag } from './tag-index.ts';

/** Milliseconds that a purge works itself before it leaves the rest to steps. Small beside a request's time. */
const AT_ONCE = 1;
/** Members looked at one by one to count what a purge hits, of all its keys together; beyond them, all members of a tag
 * count. */
const COUNTED = 16_384;

// A job's row: when the objects became stale in epoch seconds (a double), its tag, its kind, the next job.
const AT = 0;
const TAG = 2;
const DOOM = 3;
const NEXT = 4;
const JOB_WORDS = 6;

/** Words of the list of jobs: its ends, and how many there are, of those soft ones. */
const FIRST = 0;
const LAST = 1;
const COUNT = 2;
const SOFT = 3;
const LIST_WORDS = 4;

type Job = number;

export class TagPurges {
  private readonly state: CacheState;
  private readonly lifetimes: Lifetimes;
  private readonly reaper: Reaper;
  private readonly batch = new Int32Array(BATCH);
  private readonly pace = new Pace(BATCH);
  /** Oldest first, of all threads. */
  private readonly jobs: RowTable;
  private readonly own: Int32Array;
  private working = false;
  /** Members that may still be looked at to count what this purge hits. */
  private looks = 0;

  constructor(state: CacheState, lifetimes: Lifetimes, reaper: Reaper) {
    this.state = state;
    this.lifetimes = lifetimes;
    this.reaper = reaper;
    const memory = state.memory.part('tagPurges');
    this.jobs = new RowTable(JOB_WORDS, memory.part('jobs'));
    this.own = memory.words(LIST_WORDS);
  }

  /** Whether there are objects that a lookup has to look at more closely, and work for step(). */
  get pending(): boolean {
    return this.own[COUNT] !== 0;
  }

  /** Oldest first. */
  private *each(): IterableIterator<Job> {
    for (let job = this.own[FIRST] as Job; job !== 0; job = this.jobs.get(job, NEXT)) yield job;
  }

  private add(tag: Tag, doom: Doom, at: number): void {
    const { jobs, own } = this;
    const job = jobs.take();
    jobs.setDouble(job, AT, at);
    jobs.set(job, TAG, tag);
    jobs.set(job, DOOM, doom);
    if (own[FIRST] === 0) own[FIRST] = job;
    else jobs.set(own[LAST] as Job, NEXT, job);
    own[LAST] = job;
    own[COUNT] = (own[COUNT] as number) + 1;
    if (doom === Doom.SOFT) own[SOFT] = (own[SOFT] as number) + 1;
  }

  /** Forgets the oldest one. */
  private shift(): void {
    const { jobs, own } = this;
    const job = own[FIRST] as Job;
    own[FIRST] = jobs.get(job, NEXT);
    own[COUNT] = (own[COUNT] as number) - 1;
    if (jobs.get(job, DOOM) === Doom.SOFT) own[SOFT] = (own[SOFT] as number) - 1;
    jobs.give(job);
  }

  /** Does to one object what waits for it, soft ones only: it is asked for before its turn. */
  softenNow(oc: Oc): void {
    // The oldest purge that the object can belong to is not known here, so it is stale as of the first one.
    const { jobs } = this;
    for (const job of this.each()) {
      if (jobs.get(job, DOOM) === Doom.SOFT && this.lifetimes.soften(oc, jobs.getDouble(job, AT))) return;
    }
  }

  /** Purges all objects that carry one of the keys; returns how many. Each counts once, unless the keys have more
   * objects than can be looked at in a moment. Soft ones that are stale already do not count. */
  purge(keys: readonly string[], doom: typeof Doom.SOFT | typeof Doom.HARD, now: number): number {
    let count = 0;
    this.looks = COUNTED;
    if (doom === Doom.SOFT) this.state.notBefore(now);
    for (const key of keys) {
      this.state.purgeLog.add(key);
      if (doom === Doom.HARD && this.own[SOFT] !== 0) count += this.harden(key);
      const tag = this.state.tags.find(key);
      if (tag === 0) continue;
      count += this.hits(tag, doom, now);
      this.state.tags.doom(tag, doom);
      this.add(tag, doom, now);
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
    const { jobs, own } = this;
    const { tags } = this.state;
    for (const job of this.each()) {
      const tag = jobs.get(job, TAG) >>> 0;
      if (jobs.get(job, DOOM) !== Doom.SOFT || !tags.isOf(tag, key)) continue;
      count += this.hits(tag, Doom.HARD, 0);
      jobs.set(job, DOOM, Doom.HARD);
      own[SOFT] = (own[SOFT] as number) - 1;
      tags.doom(tag, Doom.HARD);
    }
    return count;
  }

  private hits(tag: Tag, doom: Doom, now: number): number {
    const index = this.state.tags;
    const all = index.count(tag);
    if (all > this.looks || (doom === Doom.HARD && !this.pending)) return all;
    this.looks -= all;
    let count = 0;
    index.forEach(tag, (oc) => {
      if (this.pending && index.doomOf(oc) >= doom) return;
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
    while (at < end && this.pending) {
      const count = this.workOn(this.own[FIRST] as Job);
      const begun = at;
      at = millis();
      pace.took(count, at - begun);
    }
    this.working = false;
  }

  /** Some objects, or the end of the job; returns how many. */
  private workOn(job: Job): number {
    const { batch, jobs } = this;
    const index = this.state.tags;
    const most = this.pace.count;
    const tag = jobs.get(job, TAG) >>> 0;
    const at = jobs.getDouble(job, AT);
    const hard = jobs.get(job, DOOM) === Doom.HARD;
    const count = hard ? index.cutFirst(tag, batch, most) : index.firstObjects(tag, batch, most);
    if (count === 0) {
      this.shift();
      index.release(tag);
    } else if (hard) {
      this.reaper.purge(batch, count, at);
    } else {
      for (let i = 0; i < count; i++) this.lifetimes.soften(batch[i] as Oc, at);
      index.moveFirst(tag, count, index.keyOf(tag));
    }
    return count;
  }
}
