import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../queries/parse-query.ts';
import { compilePattern, Effort, type PatternError } from '../../queries/text-pattern.ts';

function matches(pattern: string, text: string, caseless = false): boolean {
  const p = compilePattern(pattern, caseless, Effort.alone());
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
    const refused = compilePattern('a(*COMMIT)b', false, Effort.alone()) as PatternError;
    expect(refused.message).toBe('the verb (*COMMIT) is not supported');
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(8000)}b`],
    ['(a|aa)+$', `${'a'.repeat(8000)}b`],
    ['(a{1,30}){1,30}$', `${'a'.repeat(8000)}b`],
    ['a*a*a*a*a*$', `${'a'.repeat(8000)}b`],
    ['.*.*.*Z', `${'a'.repeat(8000)}Zb`],
    ['.*.*.*Z$', `${'a'.repeat(8000)}Zb`],
    ['(?i).*.*.*[yz]Q', 'yz'.repeat(4000)],
    ['^(a+)+\\1$', `${'a'.repeat(8000)}b`],
    ['(?:(?=(a+))\\1|.)*!', 'a'.repeat(8000)],
  ])('%s on a long text stays within the effort of its group', (pattern, text) => {
    const effort = Effort.shared();
    const p = compilePattern(pattern, false, effort);
    if ('message' in p) throw new Error(p.message);
    p.test(text);
    const began = process.cpuUsage();
    for (let i = 0; i < 200; i++) p.test(text);
    // Some 50 ms; in time of the processor, whatever else runs.
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
  });

  it('knows nothing more of a group whose effort is gone, and everything of the next', () => {
    const effort = Effort.shared();
    const hard = compilePattern('^(a+)+\\1$', false, effort);
    const easy = compilePattern('a', false, effort);
    if ('message' in hard || 'message' in easy) throw new Error('refused');
    expect(easy.test('a')).toBe(true);
    expect(hard.test(`${'a'.repeat(8000)}b`)).toBe(false);
    expect([effort.spent, easy.test('a')]).toEqual([true, false]);
    effort.renew();
    expect([effort.spent, easy.test('a')]).toEqual([false, true]);
  });

  it.each(['x'.repeat(60_000), '(x|y)'.repeat(6000), 'x*y*'.repeat(12_000), 'x|'.repeat(30_000)])(
    'is made in no time that grows faster than its length: %#',
    (pattern) => {
      const began = process.cpuUsage();
      compilePattern(pattern, false, Effort.shared());
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
    },
  );
});

it('bounds the size of a query where other work runs beside it, and nowhere else', () => {
  const long = Array(1500).fill('ReqURL').join(' or ');
  const large = Array(20).fill('ReqURL ~ "a{60000}"').join(' or ');
  for (const query of [long, large]) expect(parseQuery(query).ok).toBe(true);
  expect(parseQuery(long, { effort: Effort.shared() })).toMatchObject({
    ok: false,
    error: { message: 'Query has more than 2000 words' },
  });
  expect(parseQuery(large, { effort: Effort.shared() })).toMatchObject({
    ok: false,
    error: { message: 'Regular expression error: the expressions of this query are too large together' },
  });
});
