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

  it('takes everything for purged once it has forgotten purges that came since', () => {
    const log = new PurgeLog();
    const began = log.newest;
    for (let i = 0; i < 4096; i++) log.add(`key${i}`);
    expect(log.purgedSince(began, ['other'])).toBe(false);
    log.add('one more');
    expect(log.purgedSince(began, ['other'])).toBe(true);
    expect(log.purgedSince(log.newest, ['other'])).toBe(false);
  });
});
