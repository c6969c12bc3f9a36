// The longest turn as the dashboard shows it: the counter, and the work of the turn that it counts.
import { expect, it } from 'vitest';
import { LongestTurnPoll } from '../../../../console/model/session/longest-turn.ts';

function listOf(...turns: [number, string][]): string {
  const items = turns.map(([milliseconds, work]) => ({ milliseconds, work, where: 'thread 0', of: '' }));
  return JSON.stringify([2, ['turn.list', '-j'], 1, ...items]);
}

function poll(replies: string[], status = 200) {
  const asked: string[] = [];
  const turns = new LongestTurnPoll(
    (line) => {
      asked.push(line);
      return Promise.resolve({ status, body: replies.shift() ?? '' });
    },
    () => undefined,
  );
  return { turns, asked };
}

it('asks once for each value, and never for none', async () => {
  const { turns, asked } = poll([listOf([300, 'recv']), listOf([500, 'respond'], [300, 'recv'])]);
  await turns.tick(0);
  expect(turns.get()).toBeNull();
  await turns.tick(300_400);
  await turns.tick(300_400);
  expect(turns.get()).toEqual({ seconds: 0.3004, work: 'recv' });
  await turns.tick(500_000);
  expect(turns.get()).toEqual({ seconds: 0.5, work: 'respond' });
  await turns.tick(0);
  expect(turns.get()).toBeNull();
  expect(asked).toEqual(['turn.list -j', 'turn.list -j']);
});

it.each([
  ['of another turn', listOf([17, 'recv']), 200],
  ['of no sense', '{', 200],
  ['refused', 'Unknown request', 101],
])('knows the time alone by an answer %s', async (_, body, status) => {
  const { turns } = poll([body], status);
  await turns.tick(300_000);
  expect(turns.get()).toEqual({ seconds: 0.3, work: '' });
});

it('takes a new value once it has the answer for the one before', async () => {
  let answer: (reply: { status: number; body: string }) => void = () => undefined;
  const turns = new LongestTurnPoll(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
    () => undefined,
  );
  const first = turns.tick(300_000);
  void turns.tick(0);
  answer({ status: 200, body: listOf([300, 'recv']) });
  await first;
  expect(turns.get()).toEqual({ seconds: 0.3, work: 'recv' });
  await turns.tick(0);
  expect(turns.get()).toBeNull();
});
