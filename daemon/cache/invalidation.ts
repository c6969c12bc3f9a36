// Taking objects out of use before their time: purges, soft purges and bans.
//
// A purge acts at once on the objects of one key; a ban is remembered, and each object is tested against it at
// its next lookup. Never waits. Awkward: a fetch under way may bring what is older than the invalidation: a
// purge cuts it off from the key, and a busy object counts as tested only up to when it was made.

import { HttpMessage } from '../http1/message.ts';
import {
  type BanExpression,
  type BanSubject,
  type CompileRegex,
  parseBan,
  parseBanText,
} from './ban/ban-expression.ts';
import type { BanList } from './ban/ban-list.ts';
import type { CacheLimits } from './cache-options.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';

/** New lifetimes of a soft purge, in seconds: ttl from now; negative leaves as it is. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
}

export class Invalidation {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly life: ObjectLife;
  private readonly bans: BanList;
  private readonly limits: CacheLimits;
  private readonly compileRegex: CompileRegex;
  /** Scratch for the head of an object under a ban's test. */
  private readonly banHead = new HttpMessage(0);

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    objheads: Objheads;
    life: ObjectLife;
    bans: BanList;
    limits: CacheLimits;
    compileRegex: CompileRegex;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.life = o.life;
    this.bans = o.bans;
    this.limits = o.limits;
    this.compileRegex = o.compileRegex;
  }

  /** Shortens or sets lifetimes; negative leaves one as it is; ttl counts from `now`. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { rows } = this;
    if (soft.ttl >= 0) rows.setDouble(oc, row.TTL, now + soft.ttl - rows.getDouble(oc, row.T_ORIGIN));
    if (soft.grace >= 0) rows.setDouble(oc, row.GRACE, soft.grace);
    if (soft.keep >= 0) rows.setDouble(oc, row.KEEP, soft.keep);
    this.life.reschedule(oc);
  }

  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under
   * way are cut off, except `own`: the caller's own busy object, which it has not begun to fetch. */
  purge(key: string, now: number, soft: SoftPurge | null, own: Oc): number {
    const oh = this.objheads.find(key);
    if (oh === 0) return 0;
    const hard = soft === null || (soft.ttl === 0 && soft.grace === 0 && soft.keep === 0);
    let count = 0;
    for (let oc = this.objheads.first(oh); oc !== 0; ) {
      const next = this.rows.get(oc, row.KEY_NEXT);
      if (stateIn(this.rows.get(oc, row.META)) === row.STATE_BUSY) {
        if (oc !== own) this.life.detach(oc, false);
      } else {
        count++;
        if (hard) this.life.kill(oc);
        else this.reset(oc, soft, now);
      }
      oc = next;
    }
    return count;
  }

  /** Adds a ban from command-line words; returns the error or null. */
  ban(words: readonly string[], now: number): string | null {
    return this.add(parseBan(words, this.compileRegex), now);
  }

  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  banText(text: string, now: number): string | null {
    return this.add(parseBanText(text, this.compileRegex), now);
  }

  /** Whether a ban the object has not been tested against yet matches it; if none does, it is up to date. */
  isBanned(oc: Oc, request: HttpMessage, now: number): boolean {
    const from = this.rows.get(oc, row.BAN);
    if (this.bans.matches(from, () => this.subject(oc, now), request)) return true;
    this.bans.unref(from);
    this.rows.set(oc, row.BAN, this.bans.ref());
    return false;
  }

  /** What a ban may ask of an object; its head is in the scratch until the next one. */
  subject(oc: Oc, now: number): BanSubject {
    const { rows } = this;
    this.store.head(oc, this.banHead);
    const age = now - rows.getDouble(oc, row.T_ORIGIN);
    return {
      http: this.banHead,
      age,
      ttl: rows.getDouble(oc, row.TTL) - age,
      grace: rows.getDouble(oc, row.GRACE),
      keep: rows.getDouble(oc, row.KEEP),
    };
  }

  private add(parsed: BanExpression | string, now: number): string | null {
    if (typeof parsed === 'string') return parsed;
    this.bans.add(parsed, now, this.limits.banDups);
    return null;
  }
}
