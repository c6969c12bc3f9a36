import { expect, it } from 'vitest';
import { TurnQueue } from '../../../daemon/turns/turn-queue.ts';
import { Turns } from '../../../daemon/turns/turns.ts';

/** A queue whose turns go by when a test has them: each item takes a millisecond, a turn has time for `budget`. */
function queue(budget: number): {
  queue: TurnQueue;
  took: string[];
  enter: (name: string) => void;
  turn: () => boolean;
} {
  let clock = 0;
  const later: (() => void)[] = [];
  const turns = new Turns(
    () => clock,
    (run) => void later.push(run),
  );
  turns.follow(() => budget);
  const made = new TurnQueue(turns);
  const took: string[] = [];
  const act = (name: string): void => {
    took.push(name);
    clock++;
  };
  return {
    queue: made,
    took,
    enter: (name) => {
      if (made.enter({ turn: () => act(name) })) act(name);
    },
    turn: () => {
      const due = later.splice(0);
      for (const run of due) run();
      return due.length > 0;
    },
  };
}

it('lets some go on at once and the others some in a turn, in order, those that come later after them', () => {
  const { took, enter, turn } = queue(3);
  for (const name of 'abcdefgh') enter(name);
  expect(took.join('')).toBe('abc');
  turn();
  // The first of a turn comes before the first look at the clock.
  expect(took.join('')).toBe('abcdefg');
  // There would be no time left for it, and others wait.
  enter('i');
  expect(took.join('')).toBe('abcdefg');
  while (turn());
  expect(took.join('')).toBe('abcdefghi');
  enter('j');
  expect(took.join('')).toBe('abcdefghij');
});

it('goes on with the others when one throws', () => {
  const { queue: made, took, enter, turn } = queue(1);
  enter('a');
  made.enter({
    turn: () => {
      throw new Error('broken');
    },
  });
  enter('b');
  expect(() => {
    while (turn());
  }).toThrow('broken');
  while (turn());
  expect(took.join('')).toBe('ab');
});
