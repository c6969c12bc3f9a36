// The work that no request waits for: expiry, the ban lurker, the rest of purges by surrogate key, figures.
//
// Each kind of work says when it wants to go on; a step does a piece of the one that has been due longest, so that
// none keeps another from its turn and no turn of the event loop has more than one piece.

import type { Lurker } from './ban/lurker.ts';
import type { CacheState } from './cache-state.ts';
import type { Expiry } from './expiry.ts';
import type { Maintenance } from './roles.ts';
import type { TagPurges } from './tags/tag-purges.ts';

/** How many times as long as a piece of work expiry rests while more objects are due; and the milliseconds of its rest
 * while some will be soon, and while none will: a million that end at one moment are gone in seconds and leave four fifths of
 * the time to traffic, and an idle daemon is seldom woken. */
const EXPIRY_PAUSE = 4;
const EXPIRY_REST = 50;
const EXPIRY_LONG_REST = 250;
/** Milliseconds by which timers may come early: they count whole ones. */
const EARLY = 1;

interface Work {
  /** Milliseconds of the steady clock; infinity when there is nothing to do. */
  due: number;
  /** Does a piece; returns the milliseconds until the next one. */
  readonly run: (now: number) => number;
}

export class CacheMaintenance implements Maintenance {
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

  step(now: number): number {
    const { millis } = this.state;
    this.state.clockIs(now);
    const at = millis();
    const first = this.earliest(at);
    if (first.due <= at + EARLY) {
      const wait = first.run(now);
      first.due = millis() + wait;
    }
    const after = millis();
    return Math.max(0, this.earliest(after).due - after) / 1000;
  }

  sample(): void {
    if (!this.state.maintains) return;
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
    // Purges come at any time, from within other work as well, and leave theirs here.
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
    if (this.expiry.behind) return EXPIRY_REST;
    return Math.min(EXPIRY_LONG_REST, Math.max(EXPIRY_REST, left));
  }
}
