// The ban lurker: tests objects in the background against the bans that need no request, so that the list stays short and
// lookups do not have to. Works in rounds over the whole table, in bounded steps.
//
// A round takes the bans that are old enough when it begins. When every object was tested, those bans are completed: later
// objects were made under newer ones. Caution: a busy object cannot be tested, so bans newer than it wait for the next
// round; and a ban that needs a request limits how far an object counts as tested, though not which bans it is tested
// against. A step may end in the middle of an object's bans.

import type { CacheState, LurkerLimits } from '../cache-state.ts';
import type { Lifetimes } from '../lifetimes.ts';
import * as row from '../objcore.ts';
import { type Oc, stateIn } from '../objcore.ts';
import type { ObjectLife } from '../object-life.ts';
import { isNewer, nextSerial } from '../serial.ts';
import type { Ban } from './ban.ts';
import { type BanSubject, banMatches } from './ban-expression.ts';
import type { BanTester } from './ban-tester.ts';

/** Rows and tests between two reads of the clock: a slow expression may take two milliseconds. */
const STRIDE = 64;
const TESTS = 16;
/** Seconds until the next check while bans are too young, and while there are none or the lurker is off: an idle daemon is
 * seldom woken. */
const IDLE = 0.05;
const NOTHING = 0.25;
/** Milliseconds of delay that later batches may catch up. */
const DEBT = 100;

interface Round {
  /** Bans to test, newest first. */
  targets: Ban[];
  /** Numbers of the bans that an object cannot count as tested against, ascending. */
  blocking: number[];
  /** Objects last tested before this ban are removed; 0 is none. */
  cutoff: number;
  next: Oc;
  end: Oc;
  /** Index in `targets` at which the test of the next object continues; 0 when it has not begun. */
  place: number;
  /** Time of the oldest soft ban that matched it so far; infinity when none did. */
  staleSince: number;
  /** The oldest ban of a busy object; 0 is none. */
  unfinished: number;
  /** At its end: targets that were completed or skipped. */
  finished: number;
}

/** A round in preparation, while the list is walked. */
interface Gathering {
  next: Ban | null;
  /** Bans visited, with a cutoff. */
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
  /** Transactions at the last step. */
  private transactions = 0;
  /** When this step must end, and tests since the last read of the clock. */
  private until = 0;
  private unclocked = 0;

  constructor(state: CacheState, tester: BanTester, lifetimes: Lifetimes, life: ObjectLife) {
    this.state = state;
    this.tester = tester;
    this.lifetimes = lifetimes;
    this.life = life;
  }

  /** Does a bounded step; returns the seconds until the next one. */
  step(now: number): number {
    const { counters, limits } = this.state;
    const wait = this.work(now, limits.lurker);
    const transactions = this.state.transactions();
    // In the middle of a batch: requests that come in get the loop and the lock first.
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
    // Batches begin at an even pace: the time of the work and late timers are not added to the sleep.
    const at = this.state.millis();
    this.due = Math.max(this.due + limits.sleep * 1000, at - DEBT);
    return Math.min(limits.sleep, Math.max(0, this.due - at) / 1000);
  }

  /** As in Varnish, old bans are dropped when the lurker gets a new one, also when it is off. */
  private tidy(): void {
    const { bans } = this.state;
    if (!bans.hasUntested || bans.current === this.tidied) return;
    this.tidied = bans.current;
    bans.dropTail();
  }

  /** Continues the walk of the list; true at its end. Bans that are added meanwhile are for the next round; if the current one
   * is dropped, so are all older ones. */
  private gather(found: Gathering, now: number, limits: LurkerLimits): boolean {
    while (found.next !== null) {
      const ban = found.next;
      found.next = ban.older;
      if (limits.cutoff > 0 && ++found.place === limits.cutoff + 1) found.cutoff = nextSerial(ban.number);
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
      unfinished: 0,
      finished: 0,
    };
  }

  /** A batch, or part of it; true when the time is up. */
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

  /** Tests one object, or continues: meanwhile it may have been freed, its row reused, or a lookup may have tested it, which its
   * BAN shows. */
  private look(round: Round, oc: Oc, now: number): 'tested' | 'unfinished' | 'nothing' {
    const { objcores, bans, counters } = this.state;
    const from = objcores.get(oc, row.BAN);
    const isListed = row.isHeld(objcores.get(oc, row.REFS)) && objcores.get(oc, row.OBJHEAD) !== 0;
    if (!isListed || from === 0) return 'nothing';
    const newest = round.targets[0]?.number ?? 0;
    const isCutOff = round.cutoff !== 0 && isNewer(round.cutoff, from);
    if (!isNewer(newest, from) && !isCutOff) return 'nothing';
    if (stateIn(objcores.get(oc, row.META)) === row.STATE_BUSY) {
      if (round.unfinished === 0 || isNewer(round.unfinished, from)) round.unfinished = from;
      return 'nothing';
    }
    if (isCutOff) {
      counters.bans_lurker_obj_killed_cutoff++;
      this.life.invalidate(oc);
      return 'tested';
    }
    const began = round.place > 0;
    const verdict = this.test(round, oc, from, now);
    if (verdict === 'banned' || verdict === 'unfinished') return verdict === 'banned' ? 'tested' : verdict;
    if (round.staleSince < Number.POSITIVE_INFINITY && this.lifetimes.soften(oc, round.staleSince))
      counters.bans_lurker_obj_softened++;
    const tested = this.testedUpTo(round, from, newest);
    if (isNewer(tested, from)) {
      bans.unref(from);
      objcores.publish(oc, row.BAN, bans.refAt(tested));
    }
    return began ? 'tested' : verdict;
  }

  /** Tests an object against the targets that are newer than its last test, from round.place on. */
  private test(
    round: Round,
    oc: Oc,
    from: number,
    now: number,
  ): 'tested' | 'banned' | 'unfinished' | 'nothing' {
    const { counters, events } = this.state;
    const { targets } = round;
    let subject: BanSubject | null = null;
    for (; round.place < targets.length; round.place++) {
      const ban = targets[round.place] as Ban;
      if (!isNewer(ban.number, from)) break;
      if (ban.completed) continue;
      if (this.unclocked >= TESTS && this.isLate()) return 'unfinished';
      subject ??= this.tester.subjectOf(oc, now);
      const { tests } = ban.expression;
      this.unclocked += tests.length;
      counters.bans_lurker_tested++;
      counters.bans_lurker_tests_tested += tests.length;
      if (!banMatches(ban.expression, subject, null, now - ban.time)) continue;
      if (ban.soft) {
        round.staleSince = ban.time;
        continue;
      }
      counters.bans_lurker_obj_killed++;
      events.banned(oc);
      this.life.invalidate(oc);
      return 'banned';
    }
    return subject === null ? 'nothing' : 'tested';
  }

  /** The newest ban that an object last tested at `from` counts as tested against after this round. */
  private testedUpTo(round: Round, from: number, newest: number): number {
    const { blocking, targets } = round;
    const stop = blocking[firstWhere(blocking.length, (i) => isNewer(blocking[i] as number, from))];
    if (stop === undefined || isNewer(stop, newest)) return newest;
    const before = targets[firstWhere(targets.length, (i) => isNewer(stop, (targets[i] as Ban).number))];
    return before === undefined || isNewer(from, before.number) ? from : before.number;
  }

  /** Completes the bans of a round; true when it has processed all of them. */
  private finish(round: Round): boolean {
    const { bans } = this.state;
    const { targets } = round;
    while (round.finished < targets.length) {
      const ban = targets[round.finished++] as Ban;
      if (round.unfinished === 0 || !isNewer(ban.number, round.unfinished)) bans.complete(ban);
      if (++this.unclocked >= STRIDE && this.isLate()) break;
    }
    if (round.finished < targets.length) return false;
    this.round = null;
    bans.dropTail();
    return true;
  }
}

/** The first of `count` indices from which on this holds. */
function firstWhere(count: number, holds: (i: number) => boolean): number {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
