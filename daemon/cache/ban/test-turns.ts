// Shares the turns of the event loop among the lookups that have bans to test: in one turn so many tests are made and
// no more, and a request whose object has more left waits and goes on in a later turn. Thousands of new bans would
// otherwise hold up every other request for as long as one object takes.
//
// When they go on is for the turns of the thread (daemon/turns) to say, of which they are one piece of work. How many
// tests they make is counted here: a test takes as long as an ask, most lookups have a few and are to make them at once
// whatever else the turn had to do, and those who wait are served in slices, by what each needs.
//
// Those who wait take a slice each, one after another. A part of each turn is kept for lookups that have just come:
// most have a few tests to make and need not wait at all. It knows neither bans nor objects: see ban-tester.ts for
// where a test goes on. Caution: an expression may take a hundred times as long as another, so time counts as well.

import type { Waiter } from '../waiting-list.ts';

/** Tests in a turn. Measured: 0.5 to 1.4 microseconds each. */
const A_TURN = 1000;
/** Those of them that are not for requests that have waited. */
const FOR_NEW = 250;
/** Tests of one object while others wait (chosen): many beside what it costs to look up once more. */
const A_SLICE = 250;
/** A request that goes on counts as so many, since what it does next takes as long. */
const A_WAKE = 20;
/** A millisecond counts as at least so many tests: where they are slow, a turn has half a millisecond of them (chosen). */
const PER_MILLI = 2000;
/** Tests between two looks at the clock, which cost 1 % of them: a slow expression may take two milliseconds. */
const STRIDE = 8;

interface Waiting {
  waiter: Waiter;
  gone: boolean;
}

export class TestTurns {
  private readonly defer: (run: () => void) => void;
  private readonly millis: () => number;
  /** Called when nobody waits any more. */
  private readonly onIdle: () => void;
  private readonly next: () => void;
  private queue: Waiting[] = [];
  private scheduled = false;
  /** What this turn has left, and the lookup under way. */
  private left = A_TURN;
  private allowed = 0;
  /** When that lookup began, and its tests that the clock has or has not been read for. */
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

  /** A lookup begins to test an object. */
  begin(): void {
    this.allowed = this.queue.length === 0 ? this.left : Math.min(this.left, A_SLICE);
    this.since = this.millis();
    this.clocked = 0;
    this.unclocked = 0;
    this.schedule();
  }

  /** Whether it may test on in this turn. */
  get more(): boolean {
    return this.allowed > 0;
  }

  /** It has made so many tests. */
  spent(tests: number): void {
    this.charge(tests);
    this.unclocked += tests;
    if (this.unclocked >= STRIDE) this.readClock();
  }

  /** Has a request go on when its turn comes; returns how to leave. */
  wait(waiter: Waiter): () => void {
    const waiting: Waiting = { waiter, gone: false };
    this.queue.push(waiting);
    this.schedule();
    return () => {
      // Its place is passed over when it comes: nothing is moved for it.
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
    // Who has more to test enters again meanwhile, at the end.
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
