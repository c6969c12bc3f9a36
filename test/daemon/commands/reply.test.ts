// Replies that are made no longer than they are sent.
import { expect, it } from 'vitest';
import { banListJson, banListText } from '../../../daemon/cache/ban/ban-text.ts';
import { joined } from '../../../daemon/commands/reply.ts';

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
])('pieces for %d characters', (most, text, count) => {
  const made: number[] = [];
  expect(joined(counted(made, 4), ',', most)).toBe(text);
  expect(made).toHaveLength(count);
});

it('bans as far as the reply goes', () => {
  const ban = { refs: 0, completed: false, soft: false, time: 1, number: 1, expression: { text: 'x' } };
  let asked = 0;
  const bans = {
    *[Symbol.iterator]() {
      for (; asked < 1000; asked++) yield ban as never;
    },
  };
  expect(banListText(bans, null, 100).length).toBeGreaterThan(100);
  expect(asked).toBeLessThan(10);
  asked = 0;
  expect(banListJson(bans, null, 100).length).toBeGreaterThan(100);
  expect(asked).toBeLessThan(10);
});
