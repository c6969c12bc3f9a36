import { expect, it } from 'vitest';
import { WriteTrouble } from '../../../daemon/log/write-trouble.ts';

const full = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });

it('reports at once, then once a minute, and at the end', () => {
  const counters = { write_errors: 0 };
  const messages: string[] = [];
  let now = 0;
  const trouble = new WriteTrouble(
    'The log',
    counters,
    (text) => messages.push(text),
    () => now,
  );
  trouble.worked();
  expect(messages).toEqual([]);
  for (now = 0; now <= 120_000; now += 10_000) trouble.failed(full);
  expect(trouble.failing).toBe(true);
  expect(counters.write_errors).toBe(13);
  expect(messages.map((text) => /(\d+) times/.exec(text)?.[1])).toEqual(['1', '7', '13']);
  expect(messages[0]).toBe(
    'The log cannot be written (No space left on device), 1 times so far: make room in the working directory',
  );
  trouble.worked();
  trouble.worked();
  expect(messages.slice(3)).toEqual(['The log is written again, after 13 failed writes']);
  expect(trouble.failing).toBe(false);
  // Trouble that comes and goes is not reported more often.
  for (let i = 0; i < 5; i++) {
    trouble.failed(new Error('odd'));
    trouble.worked();
  }
  expect(messages).toHaveLength(4);
  expect(counters.write_errors).toBe(18);
  now += 60_000;
  trouble.failed(new Error('odd'));
  expect(messages.at(-1)).toContain('cannot be written (odd), 1 times');
});
