import { expect, it } from 'vitest';
import { threadTimes } from '../../../daemon/stats/thread-times.ts';

it('are what the scheduler has counted since the last call, in milliseconds', () => {
  let text = '5000000 1000000 3\n';
  const times = threadTimes(() => text);
  expect(times()).toEqual({ ran: 0, waited: 0 });
  text = '9000000 251000000 4\n';
  expect(times()).toEqual({ ran: 4, waited: 250 });
  expect(times()).toEqual({ ran: 0, waited: 0 });
});

it('are unknown where the system does not account for them, and when the file cannot be read now and then', () => {
  const unknown = { ran: Number.NaN, waited: Number.NaN };
  const texts: (string | null)[] = ['1000000 1000000 1', null, '1000000 9000000 1', '3000000 10000000 1'];
  const read = (): string => {
    const text = texts.shift();
    if (text == null) throw new Error('EMFILE');
    return text;
  };
  const times = threadTimes(read);
  expect([times(), times(), times(), times()]).toEqual([unknown, unknown, { ran: 2, waited: 1 }, unknown]);
  expect(threadTimes(() => '')()).toEqual(unknown);
});
