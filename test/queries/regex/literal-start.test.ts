// What subjects must begin with: known where it can be, and never wrong.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRegex } from '../../../queries/regex/bounded-regex.ts';
import { literalStart } from '../../../queries/regex/literal-start.ts';
import { parseRegex } from '../../../queries/regex/parse-pattern.ts';

describe('the literal start', () => {
  it.each([
    ['^/news/', '/news/', true],
    ['^/news/\\d+', '/news/', false],
    ['^\\/a\\.b', '/a.b', true],
    ['\\A/a', '/a', true],
    ['^/a$', '/a', false],
    ['^/a?', '/', false],
    ['^(/a)', '', false],
    ['^/(a|b)', '/', false],
    ['^/a|^/b', '', false],
    ['/a', '', false],
    ['(?i)^/ab', '/', false],
    ['(?m)^/a', '', false],
    ['^', '', false],
    ['^a\\Kb', 'a', false],
    ['^[x]y', 'xy', true],
    ['^[^x]y', '', false],
    ['^a{2}', '', false],
  ])('%s: %j, all of it: %s', (pattern, text, whole) => {
    expect(literalStart(parseRegex(pattern).root)).toEqual({ text, whole });
  });

  it('does not change what matches', () => {
    const piece = fc.constantFrom(
      'a',
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
      .array(fc.constantFrom('a', 'b', 'A', '/', '.', '\n'), { maxLength: 6 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 3 }),
        fc.array(subject, { maxLength: 10 }),
        (parts, subjects) => {
          const re = compileRegex(parts.join('|'));
          for (const one of subjects) expect(re.match(one)).toBe(re.exec(one) === null ? 0 : 1);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
