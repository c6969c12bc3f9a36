import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DIFFERENCES } from '../../../daemon/differences/differences.ts';
import { differencesPage } from '../../../daemon/differences/differences-page.ts';

it('daemon/differences/README.md is made from its table (vitest -u writes it)', async () => {
  await expect(differencesPage()).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../daemon/differences/README.md', import.meta.url)),
  );
});

it('has one row a topic, each with a behavior and a reason in whole sentences', () => {
  const topics = DIFFERENCES.map(({ topic }) => topic);
  expect(new Set(topics).size).toBe(topics.length);
  for (const { topic, what, why, release } of DIFFERENCES) {
    expect([topic, what]).toEqual([topic, expect.stringMatching(/^[A-Z`].*[.:…]`?$|^.*\.$/)]);
    expect([topic, why]).toEqual([topic, expect.stringMatching(/\.$/)]);
    expect(release).toMatch(/^\d+\.\d+$/);
    // Bold letters around a topic, which a manual page cannot show together with code.
    expect(topic).not.toContain('`');
  }
});
