import { describe, expect, it } from 'vitest';
import { PurgeLog } from '../../../../daemon/cache/tags/purge-log.ts';
import { ownMemory } from '../../../../daemon/threads/shared-memory.ts';

describe('PurgeLog', () => {
  it('knows which keys were purged since a fetch began', () => {
    const log = new PurgeLog();
    log.add('a');
    const began = log.newest;
    expect(log.purgedSince(began, ['a'])).toBe(false);
    log.add('b');
    expect([log.purgedSince(began, ['a']), log.purgedSince(began, ['c', 'b'])]).toEqual([false, true]);
    log.add('a');
    expect(log.purgedSince(began, ['a'])).toBe(true);
    expect(log.purgedSince(log.newest, ['a', 'b'])).toBe(false);
  });

  it('forgets no purge, and takes few other keys for purged', () => {
    const log = new PurgeLog();
    const began = log.newest;
    for (let i = 0; i < 10_000; i++) log.add(`key${i}`);
    for (let i = 0; i < 10_000; i++) expect(log.purgedSince(began, [`key${i}`])).toBe(true);
    let wrong = 0;
    for (let i = 0; i < 10_000; i++) if (log.purgedSince(began, [`other${i}`])) wrong++;
    expect(wrong).toBeLessThan(400);
  });
});

it('numbers that wrap are compared by their distance', () => {
  const memory = ownMemory();
  const log = new PurgeLog(memory);
  memory.words(1)[0] = 2 ** 31 - 2;
  log.add('old');
  const before = log.newest;
  expect(before).toBe(2 ** 31 - 1);
  log.add('new');
  expect(log.newest).toBe(-(2 ** 31));
  expect(log.purgedSince(before, ['new'])).toBe(true);
  expect(log.purgedSince(log.newest, ['new'])).toBe(false);
  memory.words(1)[0] = -1;
  log.add('next');
  expect(log.newest).toBe(1);
});
