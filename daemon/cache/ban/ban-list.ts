// The list of bans, newest first, and which of them an object still has to be tested against.
//
// Every object names the newest ban it was tested against and counts as a reference to it; only newer ones
// are tested. Bans at the old end that nobody names can be dropped, since no object can ever be tested against them;
// that is done where Varnish does it (after a lookup's tests, after ban.list and by the lurker), so that the list
// shows the same. With several threads the list is in shared memory, and each thread has a copy of what does not change
// of a ban, with the expression compiled for itself: sync() brings it up to date, which every taking of the cache's lock
// does. The list never touches objects: it says whether one matches, and a test that must not take longer
// goes on later where it stopped. There is always at least one ban.

import type { HttpMessage } from '../../http1/message.ts';
import { LargeMap } from '../../large-map.ts';
import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import { RowTable } from '../row-table.ts';
import { Slab } from '../storage/slab.ts';
import {
  BAN_WORDS,
  Ban,
  FLAGS,
  NEWER,
  NUMBER,
  NumberedBans,
  SOFT,
  SOURCE,
  SOURCE_LENGTH,
  TIME,
} from './ban.ts';
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

/** Words of the list: numbers of the newest ban, of the oldest and of the next, its rows' ends, and open bans. */
const NEWEST = 0;
const OLDEST = 1;
const NEXT = 2;
const NEWEST_ROW = 3;
const OLDEST_ROW = 4;
/** Bans that need no request and are not done with. */
const OPEN = 5;
const LIST_WORDS = 6;

/** An expression as it was given: the words of a command, or one text of a program. */
export type BanSource = readonly string[] | string;

/** What a list that several threads have is given. */
export interface SharedBans {
  readonly memory: MemoryPart;
  /** Compiles what another thread has added; it was found to be right there. */
  parse(source: BanSource): BanExpression;
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
  private readonly byNumber = new NumberedBans();
  /** The newest one of each expression. */
  private readonly byText = new LargeMap<Ban>();
  private readonly rows: RowTable;
  private readonly own: Int32Array;
  /** Where expressions are written; null with one thread. */
  private readonly sources: Slab | null;
  private readonly parse: (source: BanSource) => BanExpression;
  private newest: Ban;
  private oldest: Ban;

  constructor(now: number, counters: BanCounters, shared: SharedBans | null = null) {
    this.counters = counters;
    const memory = shared?.memory ?? ownMemory();
    this.rows = new RowTable(BAN_WORDS, memory.part('rows'));
    this.own = memory.words(LIST_WORDS);
    this.sources = memory.isShared ? new Slab(0, memory.part('sources')) : null;
    this.parse = shared?.parse ?? (() => NOTHING);
    if (this.own[NEXT] !== 0) {
      // Another thread has begun the list: what is newer is copied at the first sync().
      const row = this.own[OLDEST_ROW] as number;
      this.newest = new Ban(this.rows, row, this.read(row));
      this.oldest = this.newest;
      this.byNumber.add(this.newest);
      return;
    }
    this.own[NEXT] = 1;
    const first = this.make(now, NOTHING, false, '');
    first.complete();
    this.byNumber.add(first);
    this.own[OLDEST] = first.number;
    this.own[OLDEST_ROW] = first.row;
    counters.bans++;
    counters.bans_completed++;
    counters.bans_added++;
    counters.bans_persisted_bytes += bytesOf(first);
    this.newest = first;
    this.oldest = first;
  }

  /** Number of the newest ban: an object that names it is up to date. */
  get current(): number {
    return Atomics.load(this.own, NEWEST);
  }

  /** The newest ban, as this thread knows it. */
  get last(): Ban {
    return this.newest;
  }

  /** Brings this thread's copy up to date. */
  sync(): void {
    const { own } = this;
    if (own[NEWEST] === this.newest.number && own[OLDEST] === this.oldest.number) return;
    this.copyNewer();
    while (this.oldest.number < (own[OLDEST] as number)) this.dropOldest();
  }

  private copyNewer(): void {
    const { rows, own } = this;
    // A ban that others have dropped names no newer one: its row may be another's.
    const isThere = this.newest.number >= (own[OLDEST] as number);
    let row = isThere ? rows.get(this.newest.row, NEWER) : (own[OLDEST_ROW] as number);
    for (; row !== 0; row = rows.get(row, NEWER)) this.append(new Ban(rows, row, this.read(row)));
  }

  private read(row: number): BanExpression {
    const { rows, sources } = this;
    const block = rows.get(row, SOURCE) >>> 0;
    if (block === 0 || sources === null) return NOTHING;
    const at = sources.offset(block);
    const text = Buffer.from(sources.chunk(block).subarray(at, at + rows.get(row, SOURCE_LENGTH)));
    return this.parse(JSON.parse(text.toString()) as BanSource);
  }

  private append(ban: Ban): void {
    ban.older = this.newest;
    this.newest.newer = ban;
    this.newest = ban;
    this.byNumber.add(ban);
    const same = this.byText.get(ban.expression.text);
    this.byText.set(ban.expression.text, ban);
    if (same === undefined) return;
    ban.olderSame = same;
    same.newerSame = ban;
  }

  private dropOldest(): void {
    const ban = this.oldest;
    this.byNumber.remove(ban);
    if (ban.newerSame !== null) ban.newerSame.olderSame = null;
    else if (this.byText.get(ban.expression.text) === ban) this.byText.delete(ban.expression.text);
    ban.leave();
    this.oldest = ban.newer as Ban;
    this.oldest.older = null;
  }

  /** Adds a ban; older ones with the same expression are completed when `dups` says so. */
  add(
    expression: BanExpression,
    now: number,
    dups: boolean,
    soft = false,
    source: BanSource = expression.text,
  ): void {
    const before = this.newest;
    const ban = this.make(now, expression, soft, source);
    this.rows.set(before.row, NEWER, ban.row);
    this.append(ban);
    this.counters.bans++;
    this.counters.bans_added++;
    this.counters.bans_persisted_bytes += bytesOf(ban);
    if (expression.usesRequest) this.counters.bans_req++;
    else this.addOpen(1);
    if (expression.usesObject) this.counters.bans_obj++;
    if (soft) this.counters.bans_soft++;
    // A soft ban says less than an older hard one, and a later time than an older soft one. Two bans on ttl or age
    // mean different moments.
    if (!dups || soft || expression.usesTime) return;
    for (let old = ban.olderSame; old !== null; ) {
      if (!old.completed) {
        this.complete(old);
        this.counters.bans_dups++;
      }
      // None of them has to be looked at again.
      const next: Ban | null = old.olderSame;
      old.newerSame = null;
      old.olderSame = null;
      old = next;
    }
    ban.olderSame = null;
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
    return (this.own[OPEN] as number) > 0;
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
      if (!ban.completed && !ban.expression.usesRequest) this.addOpen(-1);
      if (ban.completed) this.counters.bans_completed--;
      if (ban.expression.usesRequest) this.counters.bans_req--;
      if (ban.expression.usesObject) this.counters.bans_obj--;
      this.counters.bans--;
      this.counters.bans_deleted++;
      this.counters.bans_persisted_fragmentation += bytesOf(ban);
      this.dropOldest();
      const source = this.rows.get(ban.row, SOURCE);
      if (source !== 0) this.sources?.free(source >>> 0);
      this.rows.give(ban.row);
      this.own[OLDEST] = this.oldest.number;
      this.own[OLDEST_ROW] = this.oldest.row;
      dropped++;
    }
    return dropped;
  }

  /** Marks a ban as done with: the lurker does so when every object was tested against it. */
  complete(ban: Ban): void {
    if (ban.completed) return;
    ban.complete();
    if (!ban.expression.usesRequest) this.addOpen(-1);
    this.counters.bans_completed++;
  }

  /** Newest first. Who goes on in a later turn meets none that have come or gone meanwhile. */
  *[Symbol.iterator](): IterableIterator<Ban> {
    for (let ban: Ban | null = this.newest; ban !== null; ban = ban.older) yield ban;
  }

  private make(time: number, expression: BanExpression, soft: boolean, source: BanSource): Ban {
    const { rows, own } = this;
    const row = rows.take();
    const number = own[NEXT] as number;
    rows.setDouble(row, TIME, time);
    rows.set(row, NUMBER, number);
    rows.set(row, FLAGS, soft ? SOFT : 0);
    if (source !== '') this.write(row, source);
    own[NEXT] = number + 1;
    own[NEWEST_ROW] = row;
    Atomics.store(own, NEWEST, number);
    return new Ban(rows, row, expression);
  }

  private write(row: number, source: BanSource): void {
    const { rows, sources } = this;
    if (sources === null) return;
    const bytes = Buffer.from(JSON.stringify(source));
    const block = sources.alloc(bytes.length);
    if (block === 0)
      throw new Error(`an expression of ${bytes.length} bytes is too long for several threads`);
    sources.chunk(block).set(bytes, sources.offset(block));
    rows.set(row, SOURCE, block);
    rows.set(row, SOURCE_LENGTH, bytes.length);
  }

  private addOpen(count: number): void {
    this.own[OPEN] = (this.own[OPEN] as number) + count;
  }
}

const NOTHING: BanExpression = {
  tests: [],
  text: '',
  usesRequest: false,
  usesObject: false,
  usesTime: false,
};

/** Bytes of a ban in a file of bans. There is no such file: Varnish counts them all the same, and those of dropped
 * bans as waste. */
function bytesOf(ban: Ban): number {
  return 16 + ban.expression.text.length;
}
