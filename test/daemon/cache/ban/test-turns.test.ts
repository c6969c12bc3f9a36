// The turns of lookups that have bans to test, by themselves: how much a turn allows, who gets it, and when the clock
// ends it.
import { describe, expect, it } from 'vitest';
import { TestTurns } from '../../../../daemon/cache/ban/ban-tester.ts';

class TurnsBench {
  millis = 0;
  idle = 0;
  private deferred: (() => void)[] = [];
  readonly turns = new TestTurns(
    (run) => this.deferred.push(run),
    () => this.millis,
    () => this.idle++,
  );

  /** The next turn of the event loop; false when nothing was left for it. */
  turn(): boolean {
    const due = this.deferred;
    this.deferred = [];
    for (const run of due) run();
    return due.length > 0;
  }

  /** Tests as many as allowed of `wanted`, each of which takes some milliseconds; returns how many. */
  test(wanted: number, each = 0): number {
    this.turns.begin();
    let made = 0;
    for (; made < wanted && this.turns.more; made++) {
      this.millis += each;
      this.turns.spent(1);
    }
    return made;
  }

  /** Has a request with this many tests processed turn by turn; records its name when done. */
  ask(name: string, tests: number, done: string[]): () => void {
    let left = tests;
    let cancel = (): void => undefined;
    const look = (): void => {
      left -= this.test(left);
      if (left > 0) cancel = this.turns.wait({ wake: look });
      else done.push(name);
    };
    look();
    return () => cancel();
  }
}

describe('TestTurns', () => {
  it('allows a number of tests per turn', () => {
    const bench = new TurnsBench();
    expect([bench.test(5000), bench.test(5000)]).toEqual([1000, 0]);
    bench.turn();
    expect([bench.test(400), bench.test(5000)]).toEqual([400, 600]);
    expect([bench.turn(), bench.turn()]).toEqual([true, false]);
  });

  it('counts time where tests are slow', () => {
    const bench = new TurnsBench();
    expect(bench.test(5000, 0.01)).toBe(56);
    bench.turn();
    expect(bench.test(5000, 1)).toBe(8);
    bench.turn();
    expect(bench.test(5000, 0.0005)).toBe(1000);
  });

  it('gives waiters a slice each in order, and lets short tests through meanwhile', () => {
    const bench = new TurnsBench();
    const done: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) bench.ask(name, 10_000, done);
    bench.turn();
    bench.ask('short', 10, done);
    bench.ask('middle', 300, done);
    expect(done).toEqual(['short']);
    let turns = 0;
    while (done.length < 6) {
      turns++;
      expect(bench.turn()).toBe(true);
      if (turns === 8) expect(done).toEqual(['short', 'middle']);
    }
    expect(done).toEqual(['short', 'middle', 'a', 'b', 'c', 'd']);
    expect(turns).toBeGreaterThan(40);
  });

  it('does not wake everybody in one turn, though nobody has a test left', () => {
    const bench = new TurnsBench();
    const woken: number[] = [];
    for (let i = 0; i < 100; i++) bench.turns.wait({ wake: () => woken.push(i) });
    bench.turn();
    expect(woken.length).toBeGreaterThan(10);
    expect(woken.length).toBeLessThan(50);
    while (bench.turn());
    expect(woken).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('passes over who has left, and reports when nobody waits', () => {
    const bench = new TurnsBench();
    const done: string[] = [];
    const leave = bench.ask('a', 10_000, done);
    bench.ask('b', 3000, done);
    leave();
    for (let i = 0; i < 3; i++) bench.turn();
    expect([done, bench.idle]).toEqual([[], 0]);
    while (bench.turn());
    expect(done).toEqual(['b']);
    expect(bench.idle).toBeGreaterThan(0);
  });
});
