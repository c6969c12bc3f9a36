import { describe, expect, it } from 'vitest';
import { compileRegex, type RegexError } from '../../queries/regex.ts';
import { GuardedPattern } from '../../queries/regex-guard.ts';

function matches(pattern: string, text: string, caseless = false): boolean {
  const p = compileRegex(pattern, caseless);
  if ('message' in p) throw new Error(p.message);
  return p.test(text);
}

describe('regular expressions', () => {
  it.each([
    ['(?i)abc', 'xABCx', true],
    ['a(?i)b', 'aB', true],
    ['a(?i)b', 'AB', false],
    ['(?i:ab)c', 'ABC', false],
    ['(?i:[a-c]+)d', 'ABCd', true],
    ['[[:digit:]]+$', 'x12', true],
    ['[[:alpha:]_-]', '5-', true],
    ['\\Qa.b\\E$', 'axb', false],
    ['\\Qa.b\\E$', 'a.b', true],
    ['[]a]', ']', true],
    ['[^]a]', ']', false],
    ['(?P<x>a|b)(?P=x)', 'ab', false],
    ['(?P<x>a|b)(?P=x)', 'bb', true],
    ['\\Ax\\z', 'x', true],
    ['a++b', 'aab', true],
    ['(?>a|b)c', 'bc', true],
    ['\\x{41}', 'A', true],
    ['a{,3}', 'a{,3}', true],
    ['(?#no)b', 'ab', true],
    ['[\\h]x', '\tx', true],
  ])('%s on %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it('refuses what it cannot run', () => {
    expect((compileRegex('(a)(?1)', false) as RegexError).message).toBe('pattern not supported');
  });

  it.each(['(a+)+$', '(a|aa)+$', '(a|a)*$', '(a{1,30}){1,30}$', 'a*a*a*a*$'])(
    '%s cannot stop the process',
    (pattern) => {
      const p = compileRegex(pattern, false);
      expect(p).toBeInstanceOf(GuardedPattern);
      const text = `${'a'.repeat(250)}b`;
      for (let i = 0; i < 20; i++) expect((p as GuardedPattern).test(text)).toBe(false);
      expect((p as GuardedPattern).strikes).toBeLessThanOrEqual(5);
    },
  );

  it.each(['^/a/.*\\.html$', '(a|b)c', '[a-z]+=[0-9]+', '(foo)?bar'])(
    '%s runs without a limit',
    (pattern) => {
      expect(compileRegex(pattern, false)).toBeInstanceOf(RegExp);
    },
  );
});
