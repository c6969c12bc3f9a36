// A saintmode object: a director in front of one backend that is sick for the objects on its list, and for all when the
// list has as many as the threshold. Follows vmod_saintmode(3); the order of the checks, when old entries leave the
// list, and the records are what Varnish was seen to do.
//
// A threshold of 0 switches it off for fetches and for backend.list, while is_healthy() in client states still counts.
// Caution: in client states is_healthy() asks for the list alone, and nothing of the backend itself.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { State } from '../../contract/program.ts';
import type { Listed, SaintNews } from './saint-news.ts';

/** The list is rid of old entries at the latest when it has so many, or twice those that were left the last time. */
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
  /** The youngest last. */
  private readonly entries: Entry[] = [];
  private sweepAt = SWEPT_AT;
  private readonly news: SaintNews;

  /**
   * @param program its name
   * @param now epoch seconds
   */
  constructor(
    program: string,
    name: string,
    backend: Director,
    threshold: number,
    news: SaintNews,
    now: number,
  ) {
    this.id = `${program}.${name}`;
    this.news = news;
    this.vclName = name;
    this.backend = backend;
    // As Varnish takes it: below zero is more than there can be.
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
    this.news.look();
    return this.entries.length;
  }

  setWarm(): void {
    // What is below it is of the program, too, which makes it warm or cold itself.
  }

  get inUse(): number {
    return this.backend.inUse;
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    // As the member of a director or through std.healthy() it knows of fetches alone.
    const fetch = ctx === null || ctx.bo === null ? null : ctx;
    return admin === 'auto' ? this.isUsable(now, fetch) : admin === 'healthy';
  }

  resolve(ctx: VclContext): Director | null {
    return this.isUsable(ctx.now, ctx) ? this.backend.resolve(ctx) : null;
  }

  /** Puts an object on the list for so many seconds, in all threads; twice is two entries. */
  blacklist(key: string, seconds: number, now: number): void {
    this.put(key, now + seconds, now);
    this.news.post(this.id, key, now + seconds, now);
  }

  /** Puts an object on this thread's list. */
  put(key: string, until: number, now: number): void {
    this.entries.push({ key, until });
    if (this.entries.length < this.sweepAt) return;
    this.takeOff(now);
    this.sweepAt = Math.max(SWEPT_AT, 2 * this.entries.length);
  }

  takeOff(now: number): void {
    const left = this.entries.filter((entry) => entry.until >= now);
    this.entries.splice(0, this.entries.length, ...left);
  }

  /** What is_healthy() says. */
  isHealthy(ctx: VclContext): boolean {
    return ctx.bo === null ? !this.isListed(ctx.now, ctx) : this.isUsable(ctx.now, ctx);
  }

  /** Whether the backend would serve the object of this task; without a task, any object. */
  private isUsable(now: number, ctx: VclContext | null): boolean {
    if (!this.backend.healthy(now, ctx)) return false;
    return this.threshold === 0 || !this.isListed(now, ctx);
  }

  /** Whether the object or too many others are on the list. Old entries leave it on the way. */
  private isListed(now: number, ctx: VclContext | null): boolean {
    this.news.look();
    const { entries } = this;
    const key = keyOf(ctx);
    const before = entries.length;
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i] as Entry;
      if (entry.until < now) entries.splice(i, 1);
      else if (entry.key === key) return this.said(ctx, 'object blacklisted');
    }
    if (entries.length < before) this.news.postOff(this.id, now);
    return entries.length >= this.threshold && this.said(ctx, 'hit threshold');
  }

  private said(ctx: VclContext | null, why: string): true {
    ctx?.log.put(Tag.VCL_Log, `saintmode: unhealthy: ${why} for backend ${this.backend.vclName}`);
    return true;
  }
}

/** Lookup key of the task's object; null while a request has none yet. */
function keyOf(ctx: VclContext | null): string | null {
  if (ctx === null) return null;
  if (ctx.bo !== null) return ctx.bo.hashKey;
  // A restarted request still has the key of its last run there.
  if (ctx.req === null || ctx.state === State.recv || ctx.state === State.hash) return null;
  return ctx.req.attempt.hashKey === '' ? null : ctx.req.attempt.hashKey;
}
