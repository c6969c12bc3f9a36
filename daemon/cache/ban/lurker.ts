// The ban lurker: tests objects that nobody asks for against the bans that need no request, so that the list of
// bans stays short and no lookup has to do it. Works in rounds over the whole table, a bounded piece at a time.
//
// A round takes the bans that are old enough when it begins. When it has seen every object, those bans are done
// with: what came later was made under newer ones. Caution: an object that is still being fetched cannot be tested,
// so bans newer than it wait for the next round; and a ban that needs a request stops an object from counting as
// tested beyond it, though not from being tested. A piece may end in the middle of an object's bans.

import type { CacheState } from '../cache-state.ts';
import type { Lifetimes } from '../lifetimes.ts';
import * as row from '../objcore.ts';
import { type Oc, stateIn } from '../objcore.ts';
import type { ObjectLife } from '../object-life.ts';
import type { Ban } from './ban.ts';
import { type BanSubject, banMatches } from './ban-expression.ts';
import type { BanTester } from './ban-tester.ts';

/** Parameters, times in seconds. */
export interface LurkerLimits {
  /** ban_lurker_age: younger bans are left to lookups. */
  age: number;
  /** ban_lurker_batch: objects tested at a time. */
  batch: number;
  /** ban_lurker_sleep: from the beginning of one batch to that of the next; 0 turns the lurker off. */
  sleep: number;
  /** ban_cutoff: objects that were last tested against a ban further down the list go untested; 0 is none. */
  cutoff: number;
  /** ban_lurker_holdoff: rest in the middle of a batch while requests come in. */
  holdoff: number;
}

/** Rows and tests between two looks at the clock: a slow expression may take two milliseconds. */
const STRIDE = 64;
const TESTS = 16;
/** Seconds until the next look for work while bans have to come of age, and while there is none to test or the lurker
 * is turned off: an idle daemon is seldom woken. */
const IDLE = 0.05;
const NOTHING = 0.25;
/** Milliseconds of delay that later batches make up for. */
const DEBT = 100;

interface Round {
  /** Bans to test, newest first. */
  targets: Ban[];
  /** Numbers of the bans an object cannot be counted as tested against, ascending. */
  blocking: number[];
  /** Objects last tested before this ban go; 0 is none. */
  cutoff: number;
  next: Oc;
  end: Oc;
  /** The place among the bans at which the test of the next object goes on; 0 when it has not begun. */
  place: number;
  /** Time of the oldest soft ban that it matched so far; infinity when none did. */
  staleSince: number;
  /** The oldest ban that an object under way was made under. */
  unfinished: number;
  /** At its end: bans that it has been through. */
  finished: number;
}

/** What a round begins with, while the list is gone through. */
interface Gathering {
  next: Ban | null;
  /** How many bans were seen, where that counts. */
  place: number;
  readonly targets: Ban[];
  readonly blocking: number[];
  cutoff: number;
}

export class Lurker {
  private readonly state: CacheState;
  private readonly tester: BanTester;
  private readonly lifetimes: Lifetimes;
  private readonly life: ObjectLife;
  private round: Round | null = null;
  private gathering: Gathering | null = null;
  /** When the next batch may begin, in milliseconds of the steady clock. */
  private due = 0;
  /** The newest ban when the list was last tidied. */
  private tidied = 0;
  /** Transactions so far when it worked last. */
  private transactions = 0;
  /** When this step is to end, and its tests since it looked at the clock. */
  private until = 0;
  private unclocked = 0;

  constructor(state: CacheState, tester: BanTester, lifetimes: Lifetimes, life: ObjectLife) {
    this.state = state;
    this.tester = tester;
    this.lifetimes = lifetimes;
    this.life = life;
  }

  /** Works for a moment; returns the seconds to wait before the next call. */
  step(now: number): number {
    const { counters, limits } = this.state;
    const wait = this.work(now, limits.lurker);
    const transactions = this.state.transactions();
    // It stopped in the middle of a batch. While requests come in, they have the loop and the lock first.
    const pause = wait === 0 && transactions !== this.transactions ? limits.lurker.holdoff : wait;
    if (pause > wait) counters.bans_lurker_contention++;
    this.transactions = transactions;
    return pause;
  }

  private work(now: number, limits: LurkerLimits): number {
    this.until = this.state.millis() + this.state.longestStep;
    this.tidy();
    if (limits.sleep <= 0) {
      this.round = null;
      this.gathering = null;
      return NOTHING;
    }
    if (this.round === null) {
      this.gathering ??= { next: this.state.bans.last, place: 0, targets: [], blocking: [], cutoff: 0 };
      if (!this.gather(this.gathering, now, limits)) return 0;
      this.round = this.begin(this.gathering);
      this.gathering = null;
      if (this.round === null) return this.state.bans.hasUntested ? IDLE : NOTHING;
      this.due = this.state.millis();
    }
    const { round } = this;
    if (this.batch(round, now, limits)) return 0;
    if (round.next >= round.end) {
      if (!this.finish(round)) return 0;
      // An object that could not be tested in this round cannot be in a moment.
      return Math.max(IDLE, limits.sleep);
    }
    // Batches are begun at an even pace: what the work took and timers are late is no rest besides.
    const at = this.state.millis();
    this.due = Math.max(this.due + limits.sleep * 1000, at - DEBT);
    return Math.min(limits.sleep, Math.max(0, this.due - at) / 1000);
  }

  /** As in Varnish: a new ban for the lurker is when it looks whether old ones can go, turned off or not. */
  private tidy(): void {
    const { bans } = this.state;
    if (!bans.hasUntested || bans.current === this.tidied) return;
    this.tidied = bans.current;
    bans.dropTail();
  }

  /** Goes on through the list; whether it has come to its end. Bans that come meanwhile are for the next round, and who is
   * at one that goes has come to the end. */
  private gather(found: Gathering, now: number, limits: LurkerLimits): boolean {
    while (found.next !== null) {
      const ban = found.next;
      found.next = ban.older;
      if (limits.cutoff > 0 && ++found.place === limits.cutoff + 1) found.cutoff = ban.number + 1;
      if (!ban.completed) {
        if (!ban.expression.usesRequest && ban.time + limits.age <= now) found.targets.push(ban);
        else found.blocking.push(ban.number);
      }
      if (++this.unclocked >= STRIDE && this.isLate()) return found.next === null;
    }
    return true;
  }

  private begin({ targets, blocking, cutoff }: Gathering): Round | null {
    if (targets.length === 0) return null;
    return {
      targets,
      blocking: blocking.reverse(),
      cutoff,
      next: 1,
      end: this.state.objcores.end,
      place: 0,
      staleSince: Number.POSITIVE_INFINITY,
      unfinished: Number.POSITIVE_INFINITY,
      finished: 0,
    };
  }

  /** A batch, or what time allows of it; true when time ran out first. */
  private batch(round: Round, now: number, limits: LurkerLimits): boolean {
    let left = Math.max(1, limits.batch);
    while (round.next < round.end && left > 0) {
      if (round.next % STRIDE === 0 && this.isLate()) return true;
      const looked = this.look(round, round.next, now);
      if (looked === 'unfinished') return true;
      round.next++;
      round.place = 0;
      round.staleSince = Number.POSITIVE_INFINITY;
      if (looked === 'tested') left--;
    }
    return false;
  }

  private isLate(): boolean {
    this.unclocked = 0;
    return this.state.millis() >= this.until;
  }

  /** Tests one object, or goes on with it: it may have gone since, another may be in its place, and a lookup may have
   * tested it, all of which its ban says. */
  private look(round: Round, oc: Oc, now: number): 'tested' | 'unfinished' | 'nothing' {
    const { objcores, bans, counters } = this.state;
    const from = objcores.get(oc, row.BAN);
    const isThere = row.isHeld(objcores.get(oc, row.REFS)) && objcores.get(oc, row.OBJHEAD) !== 0;
    if (!isThere || from === 0) return 'nothing';
    const newest = round.targets[0]?.number ?? 0;
    if (from >= newest && from >= round.cutoff) return 'nothing';
    if (stateIn(objcores.get(oc, row.META)) === row.STATE_BUSY) {
      round.unfinished = Math.min(round.unfinished, from);
      return 'nothing';
    }
    if (from < round.cutoff) {
      counters.bans_lurker_obj_killed_cutoff++;
      this.life.kill(oc);
      return 'tested';
    }
    const began = round.place > 0;
    const verdict = this.test(round, oc, from, now);
    if (verdict === 'banned' || verdict === 'unfinished') return verdict === 'banned' ? 'tested' : verdict;
    if (round.staleSince < Number.POSITIVE_INFINITY && this.lifetimes.soften(oc, round.staleSince))
      counters.bans_lurker_obj_softened++;
    const tested = this.testedUpTo(round, from, newest);
    if (tested > from) {
      bans.unref(from);
      objcores.publish(oc, row.BAN, bans.refAt(tested));
    }
    return began ? 'tested' : verdict;
  }

  /** The bans of the round that an object has not been tested against, from round.place on. */
  private test(
    round: Round,
    oc: Oc,
    from: number,
    now: number,
  ): 'tested' | 'banned' | 'unfinished' | 'nothing' {
    const { counters, events } = this.state;
    const { targets } = round;
    let what: BanSubject | null = null;
    for (; round.place < targets.length; round.place++) {
      const ban = targets[round.place] as Ban;
      if (ban.number <= from) break;
      if (ban.completed) continue;
      if (this.unclocked >= TESTS && this.isLate()) return 'unfinished';
      what ??= this.tester.subjectOf(oc, now);
      const { tests } = ban.expression;
      this.unclocked += tests.length;
      counters.bans_lurker_tested++;
      counters.bans_lurker_tests_tested += tests.length;
      if (!banMatches(ban.expression, what, null, now - ban.time)) continue;
      if (ban.soft) {
        round.staleSince = ban.time;
        continue;
      }
      counters.bans_lurker_obj_killed++;
      events.banned(oc);
      this.life.kill(oc);
      return 'banned';
    }
    return what === null ? 'nothing' : 'tested';
  }

  /** The newest ban that an object last tested at `from` counts as tested against after this round. */
  private testedUpTo(round: Round, from: number, newest: number): number {
    const { blocking, targets } = round;
    const stop = blocking[firstWhere(blocking.length, (i) => (blocking[i] as number) > from)];
    if (stop === undefined || stop > newest) return newest;
    const before = targets[firstWhere(targets.length, (i) => (targets[i] as Ban).number < stop)];
    return before === undefined ? from : Math.max(from, before.number);
  }

  /** Has the bans of a round done with; whether all of them are. */
  private finish(round: Round): boolean {
    const { bans } = this.state;
    const { targets } = round;
    while (round.finished < targets.length) {
      const ban = targets[round.finished++] as Ban;
      if (ban.number <= round.unfinished) bans.complete(ban);
      if (++this.unclocked >= STRIDE && this.isLate()) break;
    }
    if (round.finished < targets.length) return false;
    this.round = null;
    bans.dropTail();
    return true;
  }
}

/** The first place of so many for which this holds, and for all after it. */
function firstWhere(count: number, holds: (i: number) => boolean): number {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
