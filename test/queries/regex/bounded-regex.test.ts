import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeLength } from '../../../queries/regex/analyse.ts';
import { BoundedMatcher } from '../../../queries/regex/bounded-matcher.ts';
import {
  compileRegex,
  DEFAULT_MATCH_LIMIT,
  fuelFor,
  RegexError,
} from '../../../queries/regex/bounded-regex.ts';
import { makeProgram } from '../../../queries/regex/build-program.ts';
import { parseRegex } from '../../../queries/regex/parse-pattern.ts';
import { type Fuel, SearchMemory } from '../../../queries/regex/search.ts';
import { capturesDiffer, translate } from '../../../queries/regex/translate.ts';
import { runs } from '../../harness/runs.ts';

describe('PCRE syntax', () => {
  it.each([
    ['[[:upper:]]', 'abC', 'C'],
    ['[^[:alnum:]_-]+', 'a-b_c!?', '!?'],
    ['(?i)no-store|private', 'X, PRIVATE', 'PRIVATE'],
    ['a(?i:B)c', 'abc', 'abc'],
    ['a(?i:B)c', 'aBC', null],
    ['a(?i)b|c', 'C', 'C'],
    ['(?s)a.b', 'a\nb', 'a\nb'],
    ['a.b', 'a\nb', null],
    ['(?m)^b$', 'a\nb\nc', 'b'],
    ['b$', 'ab\n', 'b'],
    ['b\\z', 'ab\n', null],
    ['\\Aab\\Z', 'ab\n', 'ab'],
    ['a\\h+b', 'a \tb', 'a \tb'],
    ['a\\Rb', 'a\r\nb', 'a\r\nb'],
    ['\\Qa.b\\E+', 'xa.bbb', 'a.bbb'],
    ['(?x) a b # c', 'ab', 'ab'],
    ['(?<y>a)\\k<y>', 'baa', 'aa'],
    ['(a)(?P<z>b)(?P=z)\\1', 'abba', 'abba'],
    ['(?i)(a)\\1', 'aA', 'aA'],
    ['a++b', 'aaab', 'aaab'],
    ['a++ab', 'aaab', null],
    ['(?>a|ab)c', 'abc', null],
    ['(?<=ab|c)d', 'cd', 'd'],
    ['(?<!a)d', 'ad', null],
    ['(?=.*d)a', 'abcd', 'a'],
    ['foo\\Kbar', 'foobar', 'bar'],
    ['\\x41\\x{42}\\103', 'ABC', 'ABC'],
    ['[\\w.-]+@[\\d]', 'x a.b-c@1', 'a.b-c@1'],
    ['a{2,3}?', 'aaaa', 'aa'],
    ['a{,2}', 'a{,2}', 'a{,2}'],
    ['[]a]+', 'x]a', ']a'],
    ['\\bfoo\\b', 'a foo b', 'foo'],
    ['(?#comment)a', 'a', 'a'],
    ['^(?:(?:a|b)+,?)+$', 'ab,ba', 'ab,ba'],
    ['x*', '', ''],
  ])('%s on %j', (pattern, subject, expected) => {
    const m = compileRegex(pattern).exec(subject);
    expect(
      m === null
        ? null
        : m === 'limit'
          ? m
          : m.groups[0] === subject.slice(m.start, m.end)
            ? m.groups[0]
            : subject.slice(m.start, m.end),
    ).toBe(expected);
  });

  it.each([
    ['(', 'missing closing parenthesis'],
    ['a)', 'unmatched closing parenthesis'],
    ['[a', 'missing terminating ] for character class'],
    ['*a', 'quantifier does not follow a repeatable item'],
    ['a{3,2}', 'numbers out of order in {} quantifier'],
    ['[z-a]', 'range out of order in character class'],
    ['(?<=a+)b', 'lookbehind assertion is not fixed length'],
    ['[[:nope:]]', 'unknown POSIX class name'],
    ['a(*COMMIT)b', 'the verb (*COMMIT) is not supported'],
    ['(*UTF)a', 'the setting (*UTF) is not supported'],
    ['(?C1)a', 'callouts (?C) are not supported'],
    ['(?(2)a|b)(c)', 'reference to non-existent subpattern'],
    ['\\p{Nope}', 'unknown property after \\P or \\p'],
    ['\\2(a)', 'reference to non-existent subpattern'],
    ['a\\', '\\ at end of pattern'],
  ])('%s is refused by name', (pattern, message) => {
    expect(() => compileRegex(pattern)).toThrow(message);
    expect(() => compileRegex(pattern)).toThrow(RegexError);
  });
});

describe('time', () => {
  const long = 'a'.repeat(50_000);

  it.each([
    ['(a+)+$', `${long}!`, 10],
    ['^(\\w+\\s?)*$', `${long}!`, 10],
    ['(a|b)*c?!!', `${long}!`, 13],
    ['(x+x+)+y', 'x'.repeat(50_000), 0],
    ['(.*)(.*)(.*)x$', long, 0],
    ['(.*a){20}', 'b'.repeat(50_000), 0],
    ['(?:a|a)*c', long, 0],
    ['x*[yz]', 'x'.repeat(50_000), 6],
    ['^(?:(?!b).)*[bc]$', `${long}!`, 10],
    ['(b)\\1(?:[ab]+)+$', `bb${long}!`, 12],
  ])('%s takes linear time on a hostile subject', (pattern, subject, steps) => {
    const fuel = fuelFor(DEFAULT_MATCH_LIMIT);
    const all = fuel.left;
    const parsed = parseRegex(pattern);
    expect(safeLength(parsed.root)).toBeLessThan(subject.length);
    expect(new BoundedMatcher(makeProgram(parsed)).exec(subject, 0, fuel)).toBeNull();
    expect(all - fuel.left).toBeLessThanOrEqual(steps * subject.length);
  });

  it.each([
    ['(.*a){40}$', `${long}!`],
    ['^(?:(a+)(?=\\1*b))+[cd]', `${long}!`],
    ['^(a+)+\\1$', `${long}!`],
    ['(?:a(?=.*[xy]))+$', `${long}x`],
    ['(a(?1)?)+!!', `${long}!`],
    ['(?:(?>a+))*[bc]', long],
    ['a{3000}[bc]', long],
  ])('%s is cut off', (pattern, subject) => {
    expect(compileRegex(pattern).match(subject, fuelFor(DEFAULT_MATCH_LIMIT))).toBe(-1);
  });

  it('goes as far as its fuel', () => {
    const re = compileRegex('^(a+)+\\1$');
    expect(re.match('aaaaaaaaaa!', fuelFor(1))).toBe(-1);
    expect(re.match('aaaaaaaaaa!', fuelFor(DEFAULT_MATCH_LIMIT))).toBe(0);
  });

  it('shares fuel among the searches of one substitution', () => {
    const fuel = fuelFor(DEFAULT_MATCH_LIMIT);
    const re = compileRegex('(a)\\1');
    expect(re.exec('aaaa', 0, false, fuel)).toMatchObject({ start: 0, end: 2 });
    const left = fuel.left;
    expect(re.exec('aaaa', 2, false, fuel)).toMatchObject({ start: 2, end: 4 });
    expect(fuel.left).toBeLessThan(left);
  });

  it('leaves what programs usually match to the quick engine', () => {
    for (const p of [
      '^/(en|de)/',
      '\\.(jpe?g|png|gif)(\\?.*)?$',
      '(?i)no-cache|no-store|private',
      '[[:upper:]]',
    ]) {
      expect(safeLength(parseRegex(p).root)).toBeGreaterThan(500);
    }
  });
});

/** Where all matches are, as a substitution looks for them; with a memory that is made at once. */
function allMatches(p: string, s: string, fuel: Fuel, memory: () => SearchMemory): string[] {
  const program = makeProgram(parseRegex(p));
  const matcher = new BoundedMatcher(program);
  const found: string[] = [];
  for (let from = 0, first = true; from <= s.length; first = false) {
    const m = matcher.exec(s, from, fuel, !first, memory());
    if (m === null) break;
    if (m === 'limit') throw new Error('limit');
    found.push(m.join());
    from = m[1] as number;
  }
  return found;
}

describe('the searches of one substitution', () => {
  const long = 30_000;

  it.each([
    // Each search went to the end, and made a memory for the whole rest.
    ['(?:a+)+b|a', 'a', 12],
    ['(?:(?:a+)+b+)+|c', 'c', 8],
    ['(?<=c)c', 'c', 10],
  ])('%s: each choice is tried once, with one memory', (pattern, unit, steps) => {
    const subject = unit.repeat(long / unit.length);
    const memory = new SearchMemory();
    const fuel = { left: steps * long };
    const found = allMatches(pattern, subject, fuel, () => memory);
    expect(found.length).toBeGreaterThan(long / 3);
    expect(memory.made).toBe(1);
  });

  it('pay for each memory where one cannot use that of another', () => {
    const memory = new SearchMemory();
    const fuel = fuelFor(DEFAULT_MATCH_LIMIT);
    const subject = `${'a'.repeat(300)}c`.repeat(10);
    const re = '(?:(?:a+)+b|\\G(?:a|b)*c)';
    expect(allMatches(re, subject, fuel, () => memory)).toHaveLength(10);
    expect(memory.made).toBe(10);
    const own = { left: fuelFor(DEFAULT_MATCH_LIMIT).left };
    allMatches(re, subject, own, () => new SearchMemory());
    expect(fuel.left).toBeLessThan(own.left);
  });

  it('find what each finds with a memory of its own', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '.',
      'a+',
      '[ab]+?',
      'a*',
      '(a|b)',
      '(?=a)',
      '(?!b)',
      '(?<=a)',
    );
    const pattern = fc.letrec((tie) => ({
      re: fc.oneof(
        { maxDepth: 4 },
        piece,
        fc.tuple(tie('re'), tie('re')).map(([x, y]) => `${x}${y}`),
        fc.tuple(tie('re'), tie('re')).map(([x, y]) => `(?:${x}|${y})`),
        fc.tuple(tie('re'), fc.constantFrom('+', '?', '{1,2}', '*', '+?')).map(([x, q]) => `(?:${x})${q}`),
        tie('re').map((x) => `(?>${x})`),
        tie('re').map((x) => `(?=${x})`),
      ),
    })).re as fc.Arbitrary<string>;
    const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 24 });
    fc.assert(
      fc.property(pattern, subject, (p, s) => {
        const shared = new SearchMemory();
        const { isolated } = makeProgram(parseRegex(p));
        const remembering = (): SearchMemory => {
          // From the first instruction on.
          if (!isolated) shared.limit = Number.POSITIVE_INFINITY;
          return shared;
        };
        const found = allMatches(p, s, { left: 1e6 }, remembering);
        expect(found).toEqual(allMatches(p, s, { left: 1e6 }, () => new SearchMemory()));
        expect([...(shared.slots ?? [])].slice(1).every((slot) => slot === -1)).toBe(true);
      }),
      { numRuns: runs(3000), seed: 7 },
    );
  });
});

describe('the two engines', () => {
  const leaf = fc.constantFrom(
    ...['a', 'b', '[ab]', '[^a]', '.', '^', '$', '\\b', '(?=a)', '(?!b)', '(?<=a)'],
    ...['.*', 'a++', '\\R', '(?m:^)', '(?m:$)', '(?i:B)', '[^b]*'],
  );
  const pattern = fc.letrec((tie) => ({
    re: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.tuple(tie('re'), tie('re')).map(([x, y]) => `${x}${y}`),
      fc.tuple(tie('re'), tie('re')).map(([x, y]) => `(?:${x}|${y})`),
      fc
        .tuple(tie('re'), fc.constantFrom('*', '+', '?', '{1,2}', '*?', '+?', '??', '*+'))
        .map(([x, q]) => `(?:${x})${q}`),
      tie('re').map((x) => `(${x})`),
      tie('re').map((x) => `(?>${x})`),
    ),
  })).re as fc.Arbitrary<string>;

  it('agree on where a match is and what its groups hold', () => {
    const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, subject, (p, s) => {
        const parsed = parseRegex(p);
        const js = translate(parsed);
        if (js === null) return;
        const m = new RegExp(js.fromStart).exec(s);
        const caps = new BoundedMatcher(makeProgram(parsed)).exec(s, 0, fuelFor(DEFAULT_MATCH_LIMIT));
        if (caps === 'limit') throw new Error('limit');
        expect(caps === null ? null : [caps[0], caps[1]]).toEqual(
          m === null ? null : [m.index, m.index + (m[0] as string).length],
        );
        if (caps === null || m === null || capturesDiffer(parsed.root)) return;
        const ours = js.groups.map((_, g) =>
          (caps[g * 2] as number) < 0 ? undefined : s.slice(caps[g * 2], caps[g * 2 + 1]),
        );
        expect(ours).toEqual(js.groups.map((g) => m[g]));
      }),
      { numRuns: runs(2000), seed: 7 },
    );
  });
});
