// The budget of a turn and those who wait for the next one, over a clock and an event loop of their own.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Turns } from '../../../daemon/turns/turns.ts';

/** An event loop: `turn()` runs what was deferred before it. */
function loop() {
  let time = 0;
  let deferred: (() => void)[] = [];
  const turns = new Turns(
    () => time,
    (run) => void deferred.push(run),
  );
  return {
    turns,
    spend: (millis: number) => {
      time += millis;
    },
    turn: () => {
      const due = deferred;
      deferred = [];
      for (const run of due) run();
      return due.length > 0;
    },
    get idle() {
      return deferred.length === 0;
    },
  };
}

/** Items of this many milliseconds each; `done` counts them. */
function work(
  on: ReturnType<typeof loop>,
  items: number,
  millis: number,
  done: (item: number) => void,
): void {
  let item = 0;
  const go = (): void => {
    while (item < items) {
      on.spend(millis);
      done(item++);
      if (item < items && !on.turns.mayContinue()) {
        on.turns.later(go);
        return;
      }
    }
  };
  go();
}

describe('the budget of a turn', () => {
  it('lets short work through without another turn', () => {
    const on = loop();
    const seen: number[] = [];
    work(on, 100, 0.01, (item) => seen.push(item));
    expect(seen.length).toBe(100);
  });

  it('ends long work within a few items of its end, and continues until all is done', () => {
    const on = loop();
    const perTurn: number[] = [];
    let now = 0;
    work(on, 1000, 0.1, () => now++);
    for (;;) {
      perTurn.push(now);
      now = 0;
      if (!on.turn()) break;
    }
    expect(perTurn.reduce((sum, count) => sum + count)).toBe(1000);
    // Two milliseconds, and at most the items between two looks at the clock, of a tenth each.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(20 + 8 + 1);
  });

  it('is one for all work of the turn', () => {
    const on = loop();
    let spent = 0;
    for (let n = 0; n < 50; n++) {
      work(on, 100, 0.1, () => {
        spent += 0.1;
      });
    }
    // With the budget used up, each call still does one item.
    expect(spent).toBeLessThan(2 + 0.9 + 50 * 0.1);
    while (on.turn());
    expect(spent).toBeCloseTo(500);
  });

  it('follows the parameter', () => {
    const on = loop();
    on.turns.follow(() => 10);
    let done = 0;
    work(on, 1000, 0.1, () => done++);
    expect(done).toBeGreaterThanOrEqual(100);
  });

  it('starts over after a turn in which nobody waited', () => {
    const on = loop();
    let done = 0;
    work(on, 5, 0.1, () => done++);
    on.spend(1000);
    on.turn();
    work(on, 15, 0.1, () => done++);
    expect(done).toBe(20);
  });
});

describe('waiters', () => {
  it('are served in order, each as long as the budget lasts', () => {
    const on = loop();
    const order: string[] = [];
    for (const name of ['a', 'b', 'c']) work(on, 60, 1, () => order.at(-1) !== name && order.push(name));
    while (on.turn());
    expect(order.slice(0, 9).join('')).toBe('abcabcabc');
  });

  it('who await get a turn each', async () => {
    const on = loop();
    const seen: number[] = [];
    const all = [1, 2, 3].map(async (n) => {
      await on.turns.next();
      seen.push(n);
    });
    const perTurn: number[] = [];
    while (on.turn()) {
      await Promise.resolve();
      perTurn.push(seen.length);
    }
    await Promise.all(all);
    expect(perTurn.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('are not held up by one that throws', () => {
    const on = loop();
    const seen: number[] = [];
    on.turns.later(() => {
      throw new Error('broken');
    });
    on.turns.later(() => seen.push(1));
    expect(() => on.turn()).toThrow('broken');
    while (on.turn());
    expect(seen).toEqual([1]);
  });

  it('all end, whatever the work and the budget', () => {
    const sizes = fc.array(fc.tuple(fc.nat(200), fc.constantFrom(0, 0.001, 0.3, 7)), { maxLength: 20 });
    fc.assert(
      fc.property(sizes, fc.constantFrom(0, 0.1, 2, 50), (works, budget) => {
        const on = loop();
        on.turns.follow(() => budget);
        let done = 0;
        for (const [items, millis] of works) work(on, items, millis, () => done++);
        while (on.turn());
        expect(done).toBe(works.reduce((sum, [items]) => sum + items, 0));
        expect(on.idle).toBe(true);
      }),
    );
  });
});

it('over() calls for each item', async () => {
  const on = loop();
  const seen: number[] = [];
  let over = false;
  const all = on.turns
    .over(new Set(Array.from({ length: 100 }, (_, n) => n)), (n) => {
      on.spend(0.5);
      seen.push(n);
    })
    .then(() => {
      over = true;
    });
  let turns = 0;
  while (!over) {
    on.turn();
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  await all;
  expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(turns).toBeGreaterThan(5);
});
