// Background work: expiry, the ban lurker, the rest of purges by surrogate key, figures.
//
// Each kind of work returns when it is due again. A step does a piece of the one that is most overdue, so that none starves
// another and no turn of the event loop has more than one piece.

import type { Lurker } from './ban/lurker.ts';
import type { CacheState } from './cache-state.ts';
import type { Expiry } from './expiry.ts';
import type { TagPurges } from './tags/tag-purges.ts';

/** Pause of expiry: while more objects are due, a multiple of the longest step, which removes a million objects that end
 * together within seconds and leaves four fifths of the time to traffic; otherwise milliseconds, while some will be due soon
 * and while none will, so that an idle daemon is seldom woken. */
const EXPIRY_PAUSE = 4;
const EXPIRY_REST = 50;
const EXPIRY_LONG_REST = 250;
/** Milliseconds by which timers may come early: they count whole ones. */
const EARLY = 1;

interface Work {
  /** Milliseconds of the steady clock; infinity when there is nothing to do. */
  due: number;
  /** Does a piece of work; returns the milliseconds until the next one. */
  readonly run: (now: number) => number;
}

export class CacheMaintenance {
  readonly expiry: Expiry;
  readonly lurker: Lurker;
  private readonly state: CacheState;
  private readonly tagPurges: TagPurges;
  private readonly purging: Work;
  private readonly works: readonly Work[];
  /** The figures that sample() has added to the counters. */
  private keys = 0;
  private links = 0;
  private bytes = 0;

  constructor(state: CacheState, expiry: Expiry, lurker: Lurker, tagPurges: TagPurges) {
    this.state = state;
    this.expiry = expiry;
    this.lurker = lurker;
    this.tagPurges = tagPurges;
    this.purging = { due: Number.POSITIVE_INFINITY, run: () => this.purge() };
    this.works = [
      this.purging,
      { due: 0, run: (now) => this.expire(now) },
      { due: 0, run: (now) => lurker.step(now) * 1000 },
    ];
  }

  /** Does a bounded piece of the work that is most overdue, if any is due. Returns the seconds until the next call; 0 is as
   * soon as possible, in another turn of the event loop. */
  step(now: number): number {
    return this.state.lock.hold(() => this.work(now));
  }

  private work(now: number): number {
    const { millis } = this.state;
    this.state.limitSoftPurge(now);
    const at = millis();
    const first = this.earliest(at);
    if (first.due <= at + EARLY) {
      const wait = first.run(now);
      first.due = millis() + wait;
    }
    const after = millis();
    return Math.max(0, this.earliest(after).due - after) / 1000;
  }

  /** Updates the counters that are too expensive to keep up to date all the time. */
  sample(): void {
    if (this.state.maintains) this.state.lock.hold(() => this.sampleTags());
  }

  private sampleTags(): void {
    const { tags, counters } = this.state;
    const { keyCount, linkCount, bytes } = tags;
    counters.xkey_keys += keyCount - this.keys;
    counters.xkey_links += linkCount - this.links;
    counters.xkey_bytes += bytes - this.bytes;
    this.keys = keyCount;
    this.links = linkCount;
    this.bytes = bytes;
  }

  private earliest(at: number): Work {
    // A purge may come at any time, also from within other work, and leaves its rest here.
    if (this.tagPurges.pending) this.purging.due = Math.min(this.purging.due, at);
    return this.works.reduce((first, work) => (work.due < first.due ? work : first));
  }

  private purge(): number {
    this.tagPurges.step(this.state.longestStep);
    return this.tagPurges.pending ? 0 : Number.POSITIVE_INFINITY;
  }

  private expire(now: number): number {
    this.expiry.step(now, this.state.longestStep);
    const left = (this.expiry.nextEnd() - now) * 1000;
    if (left <= 0) return EXPIRY_PAUSE * this.state.longestStep;
    if (this.expiry.hasBacklog) return EXPIRY_REST;
    return Math.min(EXPIRY_LONG_REST, Math.max(EXPIRY_REST, left));
  }
}
