import { describe, expect, it } from 'vitest';
import { PurgeLog } from '../../../../daemon/cache/tags/purge-log.ts';

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
