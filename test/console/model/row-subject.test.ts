// What rows stand for, as bans.
import { expect, it } from 'vitest';
import { banOf, subjectRow } from '../../../console/model/row-subject.ts';

const url = (key: string) => ({ kind: 'url', key, of: 'shop.example' }) as const;

it('a URL is banned exactly', () => {
  expect(banOf(url('/a?b=1'))).toBe('req.http.host == shop.example && req.url == /a?b=1');
  expect(subjectRow(url('/a')).words(url('/a'))).toBe('shop.example/a');
});

it('a URL that the log may have cut is banned with all that begins so, and says it', () => {
  const long = `/${'a.'.repeat(126)}b`;
  expect(banOf(url(long))).toContain(` && req.url ~ "^/a\\\\.a`);
  expect(subjectRow(url(long)).words(url(long))).toMatch(/^what begins with shop\.example\/a/);
  expect(banOf({ kind: 'path', key: long, of: '' })).not.toContain('([?#]|$)');
  expect(banOf(url(long.slice(1)))).toContain('req.url == ');
});
