// A saintmode object: a director in front of one backend that is sick for the objects on its list, and for all
// objects if the list reaches the threshold. Follows vmod_saintmode(3); the order of the checks, the expiry of
// entries, and the records match Varnish's observed behavior.
//
// A threshold of 0 disables it for fetches and for backend.list, while is_healthy() in client states still counts. In
// client states is_healthy() checks the list only, not the backend.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { State } from '../../contract/program.ts';
import type { Listed, SaintmodeEvents } from './saintmode-events.ts';

/** Expired entries are removed at the latest at this length, or at twice the length left the last time. */
const SWEPT_AT = 1024;

interface Entry {
  /** Lookup key of the object. */
  readonly key: string;
  /** Epoch seconds. */
  readonly until: number;
}

export class Saint implements Director, Listed {
  readonly id: string;
  readonly vclName: string;
  readonly backend: Director;
  readonly threshold: number;
  readonly listed: DirectorListing;
  /** Latest last. */
  private readonly entries: Entry[] = [];
  private sweepAt = SWEPT_AT;
  private readonly events: SaintmodeEvents;

  /**
   * @param program its name
   * @param now epoch seconds
   */
  constructor(
    program: string,
    name: string,
    backend: Director,
    threshold: number,
    events: SaintmodeEvents,
    now: number,
  ) {
    this.id = `${program}.${name}`;
    this.events = events;
    this.vclName = name;
    this.backend = backend;
    // As in Varnish: a negative threshold is never reached.
    this.threshold = threshold >>> 0;
    this.listed = {
      type: 'saintmode',
      admin: 'auto',
      changedAt: now,
      measured: (at) => this.isUsable(at, null),
      counts: () => ({ good: 0, total: 0 }),
      text: () => [],
      json: () => null,
    };
  }

  get count(): number {
    this.events.catchUp();
    return this.entries.length;
  }

  setWarm(): void {
    // Its backend belongs to the same program, which sets its temperature itself.
  }

  get inUse(): number {
    return this.backend.inUse;
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    // As a member of a director or through std.healthy() it applies to fetches only.
    const fetch = ctx === null || ctx.bo === null ? null : ctx;
    return admin === 'auto' ? this.isUsable(now, fetch) : admin === 'healthy';
  }

  resolve(ctx: VclContext): Director | null {
    return this.isUsable(ctx.now, ctx) ? this.backend.resolve(ctx) : null;
  }

  pending(ctx: VclContext): Promise<void> | null {
    return this.backend.pending?.(ctx) ?? null;
  }

  /** Lists an object for some seconds, in all threads; listing it twice makes two entries. */
  blacklist(key: string, seconds: number, now: number): void {
    this.put(key, now + seconds, now);
    this.events.post(this.id, key, now + seconds, now);
  }

  /** Adds to this thread's list. */
  put(key: string, until: number, now: number): void {
    this.entries.push({ key, until });
    if (this.entries.length < this.sweepAt) return;
    this.removeExpired(now);
    this.sweepAt = Math.max(SWEPT_AT, 2 * this.entries.length);
  }

  removeExpired(now: number): void {
    const left = this.entries.filter((entry) => entry.until >= now);
    this.entries.splice(0, this.entries.length, ...left);
  }

  /** The result of is_healthy(). */
  isHealthy(ctx: VclContext): boolean {
    return ctx.bo === null ? !this.isListed(ctx.now, ctx) : this.isUsable(ctx.now, ctx);
  }

  /** Whether the backend may serve the object of this task; without a task, any object. */
  private isUsable(now: number, ctx: VclContext | null): boolean {
    if (!this.backend.healthy(now, ctx)) return false;
    return this.threshold === 0 || !this.isListed(now, ctx);
  }

  /** Whether the object or too many others are listed. Removes expired entries on the way. */
  private isListed(now: number, ctx: VclContext | null): boolean {
    this.events.catchUp();
    const { entries } = this;
    const key = keyOf(ctx);
    const before = entries.length;
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i] as Entry;
      if (entry.until < now) entries.splice(i, 1);
      else if (entry.key === key) return this.logUnhealthy(ctx, 'object blacklisted');
    }
    if (entries.length < before) this.events.postExpiry(this.id, now);
    return entries.length >= this.threshold && this.logUnhealthy(ctx, 'hit threshold');
  }

  private logUnhealthy(ctx: VclContext | null, why: string): true {
    ctx?.log.put(Tag.VCL_Log, `saintmode: unhealthy: ${why} for backend ${this.backend.vclName}`);
    return true;
  }
}

/** Lookup key of the task's object; null if a request has none yet. */
function keyOf(ctx: VclContext | null): string | null {
  if (ctx === null) return null;
  if (ctx.bo !== null) return ctx.bo.hashKey;
  // After a restart the key of the previous run is still set.
  if (ctx.req === null || ctx.state === State.recv || ctx.state === State.hash) return null;
  return ctx.req.attempt.hashKey === '' ? null : ctx.req.attempt.hashKey;
}
