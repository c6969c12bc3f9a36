import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../queries/fnmatch.ts';

describe('globs', () => {
  it.each([
    ['b*', 'boot', true],
    ['b?ot', 'boot', true],
    ['[a-c]oot', 'boot', true],
    ['[!a-c]oot', 'boot', false],
    ['[^a-c]oot', 'boot', false],
    ['b.ot', 'boot', false],
    ['boot', 'boot2', false],
    ['*', '', true],
    ['MAIN.*_hit', 'MAIN.cache_hit', true],
    ['*.[[:alpha:]]*', 'MAIN.cache_hit', true],
    ['[]]', ']', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['\\', '\\', false],
    ['[', '[', true],
    ['[a', '[a', true],
    ['[z-a]', '[z-a]', false],
    ['[z-a]', 'm', false],
    ['MAIN.[z-a]*', 'MAIN.m', false],
    ['(a|b)+$', '(a|b)+$', true],
  ])('%s matches %s: %s', (glob, name, matches) => {
    expect(matchesGlob(glob, name)).toBe(matches);
  });

  it.each(['*?'.repeat(2000), '*a'.repeat(2000), '*[!b]'.repeat(1500), '?*'.repeat(2000)])(
    'takes no time that grows faster than its length: %#',
    (pattern) => {
      const began = process.cpuUsage();
      for (let i = 0; i < 20; i++) expect(matchesGlob(`${pattern}ZZ`, 'a'.repeat(200))).toBe(false);
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(500);
    },
  );
});
