// Tests objects against bans: at a lookup all that are newer than the object's last test, for the lurker and dry
// runs one by one.

import { HttpMessage } from '../../http1/message.ts';
import type { CacheState } from '../cache-state.ts';
import { StoredHead } from '../head-codec.ts';
import type { Lifetimes } from '../lifetimes.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { ObjectStore } from '../object-store.ts';
import type { BanHead, BanSubject } from './ban-expression.ts';

export class BanTester {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lifetimes: Lifetimes;
  /** An object under a ban's test, and its head: stored, or still lent by its fetch. */
  private readonly storedHead = new StoredHead();
  private readonly lentHead = new HttpMessage(0);
  private readonly subject = { http: this.storedHead as BanHead, age: 0, ttl: 0, grace: 0, keep: 0 };

  constructor(state: CacheState, store: ObjectStore, lifetimes: Lifetimes) {
    this.state = state;
    this.store = store;
    this.lifetimes = lifetimes;
  }

  /** Whether a ban the object has not been tested against yet matches it; if none does, it is up to date, and
   * stale when a soft one says so. */
  isBanned(oc: Oc, request: HttpMessage, now: number): boolean {
    const { objcores, bans, counters } = this.state;
    const from = objcores.get(oc, row.BAN);
    if (bans.matches(from, () => this.subjectOf(oc, now), request, now)) return true;
    bans.unref(from);
    objcores.set(oc, row.BAN, bans.ref());
    bans.dropTail();
    const { staleSince } = bans;
    if (staleSince < Number.POSITIVE_INFINITY && this.lifetimes.soften(oc, staleSince))
      counters.bans_obj_softened++;
    return false;
  }

  /** The object as bans may ask about it; good until the next one is asked for. */
  subjectOf(oc: Oc, now: number): BanSubject {
    const { store, subject } = this;
    const { objcores } = this.state;
    if (store.isLent(oc)) {
      store.head(oc, this.lentHead);
      subject.http = this.lentHead;
    } else {
      this.storedHead.turnTo(store.headChunk(oc), store.headAt(oc));
      subject.http = this.storedHead;
    }
    subject.age = now - objcores.getDouble(oc, row.T_ORIGIN);
    subject.ttl = objcores.getDouble(oc, row.TTL) - subject.age;
    subject.grace = objcores.getDouble(oc, row.GRACE);
    subject.keep = objcores.getDouble(oc, row.KEEP);
    return subject;
  }
}
