// Questions between threads: each is answered once, whatever the order of the answers.
import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { Channel } from '../../../daemon/threads/channel.ts';
import { caller, responder } from '../../../daemon/threads/remote-call.ts';

const { port1, port2 } = new MessageChannel();
afterEach(() => port1.close());

it('brings each answer to its question', async () => {
  const [first, second] = [new Channel(0, [null, port1]), new Channel(1, [port2, null])];
  const open: (() => void)[] = [];
  responder<string, string>(first, 'shout', (text) => {
    return new Promise((resolve) => open.push(() => resolve(text.toUpperCase())));
  });
  responder<number, number>(first, 'double', async (n) => 2 * n);
  const shout = caller<string, string>(second, 'shout', 0);
  const double = caller<number, number>(second, 'double', 0);
  const answers = [shout('a'), shout('b')];
  expect(await double(21)).toBe(42);
  for (const answer of open.reverse()) answer();
  expect(await Promise.all(answers)).toEqual(['A', 'B']);
});
