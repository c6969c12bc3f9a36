// Text that subjects must begin with or contain: found where possible, and never wrong.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRegex } from '../../../queries/regex/bounded-regex.ts';
import { parseRegex } from '../../../queries/regex/parse-pattern.ts';
import { requiredText } from '../../../queries/regex/required-text.ts';
import { runs } from '../../harness/runs.ts';

describe('the text that subjects must have', () => {
  it.each([
    ['^/news/', '/news/', 'start', true],
    ['^/news/\\d+', '/news/', 'start', false],
    ['^\\/a\\.b', '/a.b', 'start', true],
    ['\\A/a', '/a', 'start', true],
    ['^/a$', '/a', 'start', false],
    ['^/a?', '/', 'start', false],
    ['^(/a)', '', 'anywhere', false],
    ['^/(a|b)', '/', 'start', false],
    ['^/abc|^/abc', '', 'anywhere', false],
    ['/a', '', 'anywhere', false],
    ['/news', '/news', 'anywhere', true],
    ['\\.html$', '.html', 'anywhere', false],
    ['ab.*cdef', 'cdef', 'anywhere', false],
    ['abc?def', 'def', 'anywhere', false],
    ['abc+', '', 'anywhere', false],
    ['(?i)^/abc', '/', 'start', false],
    ['(?m)^/abc', '/abc', 'anywhere', false],
    ['^', '', 'anywhere', false],
    ['', '', 'anywhere', false],
    ['^a\\Kb', 'a', 'start', false],
    ['^[x]y', 'xy', 'start', true],
    ['^[^x]yyy', 'yyy', 'anywhere', false],
    ['(?=abc)d', '', 'anywhere', false],
    ['(?<!abc)def', 'def', 'anywhere', false],
  ])('%s: %j, %s, all of it: %s', (pattern, text, where, whole) => {
    expect(requiredText(parseRegex(pattern).root)).toEqual({ text, where, whole });
  });

  it('does not change what matches', () => {
    const piece = fc.constantFrom(
      'a',
      'aba',
      'bab+',
      'bba',
      'b',
      '/',
      '\\.',
      '[a]',
      '[ab]',
      'a?',
      'b*',
      '(a)',
      '(?:a|b)',
      '$',
      '\\b',
      '(?=a)',
      '(?i)a',
    );
    const pattern = fc
      .tuple(fc.constantFrom('^', '\\A', '(?i)^', '(?m)^', ''), fc.array(piece, { maxLength: 5 }))
      .map(([first, rest]) => first + rest.join(''));
    const subject = fc
      .array(fc.constantFrom('a', 'b', 'aba', 'bba', 'A', '/', '.', '\n'), { maxLength: 7 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(
        fc.oneof(
          pattern.map((one) => [one]),
          fc.array(pattern, { minLength: 2, maxLength: 3 }),
        ),
        fc.array(subject, { maxLength: 10 }),
        (parts, subjects) => {
          const re = compileRegex(parts.join('|'));
          for (const one of subjects) expect(re.match(one)).toBe(re.exec(one) === null ? 0 : 1);
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
