// Taking objects out of use before their time: purges, soft purges and bans.
//
// A purge acts at once on the objects of one key; a ban is remembered, and each object is tested against it at
// its next lookup. Never waits. Awkward: a fetch under way may bring what is older than the invalidation: a
// purge cuts it off from the key, and a busy object counts as tested only up to when it was made.

import { HttpMessage } from '../http1/message.ts';
import { BanCount } from './ban/ban-count.ts';
import {
  type BanExpression,
  type BanHead,
  type BanSubject,
  type CompileRegex,
  parseBan,
  parseBanText,
} from './ban/ban-expression.ts';
import type { BanList } from './ban/ban-list.ts';
import type { CacheLimits } from './cache-options.ts';
import type { CacheCounters } from './counters.ts';
import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectLife } from './object-life.ts';
import type { ObjectStore } from './object-store.ts';
import type { Objheads } from './objheads.ts';
import type { Rows } from './rows.ts';
import { StoredHead } from './stored-head.ts';
import { keysIn } from './tags/tag-fields.ts';
import { Doom } from './tags/tag-index.ts';
import type { TagPurges } from './tags/tag-purges.ts';

/** Lifetimes that a soft purge gives, in seconds: ttl from now, or since when it is over when negative; a negative
 * grace or keep stays as it is. */
export interface SoftPurge {
  ttl: number;
  grace: number;
  keep: number;
}

/** An object has to have lived at all to be stale: the least life that it is left, in seconds. */
const LEAST = 0.001;

export class Invalidation {
  private readonly rows: Rows;
  private readonly store: ObjectStore;
  private readonly objheads: Objheads;
  private readonly life: ObjectLife;
  private readonly bans: BanList;
  private readonly tags: TagPurges;
  private readonly counters: CacheCounters;
  private readonly limits: CacheLimits;
  private readonly compileRegex: CompileRegex;
  private readonly millis: () => number;
  /** An object under a ban's test, and its head: stored, or still lent by its fetch. */
  private readonly banHead = new StoredHead();
  private readonly lentHead = new HttpMessage(0);
  private readonly banSubject = { http: this.banHead as BanHead, age: 0, ttl: 0, grace: 0, keep: 0 };

  constructor(o: {
    rows: Rows;
    store: ObjectStore;
    objheads: Objheads;
    life: ObjectLife;
    bans: BanList;
    tags: TagPurges;
    counters: CacheCounters;
    limits: CacheLimits;
    compileRegex: CompileRegex;
    millis: () => number;
  }) {
    this.rows = o.rows;
    this.store = o.store;
    this.objheads = o.objheads;
    this.life = o.life;
    this.bans = o.bans;
    this.tags = o.tags;
    this.counters = o.counters;
    this.limits = o.limits;
    this.compileRegex = o.compileRegex;
    this.millis = o.millis;
  }

  /** Gives an object these lifetimes, from now on: longer ones too, and to a stale object as well. What it gains stops
   * at the end that it had. */
  reset(oc: Oc, soft: SoftPurge, now: number): void {
    const { rows } = this;
    const end = this.life.endOf(oc);
    if (soft.grace >= 0) rows.setDouble(oc, row.GRACE, soft.grace);
    if (soft.keep >= 0) rows.setDouble(oc, row.KEEP, soft.keep);
    // Nothing left is stale, less than nothing is not found any more.
    if (soft.ttl < 0) rows.setDouble(oc, row.TTL, now + soft.ttl - rows.getDouble(oc, row.T_ORIGIN));
    else this.endTtl(oc, now + soft.ttl);
    // As in Varnish: an object goes at its old end all the same.
    if (this.life.endOf(oc) >= end) return;
    this.life.reschedule(oc);
    this.counters.exp_mailed++;
    this.counters.exp_received++;
  }

  /** Makes an object stale as of `at`, from when its grace counts; false when it was stale by then. */
  soften(oc: Oc, at: number): boolean {
    const { rows } = this;
    const origin = rows.getDouble(oc, row.T_ORIGIN);
    const ttl = rows.getDouble(oc, row.TTL);
    if (ttl <= 0 || origin + ttl <= at) return false;
    this.endTtl(oc, at);
    this.life.reschedule(oc);
    this.counters.exp_mailed++;
    this.counters.exp_received++;
    return true;
  }

  private endTtl(oc: Oc, at: number): void {
    const { rows } = this;
    const origin = rows.getDouble(oc, row.T_ORIGIN);
    if (at - origin >= LEAST) {
      rows.setDouble(oc, row.TTL, at - origin);
      return;
    }
    // Made after that, or in the same moment. A life of nothing would take its grace away too.
    rows.setDouble(oc, row.T_ORIGIN, at - LEAST);
    rows.setDouble(oc, row.TTL, LEAST);
  }

  isFresh(oc: Oc, now: number): boolean {
    return this.rows.getDouble(oc, row.T_ORIGIN) + this.rows.getDouble(oc, row.TTL) > now;
  }

  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under
   * way are cut off, except `own`: the caller's own busy object, which it has not begun to fetch. */
  purge(key: string, now: number, soft: SoftPurge | null, own: Oc): number {
    const oh = this.objheads.find(key);
    if (oh === 0) return 0;
    let count = 0;
    for (let oc = this.objheads.first(oh); oc !== 0; ) {
      const next = this.rows.get(oc, row.KEY_NEXT);
      if (stateIn(this.rows.get(oc, row.META)) === row.STATE_BUSY) {
        if (oc !== own) this.life.detach(oc, false);
      } else {
        count += this.purgeOne(oc, now, soft);
      }
      oc = next;
    }
    return count;
  }

  /** The same for one object; 0 when it is gone already, 1 otherwise. */
  purgeOne(oc: Oc, now: number, soft: SoftPurge | null): number {
    const meta = this.rows.get(oc, row.META);
    if ((meta & row.OF_INDEXED) === 0) return 0;
    const gone = (meta & row.OF_TAGGED) !== 0 && this.tags.pending && this.tags.doomOf(oc) === Doom.HARD;
    if (soft === null || (soft.ttl === 0 && soft.grace === 0 && soft.keep === 0)) this.life.purge(oc, now);
    else this.reset(oc, soft, now);
    return gone ? 0 : 1;
  }

  /** Purges what carries one of the surrogate keys in a text, or makes it stale as of `now`; returns how many. */
  purgeTags(keys: string, soft: boolean, now: number): number {
    return this.tags.purge(keysIn(keys), soft ? Doom.SOFT : Doom.HARD, now);
  }

  /** Adds a ban from command-line words; returns the error or null. */
  ban(words: readonly string[], now: number, soft = false): string | null {
    return this.add(parseBan(words, this.compileRegex), now, soft);
  }

  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  banText(text: string, now: number, soft = false): string | null {
    return this.add(parseBanText(text, this.compileRegex), now, soft);
  }

  /** A dry run of a ban, to be done step by step; a string is the error. `plainHash`: keys are URL and host. */
  count(words: readonly string[], now: number, plainHash: boolean): BanCount | string {
    const expression = parseBan(words, this.compileRegex);
    if (typeof expression === 'string') return expression;
    const { rows, objheads } = this;
    return new BanCount({
      rows,
      expression,
      subject: (oc, at) => this.subject(oc, at),
      keyOf: plainHash ? (oc) => objheads.keyOf(rows.get(oc, row.OBJHEAD)) : null,
      millis: this.millis,
      now,
    });
  }

  /** Whether a ban the object has not been tested against yet matches it; if none does, it is up to date, and
   * stale when a soft one says so. */
  isBanned(oc: Oc, request: HttpMessage, now: number): boolean {
    const from = this.rows.get(oc, row.BAN);
    if (this.bans.matches(from, () => this.subject(oc, now), request, now)) return true;
    this.bans.unref(from);
    this.rows.set(oc, row.BAN, this.bans.ref());
    this.bans.dropTail();
    const { staleSince } = this.bans;
    if (staleSince < Number.POSITIVE_INFINITY && this.soften(oc, staleSince))
      this.counters.bans_obj_softened++;
    return false;
  }

  /** What a ban may ask of an object; good until the next one is asked for. */
  subject(oc: Oc, now: number): BanSubject {
    const { rows, store, banSubject: what } = this;
    if (store.isLent(oc)) {
      store.head(oc, this.lentHead);
      what.http = this.lentHead;
    } else {
      this.banHead.turnTo(store.headChunk(oc), store.headAt(oc));
      what.http = this.banHead;
    }
    what.age = now - rows.getDouble(oc, row.T_ORIGIN);
    what.ttl = rows.getDouble(oc, row.TTL) - what.age;
    what.grace = rows.getDouble(oc, row.GRACE);
    what.keep = rows.getDouble(oc, row.KEEP);
    return what;
  }

  /** The objects that name a ban as the newest they were tested against. */
  objectsOf(number: number): Oc[] {
    const { rows } = this;
    const found: Oc[] = [];
    for (let oc = 1; oc < rows.end; oc++) {
      if (rows.get(oc, row.REFS) > 0 && rows.get(oc, row.BAN) === number) found.push(oc);
    }
    return found;
  }

  private add(parsed: BanExpression | string, now: number, soft: boolean): string | null {
    if (typeof parsed === 'string') return parsed;
    this.bans.add(parsed, now, this.limits.banDups, soft);
    return null;
  }
}
