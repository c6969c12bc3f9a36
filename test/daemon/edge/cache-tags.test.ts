import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cacheTags, MAX_TAGS } from '../../../daemon/edge/cache-tags.ts';

const tags = (...values: string[]) => cacheTags(values, MAX_TAGS).tags;

describe('cache tags', () => {
  it('come from blanks, commas and several headers, each once', () => {
    expect(tags('a b, c', 'd,,a\t e ')).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(tags('', ' , ')).toEqual([]);
  });

  it('are encoded outside of the charset', () => {
    expect(tags("A9!#$%'+./^_`|~-")).toEqual(["A9!#$%'+./^_`|~-"]);
    expect(tags('a:b é "x"')).toEqual(['a%3Ab', '%E9', '%22x%22']);
  });

  it('are cut to 128 characters and stay different', () => {
    expect(tags('x'.repeat(128))).toEqual(['x'.repeat(128)]);
    const [one, other] = tags(`${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`) as [string, string];
    expect([one.length, other.length]).toEqual([128, 128]);
    expect(one).not.toBe(other);
  });

  it('are counted where they are too many', () => {
    const keys = Array.from({ length: 130 }, (_, i) => `k${i}`).join(' ');
    expect(cacheTags([keys], MAX_TAGS)).toMatchObject({ left: 2, tags: { length: 128 } });
  });

  const latin1 = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)),
    maxLength: 300,
  });

  it('are always what a network takes, and stay as they are when read again', () => {
    fc.assert(
      fc.property(fc.array(latin1, { maxLength: 200 }), (values) => {
        const found = cacheTags(values, MAX_TAGS);
        expect(found.tags.length).toBeLessThanOrEqual(128);
        for (const tag of found.tags) expect(tag).toMatch(/^[A-Za-z0-9!#$%'+./^_`|~-]{1,128}$/);
        expect(cacheTags([found.tags.join(',')], MAX_TAGS)).toEqual({ tags: found.tags, left: 0 });
      }),
    );
  });

  it('are the same for a key alone, as in a purge, and among others, as in a header', () => {
    fc.assert(
      fc.property(latin1, latin1, (key, others) => {
        const alone = cacheTags([key], Number.POSITIVE_INFINITY).tags;
        const among = cacheTags([others, key], Number.POSITIVE_INFINITY).tags;
        for (const tag of alone) expect(among).toContain(tag);
      }),
    );
  });
});
