// Tests objects against bans: a lookup against all that are newer than the object's last test, the lurker and dry runs one by
// one.
//
// A lookup tests within the budget of its turn (TestTurns). The progress of an object's test is kept while requests wait, and the
// next lookup of the object continues there, so that many requests test it once. Caution: meanwhile the row may be freed and
// reused, or the lurker may test the object further; in both cases the row has a ban that is newer than where the test began, or
// the test ends sooner.

import { HttpMessage } from '../../http1/message.ts';
import type { CacheState } from '../cache-state.ts';
import { StoredHead } from '../head-codec.ts';
import type { Lifetimes } from '../lifetimes.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { ObjectStore } from '../object-store.ts';
import { isNewer } from '../serial.ts';
import type { Waiter } from '../waiting-list.ts';
import type { BanHead, BanSubject } from './ban-expression.ts';
import { type BanVerdict, BanWalk } from './ban-list.ts';

export class BanTester {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly lifetimes: Lifetimes;
  /** Head of the object under test: stored, or still lent by its fetch. */
  private readonly storedHead = new StoredHead();
  private readonly lentHead = new HttpMessage(0);
  /** Unfinished tests by object; cleared when no request waits. */
  private readonly walks = new Map<Oc, BanWalk>();
  /** For the next test: most finish in the turn in which they began. */
  private walk = new BanWalk();
  readonly turns: TestTurns;
  private readonly subject = {
    http: this.storedHead as BanHead,
    age: 0,
    unused: 0,
    ttl: 0,
    grace: 0,
    keep: 0,
    hitMiss: false,
    hitPass: false,
  };

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

  /** Tests an object against the bans that are newer than its last test. When it passes, it is up to date, and stale if a soft
   * ban matched; when unfinished, the request must wait for its turn. */
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

  /** The unfinished test of an object, or a new one. */
  private walkOf(oc: Oc, from: number): BanWalk {
    const begun = this.walks.get(oc);
    if (begun !== undefined) {
      if (isNewer(begun.top, from)) return begun;
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
    // Published after the lifetimes: a lookup without the lock that sees this ban sees them.
    objcores.publish(oc, row.BAN, bans.refAt(walk.top));
    bans.dropTail();
  }

  /** The subject of a ban's tests; valid until the next call. */
  subjectOf(oc: Oc, now: number): BanSubject {
    const { store, subject } = this;
    const { objcores } = this.state;
    if (store.isLent(oc)) {
      store.head(oc, this.lentHead);
      subject.http = this.lentHead;
    } else {
      this.storedHead.pointTo(store.headChunk(oc), store.headAt(oc));
      subject.http = this.storedHead;
    }
    subject.age = now - objcores.getDouble(oc, row.T_ORIGIN);
    subject.unused = now - this.lastHit(oc);
    subject.ttl = objcores.getDouble(oc, row.TTL) - subject.age;
    subject.grace = objcores.getDouble(oc, row.GRACE);
    subject.keep = objcores.getDouble(oc, row.KEEP);
    const meta = objcores.get(oc, row.META);
    subject.hitMiss = (meta & row.OF_HIT_MISS) !== 0;
    subject.hitPass = (meta & row.OF_HIT_PASS) !== 0;
    return subject;
  }

  /** Epoch seconds; of an object that cannot be evicted yet, when it was made. */
  private lastHit(oc: Oc): number {
    const { objcores, epoch } = this.state;
    const isInLru = (objcores.get(oc, row.META) & row.OF_IN_LRU) !== 0;
    return isInLru
      ? epoch + objcores.get(oc, row.LRU_TIME) / row.LRU_TICKS
      : objcores.getDouble(oc, row.T_ORIGIN);
  }
}

/** Tests per turn. Measured: 0.5 to 1.4 microseconds each. */
const A_TURN = 1000;
/** Part of them that is reserved for new lookups. */
const FOR_NEW = 250;
/** Tests of one object while others wait (chosen): many compared with the cost of another lookup. */
const A_SLICE = 250;
/** A resumed request counts as this many tests: its next steps take as long. */
const A_WAKE = 20;
/** A millisecond counts as at least this many tests: slow tests get half a millisecond per turn (chosen). */
const PER_MILLI = 2000;
/** Tests between two reads of the clock, which cost 1 % of them: a slow expression may take two milliseconds. */
const STRIDE = 8;

interface Waiting {
  waiter: Waiter;
  gone: boolean;
}

/**
 * The budget of ban tests per turn of the event loop: a lookup whose object needs more waits and resumes in a later turn.
 * Otherwise thousands of new bans would delay all other requests for as long as one object takes.
 *
 * Waiting lookups are served in order, a slice each. Part of each turn is reserved for new lookups: most need few tests and do
 * not have to wait. Tests are counted rather than asked for one by one (daemon/turns), since a test takes as long as asking;
 * time counts as well, since an expression may take a hundred times as long as another.
 */
export class TestTurns {
  private readonly defer: (run: () => void) => void;
  private readonly millis: () => number;
  /** Called when no lookup waits. */
  private readonly onIdle: () => void;
  private readonly next: () => void;
  private queue: Waiting[] = [];
  private scheduled = false;
  /** Tests left in this turn, and of the current lookup. */
  private left = A_TURN;
  private allowed = 0;
  /** When the current lookup began, and its tests before and after the last read of the clock. */
  private since = 0;
  private clocked = 0;
  private unclocked = 0;

  /** @param defer runs something in a later turn of the event loop
   * @param millis milliseconds of a steady clock */
  constructor(defer: (run: () => void) => void, millis: () => number, onIdle: () => void) {
    this.defer = defer;
    this.millis = millis;
    this.onIdle = onIdle;
    this.next = () => this.serve();
  }

  /** Called when a lookup begins to test an object. */
  begin(): void {
    this.allowed = this.queue.length === 0 ? this.left : Math.min(this.left, A_SLICE);
    this.since = this.millis();
    this.clocked = 0;
    this.unclocked = 0;
    this.schedule();
  }

  /** Whether it may make another test in this turn. */
  get more(): boolean {
    return this.allowed > 0;
  }

  /** Charges tests that were made. */
  spent(tests: number): void {
    this.charge(tests);
    this.unclocked += tests;
    if (this.unclocked >= STRIDE) this.readClock();
  }

  /** Queues a request; returns how to cancel. */
  wait(waiter: Waiter): () => void {
    const waiting: Waiting = { waiter, gone: false };
    this.queue.push(waiting);
    this.schedule();
    return () => {
      // Skipped when its turn comes: removing it would move the others.
      waiting.gone = true;
    };
  }

  private charge(tests: number): void {
    this.allowed -= tests;
    this.left -= tests;
  }

  private readClock(): void {
    this.clocked += this.unclocked;
    this.unclocked = 0;
    const late = Math.floor((this.millis() - this.since) * PER_MILLI) - this.clocked;
    if (late <= 0) return;
    this.clocked += late;
    this.charge(late);
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.defer(this.next);
  }

  private serve(): void {
    this.scheduled = false;
    this.left = A_TURN;
    // A request with more to test queues itself again, at the end.
    const { queue } = this;
    let served = 0;
    while (served < queue.length && this.left > FOR_NEW) {
      const waiting = queue[served++] as Waiting;
      if (waiting.gone) continue;
      waiting.gone = true;
      this.left -= A_WAKE;
      waiting.waiter.wake(false);
    }
    queue.splice(0, served);
    if (queue.length > 0) this.schedule();
    else this.onIdle();
  }
}
