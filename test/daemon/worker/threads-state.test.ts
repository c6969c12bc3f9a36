// Shared state under threads that all use it at once; shared-state.test.ts has what it does.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isFull } from '../../harness/runs.ts';

it('loses no update, row or name while three threads work', async () => {
  const rounds = isFull ? 20_000 : 4000;
  const child = fork(new URL('state-thread.js', import.meta.url), [String(rounds), '3000']);
  const [result] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  const left = Array.from({ length: rounds }, (_, i) => i).filter(
    (i) => i >= rounds - 100 || (i + 100) % 3 === 0,
  );
  expect(result).toEqual({ wrong: [0, 0, 0], sum: 3 * rounds, joined: 3, size: 3 * left.length });
}, 60_000);
