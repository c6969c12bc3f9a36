// The list of bans, newest first, and the test of an object against them.
//
// Each object refers to the newest ban it was tested against and counts as a reference to it; only newer ones are tested.
// Bans at the old end without references are dropped, since no object can be tested against them; this happens where Varnish
// does it (after a lookup's tests, after ban.list and by the lurker), so that the list shows the same. The list is in shared
// memory; each thread has a copy of the immutable part of each ban, with the expression compiled for itself, which
// sync() updates whenever the cache's lock is taken. Never touches objects. A test can be interrupted and resumed. There is
// always at least one ban.

import type { HttpMessage } from '../../http1/message.ts';
import { LargeMap } from '../../large-map.ts';
import { type MemoryPart, ownMemory } from '../../threads/shared-memory.ts';
import type { CacheCounters } from '../cache-counters.ts';
import { RowTable } from '../row-table.ts';
import { isNewer, nextSerial } from '../serial.ts';
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

/** Words of the list: numbers of the newest ban, the oldest and the next one; rows of the newest and the oldest; open bans. */
const NEWEST = 0;
const OLDEST = 1;
const NEXT = 2;
const NEWEST_ROW = 3;
const OLDEST_ROW = 4;
/** Bans without req.* tests that are not completed: work for the lurker. */
const OPEN = 5;
const LIST_WORDS = 6;

/** The source of an expression: the words of a command, or one text of a program. */
export type BanSource = readonly string[] | string;

export interface SharedBans {
  readonly memory: MemoryPart;
  /** Compiles an expression that another thread has added, and so has validated. */
  parse(source: BanSource): BanExpression;
}

/** Progress of the test of one object, from the newest ban to older ones as in Varnish. */
export class BanWalk {
  /** The newest ban when the test began. */
  top = 0;
  /** The next ban to test. */
  at = 0;
  /** Time of the oldest soft ban that matched so far; infinity when none did. */
  staleSince = Number.POSITIVE_INFINITY;
}

/** Limits the tests of one turn. */
export interface TestBudget {
  readonly more: boolean;
  spent(tests: number): void;
}

export type BanVerdict = 'passed' | 'banned' | 'unfinished';

/** Bans dropped at a time. A guess: about a millisecond of work. */
const DROPPED = 1000;
/** Skipped completed bans that cost as much as one test. A guess. */
const SKIPPED = 32;

export class BanList {
  private readonly counters: CacheCounters;
  private readonly byNumber = new NumberedBans();
  /** The newest one of each expression. */
  private readonly byText = new LargeMap<Ban>();
  private readonly rows: RowTable;
  private readonly own: Int32Array;
  private readonly memory: MemoryPart;
  /** The sources of expressions, for other threads; null with one thread. */
  private readonly sources: Slab | null;
  private readonly parse: (source: BanSource) => BanExpression;
  private newest: Ban;
  private oldest: Ban;

  /** @param first number of the first ban */
  constructor(now: number, counters: CacheCounters, shared: SharedBans | null = null, first = 1) {
    this.counters = counters;
    const memory = shared?.memory ?? ownMemory();
    this.memory = memory;
    this.rows = new RowTable(BAN_WORDS, memory.part('rows'));
    this.own = memory.words(LIST_WORDS);
    this.sources = memory.isShared ? new Slab(0, memory.part('sources')) : null;
    this.parse = shared?.parse ?? (() => NOTHING);
    if (this.own[NEXT] !== 0) {
      // Another thread has created the list: the first sync() copies newer bans.
      const row = this.own[OLDEST_ROW] as number;
      this.newest = new Ban(this.rows, row, this.read(row));
      this.oldest = this.newest;
      this.byNumber.add(this.newest);
      return;
    }
    this.own[NEXT] = first;
    const ban = this.make(now, NOTHING, false, '');
    ban.complete();
    this.byNumber.add(ban);
    this.own[OLDEST] = ban.number;
    this.own[OLDEST_ROW] = ban.row;
    counters.bans++;
    counters.bans_completed++;
    counters.bans_added++;
    counters.bans_persisted_bytes += bytesOf(ban);
    this.newest = ban;
    this.oldest = ban;
  }

  /** Number of the newest ban: an object with this number is up to date. */
  get current(): number {
    return Atomics.load(this.own, NEWEST);
  }

  /** The newest ban known to this thread. */
  get last(): Ban {
    return this.newest;
  }

  /** Brings this thread's copy up to date. */
  sync(): void {
    const { own } = this;
    if (own[NEWEST] === this.newest.number && own[OLDEST] === this.oldest.number) return;
    this.copyNewer();
    while (isNewer(own[OLDEST] as number, this.oldest.number)) this.dropOldest();
  }

  private copyNewer(): void {
    const { rows, own } = this;
    // The row of a dropped ban may have been reused.
    const isListed = !isNewer(own[OLDEST] as number, this.newest.number);
    let row = isListed ? rows.get(this.newest.row, NEWER) : (own[OLDEST_ROW] as number);
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

  /** Adds a ban; with `dups`, older ones with the same expression are completed. */
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
    // A soft ban does not replace an older hard one, and has a later time than an older soft one. Bans on ttl or age refer to
    // their own moments.
    if (!dups || soft || expression.usesTime) return;
    for (let old = ban.olderSame; old !== null; ) {
      if (!old.completed) {
        this.complete(old);
        this.counters.bans_dups++;
      }
      // Completed ones need no links.
      const next: Ban | null = old.olderSame;
      old.newerSame = null;
      old.olderSame = null;
      old = next;
    }
    ban.olderSame = null;
  }

  /** Takes a reference to the newest ban for an object; returns the number to store in its row. */
  ref(): number {
    this.newest.refs++;
    return this.newest.number;
  }

  /** The same for a ban that is still in the list. */
  refAt(number: number): number {
    (this.byNumber.get(number) as Ban).refs++;
    return number;
  }

  unref(number: number): void {
    const ban = this.byNumber.get(number);
    if (ban !== undefined) ban.refs--;
  }

  /** unref() for many objects with the same ban. */
  unrefAll(number: number, count: number): void {
    const ban = this.byNumber.get(number);
    if (ban !== undefined) ban.refs -= count;
  }

  /** Whether the lurker may have work. */
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

  /** Continues a test within the budget: whether a hard ban newer than `from` matches. */
  test(
    walk: BanWalk,
    from: number,
    subject: () => BanSubject,
    request: HttpMessage,
    now: number,
    budget: TestBudget,
  ): BanVerdict {
    let tested: BanSubject | null = null;
    let skipped = 0;
    // A ban that has left the list is older than `from`, which the lurker has advanced meanwhile.
    for (
      let ban = this.byNumber.get(walk.at) ?? null;
      ban !== null && isNewer(ban.number, from);
      ban = ban.older
    ) {
      if (!budget.more) {
        walk.at = ban.number;
        return 'unfinished';
      }
      if (ban.completed) {
        if (++skipped % SKIPPED === 0) budget.spent(1);
        continue;
      }
      tested ??= subject();
      const { tests } = ban.expression;
      budget.spent(tests.length);
      this.counters.bans_tests_tested += tests.length;
      if (!banMatches(ban.expression, tested, request, now - ban.time)) continue;
      if (!ban.soft) return 'banned';
      walk.staleSince = ban.time;
    }
    return 'passed';
  }

  /** Drops at most `most` bans at the old end that no object refers to. */
  dropTail(most = DROPPED): number {
    this.memory.assertHeld();
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

  /** Completes a ban: the lurker does when every object was tested against it. */
  complete(ban: Ban): void {
    if (ban.completed) return;
    ban.complete();
    if (!ban.expression.usesRequest) this.addOpen(-1);
    this.counters.bans_completed++;
  }

  /** Newest first. Safe to continue in a later turn. */
  *[Symbol.iterator](): IterableIterator<Ban> {
    for (let ban: Ban | null = this.newest; ban !== null; ban = ban.older) yield ban;
  }

  private make(time: number, expression: BanExpression, soft: boolean, source: BanSource): Ban {
    const { rows, own } = this;
    this.memory.assertHeld();
    const row = rows.take();
    const number = own[NEXT] as number;
    rows.setDouble(row, TIME, time);
    rows.set(row, NUMBER, number);
    rows.set(row, FLAGS, soft ? SOFT : 0);
    if (source !== '') this.write(row, source);
    own[NEXT] = nextSerial(number);
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

/** Bytes of a ban in persistent storage, which does not exist here: counted as in Varnish, which counts those of dropped bans as
 * fragmentation. */
function bytesOf(ban: Ban): number {
  return 16 + ban.expression.text.length;
}
