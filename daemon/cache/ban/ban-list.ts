// The list of bans, newest first, and which of them an object still has to be tested against.
//
// Every object names the newest ban it was tested against and counts as a reference to it; only newer ones
// are tested. Bans at the old end that nobody names can be dropped, since no object can ever be tested against them;
// that is done where Varnish does it (after a lookup's tests, after ban.list and by the lurker), so that the list
// shows the same. The list never touches objects: it says whether one matches, and a test that must not take longer
// goes on later where it stopped. There is always at least one ban.

import type { HttpMessage } from '../../http1/message.ts';
import { type BanExpression, type BanSubject, banMatches } from './ban-expression.ts';

/** Counters of the list, by their MAIN names. */
export interface BanCounters {
  bans: number;
  bans_completed: number;
  bans_obj: number;
  bans_req: number;
  bans_added: number;
  bans_deleted: number;
  bans_tested: number;
  bans_tests_tested: number;
  bans_dups: number;
  bans_soft: number;
  bans_persisted_bytes: number;
  bans_persisted_fragmentation: number;
}

export interface Ban {
  readonly number: number;
  /** Epoch seconds. */
  readonly time: number;
  readonly expression: BanExpression;
  /** Objects that match become stale as of `time` instead of going. */
  readonly soft: boolean;
  refs: number;
  /** Nothing needs to be tested against it any more. */
  completed: boolean;
  newer: Ban | null;
  older: Ban | null;
}

/** How far the test of one object has come. It goes from the newest ban to older ones, as in Varnish. */
export class BanWalk {
  /** The newest ban when it began: what has come since is not in it. */
  top = 0;
  /** The next ban to test. */
  at = 0;
  /** Time of the oldest soft ban that matched so far; infinity when none did. */
  staleSince = Number.POSITIVE_INFINITY;
}

/** What allows a test to go on. */
export interface TestBudget {
  readonly more: boolean;
  spent(tests: number): void;
}

export type BanVerdict = 'passed' | 'banned' | 'unfinished';

/** Bans dropped at a time. A guess: about a millisecond of work. */
const DROPPED = 1000;
/** Completed bans that cost as much as a test. A guess. */
const SKIPPED = 32;

export class BanList {
  private readonly counters: BanCounters;
  private readonly byNumber = new Map<number, Ban>();
  private newest: Ban;
  private oldest: Ban;
  private next = 1;
  /** Bans that need no request and are not done with. */
  private open = 0;

  constructor(now: number, counters: BanCounters) {
    this.counters = counters;
    const first = this.make(now, {
      tests: [],
      text: '',
      usesRequest: false,
      usesObject: false,
      usesTime: false,
    });
    first.completed = true;
    counters.bans++;
    counters.bans_completed++;
    counters.bans_added++;
    counters.bans_persisted_bytes += bytesOf(first);
    this.newest = first;
    this.oldest = first;
  }

  /** Number of the newest ban: an object that names it is up to date. */
  get current(): number {
    return this.newest.number;
  }

  /** Adds a ban; older ones with the same expression are completed when `dups` says so. */
  add(expression: BanExpression, now: number, dups: boolean, soft = false): void {
    const ban = this.make(now, expression, soft);
    ban.older = this.newest;
    this.newest.newer = ban;
    this.newest = ban;
    this.counters.bans++;
    this.counters.bans_added++;
    this.counters.bans_persisted_bytes += bytesOf(ban);
    if (expression.usesRequest) this.counters.bans_req++;
    else this.open++;
    if (expression.usesObject) this.counters.bans_obj++;
    if (soft) this.counters.bans_soft++;
    // A soft ban says less than an older hard one, and a later time than an older soft one. Two bans on ttl or age
    // mean different moments.
    if (!dups || soft || expression.usesTime) return;
    for (let old: Ban | null = ban.older; old !== null; old = old.older) {
      if (old.completed || old.expression.text !== expression.text) continue;
      this.complete(old);
      this.counters.bans_dups++;
    }
  }

  /** Counts an object as up to date with the newest ban; returns the ban's number for it to keep. */
  ref(): number {
    this.newest.refs++;
    return this.newest.number;
  }

  /** The same for an older ban, which is still in the list. */
  refAt(number: number): number {
    (this.byNumber.get(number) as Ban).refs++;
    return number;
  }

  unref(number: number): void {
    const ban = this.byNumber.get(number);
    if (ban !== undefined) ban.refs--;
  }

  /** The same for many objects that name one ban. */
  unrefAll(number: number, count: number): void {
    const ban = this.byNumber.get(number);
    if (ban !== undefined) ban.refs -= count;
  }

  /** Whether there may be bans for the lurker to work on. */
  get hasUntested(): boolean {
    return this.open > 0;
  }

  /** Begins the test of an object. */
  begin(walk: BanWalk): void {
    walk.top = this.newest.number;
    walk.at = walk.top;
    walk.staleSince = Number.POSITIVE_INFINITY;
    this.counters.bans_tested++;
  }

  /** Goes on with a test: whether a hard ban newer than `from` matches, as far as the budget goes. */
  test(
    walk: BanWalk,
    from: number,
    subject: () => BanSubject,
    request: HttpMessage,
    now: number,
    budget: TestBudget,
  ): BanVerdict {
    let what: BanSubject | null = null;
    let skipped = 0;
    // One that is not in the list any more is older than `from`, which the lurker has moved meanwhile.
    for (let ban = this.byNumber.get(walk.at) ?? null; ban !== null && ban.number > from; ban = ban.older) {
      if (!budget.more) {
        walk.at = ban.number;
        return 'unfinished';
      }
      if (ban.completed) {
        if (++skipped % SKIPPED === 0) budget.spent(1);
        continue;
      }
      what ??= subject();
      const { tests } = ban.expression;
      budget.spent(tests.length);
      this.counters.bans_tests_tested += tests.length;
      if (!banMatches(ban.expression, what, request, now - ban.time)) continue;
      if (!ban.soft) return 'banned';
      walk.staleSince = ban.time;
    }
    return 'passed';
  }

  /** Drops bans at the old end that no object names, at most so many: never a long step. */
  dropTail(most = DROPPED): number {
    let dropped = 0;
    while (dropped < most && this.oldest !== this.newest && this.oldest.refs === 0) {
      const ban = this.oldest;
      if (!ban.completed && !ban.expression.usesRequest) this.open--;
      if (ban.completed) this.counters.bans_completed--;
      if (ban.expression.usesRequest) this.counters.bans_req--;
      if (ban.expression.usesObject) this.counters.bans_obj--;
      this.counters.bans--;
      this.counters.bans_deleted++;
      this.counters.bans_persisted_fragmentation += bytesOf(ban);
      this.byNumber.delete(ban.number);
      // A round of the lurker may still name it.
      ban.completed = true;
      this.oldest = ban.newer as Ban;
      this.oldest.older = null;
      dropped++;
    }
    return dropped;
  }

  /** Marks a ban as done with: the lurker does so when every object was tested against it. */
  complete(ban: Ban): void {
    if (ban.completed) return;
    ban.completed = true;
    if (!ban.expression.usesRequest) this.open--;
    this.counters.bans_completed++;
  }

  /** Newest first. */
  *[Symbol.iterator](): IterableIterator<Ban> {
    for (let ban: Ban | null = this.newest; ban !== null; ban = ban.older) yield ban;
  }

  private make(time: number, expression: BanExpression, soft = false): Ban {
    const ban: Ban = {
      number: this.next++,
      time,
      expression,
      soft,
      refs: 0,
      completed: false,
      newer: null,
      older: null,
    };
    this.byNumber.set(ban.number, ban);
    return ban;
  }
}

/** Bytes of a ban in a file of bans. There is no such file: Varnish counts them all the same, and those of dropped
 * bans as waste. */
function bytesOf(ban: Ban): number {
  return 16 + ban.expression.text.length;
}
