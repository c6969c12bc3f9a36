// Tests objects against bans: at a lookup all that are newer than the object's last test, for the lurker and dry
// runs one by one.
//
// A lookup tests what its turn allows. How far an object's test has come is kept while requests wait for their turns,
// and whoever looks up the object next goes on there: many requests test it once. Caution: the object may go meanwhile
// and its row become another's, or the lurker may test it further; in both cases the row names a ban that is newer than
// where the test began, or the test is over sooner.

import { HttpMessage } from '../../http1/message.ts';
import type { CacheState } from '../cache-state.ts';
import { StoredHead } from '../head-codec.ts';
import type { Lifetimes } from '../lifetimes.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { ObjectStore } from '../object-store.ts';
import type { BanHead, BanSubject } from './ban-expression.ts';
import { type BanVerdict, BanWalk } from './ban-list.ts';
import { TestTurns } from './test-turns.ts';

export class BanTester {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lifetimes: Lifetimes;
  /** An object under a ban's test, and its head: stored, or still lent by its fetch. */
  private readonly storedHead = new StoredHead();
  private readonly lentHead = new HttpMessage(0);
  /** Tests that have begun and wait for their turns, by object; cleared when nobody waits. */
  private readonly walks = new Map<Oc, BanWalk>();
  /** The next one to begin: most end in the turn in which they began. */
  private walk = new BanWalk();
  readonly turns: TestTurns;
  private readonly subject = { http: this.storedHead as BanHead, age: 0, ttl: 0, grace: 0, keep: 0 };

  constructor(state: CacheState, store: ObjectStore, lifetimes: Lifetimes) {
    this.state = state;
    this.store = store;
    this.lifetimes = lifetimes;
    this.turns = new TestTurns(
      (run) => state.turns.later(run),
      state.millis,
      () => this.walks.clear(),
    );
  }

  /** Tests an object against the bans that it has not been tested against. When it passed, it is up to date, and stale
   * when a soft ban says so; unfinished, the request has to wait for its turn. */
  test(oc: Oc, request: HttpMessage, now: number): BanVerdict {
    const { turns, walks } = this;
    const { objcores, bans } = this.state;
    const subject = (): BanSubject => this.subjectOf(oc, now);
    turns.begin();
    for (;;) {
      const from = objcores.get(oc, row.BAN);
      if (from === bans.current) return 'passed';
      const walk = this.walkOf(oc, from);
      const verdict = bans.test(walk, from, subject, request, now, turns);
      if (verdict === 'unfinished') {
        if (walk === this.walk) {
          walks.set(oc, walk);
          this.walk = new BanWalk();
        }
        return verdict;
      }
      if (walk !== this.walk) walks.delete(oc);
      if (verdict === 'banned') return verdict;
      this.pass(oc, from, walk);
    }
  }

  /** The test of an object that has begun, or a new one. */
  private walkOf(oc: Oc, from: number): BanWalk {
    const begun = this.walks.get(oc);
    if (begun !== undefined) {
      if (begun.top > from) return begun;
      this.walks.delete(oc);
    }
    this.state.bans.begin(this.walk);
    return this.walk;
  }

  private pass(oc: Oc, from: number, walk: BanWalk): void {
    const { objcores, bans, counters } = this.state;
    if (walk.staleSince < Number.POSITIVE_INFINITY && this.lifetimes.soften(oc, walk.staleSince))
      counters.bans_obj_softened++;
    bans.unref(from);
    // Who sees this without the lock sees the lifetimes as the bans have left them.
    objcores.publish(oc, row.BAN, bans.refAt(walk.top));
    bans.dropTail();
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
