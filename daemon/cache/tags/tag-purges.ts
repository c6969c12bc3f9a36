// Purges by surrogate key: dooms a tag at once, however many objects it has, and removes the objects in steps.
//
// From the moment of the purge, lookups treat a doomed object as purged, so that the progress of the work is not visible.
// Maintenance runs the steps. A key may have several pending soft purges, which a hard one finds by the key: the cost of a
// purge does not depend on the number of pending ones.

import type { CacheState } from '../cache-state.ts';
import { KeyIndex, type Oh } from '../key-index.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { BATCH, type Oc } from '../objcore.ts';
import { Pace, type Reaper } from '../reaper.ts';
import { RowTable } from '../row-table.ts';
import { Doom, type Tag } from './tag-index.ts';

/** Milliseconds of work within the purge itself. Small compared with a request. */
const AT_ONCE = 1;
/** Members visited to count the objects of a purge, for all its keys together; beyond that, all members of a tag count. A few
 * milliseconds. */
const COUNTED = 65_536;
/** Keys of members visited while other purges are pending that cost as much as one member (measured). */
const KEYS_PER_MEMBER = 8;

// Row of a job: when the objects became stale in epoch seconds (a double), tag, kind, next job; of a soft one, its entry in
// the index of soft jobs, and the next job of the same key.
const AT = 0;
const TAG = 2;
const DOOM = 3;
const NEXT = 4;
const ENTRY = 5;
const NEXT_OF_KEY = 6;
const JOB_WORDS = 8;

/** Extra word of such an entry, after its first job. */
const LAST_OF_KEY = 0;

/** Words of the list of jobs: its ends, the number of jobs, and of soft jobs. */
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
  /** Jobs of all threads, oldest first. */
  private readonly jobs: RowTable;
  private readonly own: Int32Array;
  /** Soft jobs by key, each key's oldest first. */
  private readonly soft: KeyIndex;
  private working = false;
  /** Members that may still be visited to count the objects of this purge. */
  private visits = 0;
  private several = false;
  /** Visited members with many keys, when there are several keys: they are not looked at again. */
  private readonly seen = new Set<Oc>();

  constructor(state: CacheState, lifetimes: Lifetimes, reaper: Reaper) {
    this.state = state;
    this.lifetimes = lifetimes;
    this.reaper = reaper;
    const memory = state.memory.part('tagPurges');
    this.jobs = new RowTable(JOB_WORDS, memory.part('jobs'));
    this.own = memory.words(LIST_WORDS);
    this.soft = new KeyIndex(state.seed[0], state.seed[1], 1, memory.part('soft'));
  }

  /** Whether objects may be doomed, and step() has work. */
  get pending(): boolean {
    return this.own[COUNT] !== 0;
  }

  private add(key: string, tag: Tag, doom: typeof Doom.SOFT | typeof Doom.HARD, at: number): void {
    const { jobs, own } = this;
    const job = jobs.take();
    jobs.setDouble(job, AT, at);
    jobs.set(job, TAG, tag);
    jobs.set(job, DOOM, doom);
    if (own[FIRST] === 0) own[FIRST] = job;
    else jobs.set(own[LAST] as Job, NEXT, job);
    own[LAST] = job;
    own[COUNT] = (own[COUNT] as number) + 1;
    this.state.tags.doom(tag, doom, job);
    if (doom === Doom.SOFT) this.addSoft(key, job);
  }

  /** Removes the oldest job. */
  private shift(): void {
    const { jobs, own } = this;
    const job = own[FIRST] as Job;
    own[FIRST] = jobs.get(job, NEXT);
    own[COUNT] = (own[COUNT] as number) - 1;
    if (jobs.get(job, DOOM) === Doom.SOFT) this.removeSoft(job);
    jobs.give(job);
  }

  /** Adds a soft job to its key. */
  private addSoft(key: string, job: Job): void {
    const { jobs, own, soft } = this;
    const entry = soft.findOrAdd(key);
    if (soft.first(entry) === 0) soft.setFirst(entry, job);
    else jobs.set(soft.extra(entry, LAST_OF_KEY), NEXT_OF_KEY, job);
    soft.setExtra(entry, LAST_OF_KEY, job);
    jobs.set(job, ENTRY, entry);
    own[SOFT] = (own[SOFT] as number) + 1;
  }

  /** Removes the oldest job, which is also the oldest of its key. */
  private removeSoft(job: Job): void {
    const { jobs, own, soft } = this;
    const entry: Oh = jobs.get(job, ENTRY) >>> 0;
    const next = jobs.get(job, NEXT_OF_KEY);
    if (next === 0) soft.remove(entry);
    else soft.setFirst(entry, next);
    own[SOFT] = (own[SOFT] as number) - 1;
  }

  /** Applies the pending soft purges of an object, which was looked up before its turn. */
  softenNow(oc: Oc): void {
    let oldest = Number.POSITIVE_INFINITY;
    this.state.tags.notesOf(oc, (job) => {
      oldest = Math.min(oldest, this.jobs.getDouble(job, AT));
    });
    this.lifetimes.soften(oc, oldest);
  }

  /** Purges all objects with one of the keys; returns how many. Each counts once, unless the keys have more objects than COUNTED.
   * A soft purge does not count stale objects. */
  purge(keys: readonly string[], doom: typeof Doom.SOFT | typeof Doom.HARD, now: number): number {
    let count = 0;
    this.visits = COUNTED;
    this.several = keys.length > 1;
    if (doom === Doom.SOFT) this.state.notBefore(now);
    for (const key of keys) {
      this.state.purgeLog.add(key);
      if (doom === Doom.HARD && this.own[SOFT] !== 0) count += this.harden(key);
      const tag = this.state.tags.find(key);
      if (tag === 0) continue;
      count += this.hits(tag, doom, now);
      this.add(key, tag, doom, now);
    }
    this.seen.clear();
    // A reader that is called by a purge may start another.
    if (this.pending && !this.working) {
      this.begin();
      if (this.pending) this.state.wake();
    }
    return count;
  }

  /** Turns the pending soft purges of a key into hard ones. */
  private harden(key: string): number {
    let count = 0;
    const { jobs, own, soft } = this;
    const { tags } = this.state;
    const entry = soft.find(key);
    if (entry === 0) return 0;
    for (let job = soft.first(entry); job !== 0; job = jobs.get(job, NEXT_OF_KEY)) {
      const tag = jobs.get(job, TAG) >>> 0;
      count += this.hits(tag, Doom.HARD, 0);
      jobs.set(job, DOOM, Doom.HARD);
      own[SOFT] = (own[SOFT] as number) - 1;
      tags.doom(tag, Doom.HARD, job);
    }
    soft.remove(entry);
    return count;
  }

  private hits(tag: Tag, doom: Doom, now: number): number {
    const index = this.state.tags;
    const all = index.count(tag);
    if (all > this.visits || (doom === Doom.HARD && !this.pending && !this.several)) return all;
    const { seen } = this;
    const most = this.visits;
    let count = 0;
    let looked = 0;
    index.looked = 0;
    index.forEach(tag, (oc) => {
      if (looked + index.looked / KEYS_PER_MEMBER >= most) return false;
      looked++;
      if (seen.size > 0 && seen.has(oc)) return true;
      // Doomed by another purge, or by a key of this one that came before.
      if (this.pending || this.several) {
        const before = index.looked;
        const isDoomed = index.doomOf(oc, doom) >= doom;
        if (this.several && index.looked - before > KEYS_PER_MEMBER) seen.add(oc);
        if (isDoomed) return true;
      }
      if (doom === Doom.HARD || this.lifetimes.isFresh(oc, now)) count++;
      return true;
    });
    this.visits -= looked + index.looked / KEYS_PER_MEMBER;
    return count + all - looked;
  }

  /** Starts the work, unless the budget of this turn is used up, for instance by other purges. */
  private begin(): void {
    const { turns } = this.state;
    if (!turns.mayContinue()) return;
    this.step(AT_ONCE);
    turns.tookLong();
  }

  /** Works for about `budgetMs`. */
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

  /** Processes some objects of a job, or ends it; returns how many. */
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
