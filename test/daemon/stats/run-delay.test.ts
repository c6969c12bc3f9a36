import { expect, it } from 'vitest';
import { runDelay } from '../../../daemon/stats/run-delay.ts';

it('is what the scheduler has counted since the last call, in milliseconds', () => {
  let text = '5000000 1000000 3\n';
  const waited = runDelay(() => text);
  expect(waited()).toBe(0);
  text = '9000000 251000000 4\n';
  expect(waited()).toBe(250);
  expect(waited()).toBe(0);
});

it('is 0 where the system does not account for it, and where the file cannot be read now and then', () => {
  const texts: (string | null)[] = ['1 1000000 1', null, '1 9000000 1', '1 10000000 1'];
  const read = (): string => {
    const text = texts.shift();
    if (text == null) throw new Error('EMFILE');
    return text;
  };
  const waited = runDelay(read);
  expect([waited(), waited(), waited(), waited()]).toEqual([0, 0, 1, 0]);
  expect(runDelay(() => '')()).toBe(0);
});
