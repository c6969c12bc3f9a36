// Replies that are made no longer than they are sent.
import { expect, it } from 'vitest';
import { banElements, banLines } from '../../../daemon/cache/ban/ban.ts';
import { gathered } from '../../../daemon/commands/reply.ts';
import { turns } from '../../../daemon/turns/turns.ts';

function* counted(made: number[], count: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    made.push(i);
    yield 'ab';
  }
}

it.each([
  [Number.POSITIVE_INFINITY, 'ab,ab,ab,ab', 4],
  [8, 'ab,ab,ab,ab', 4],
  [7, 'ab,ab,ab', 3],
  [0, 'ab', 1],
])('pieces for %d characters', async (most, text, count) => {
  const made: number[] = [];
  expect(await gathered(counted(made, 4), ',', most)).toBe(text);
  expect(made).toHaveLength(count);
});

it('bans as far as the reply goes', async () => {
  const ban = { refs: 0, completed: false, soft: false, time: 1, number: 1, expression: { text: 'x' } };
  let asked = 0;
  const bans = {
    *[Symbol.iterator]() {
      for (; asked < 1000; asked++) yield ban as never;
    },
  };
  expect((await gathered(banLines(bans), '', 100)).length).toBeGreaterThan(100);
  expect(asked).toBeLessThan(10);
  asked = 0;
  expect((await gathered(banElements(bans), ',', 100)).length).toBeGreaterThan(100);
  expect(asked).toBeLessThan(10);
});

it('gives up its turn where others have something to do', async () => {
  const made: number[] = [];
  const seen = new Set<number>();
  let over = false;
  const look = (): void => {
    seen.add(made.length);
    if (!over) setImmediate(look);
  };
  // No turn has time for more than a piece, and the first look at the clock.
  await new Promise(setImmediate);
  turns.follow(() => 0);
  try {
    // The turn of the test before this one has its own budget.
    await turns.next();
    look();
    await gathered(counted(made, 50), '');
  } finally {
    over = true;
    turns.follow(() => 2);
  }
  expect(seen.size).toBeGreaterThan(5);
});
