// The extension re2: patterns, and what refers to their last match. The expected texts are those of libvmod-re2 2.0 with
// RE2 of 2022 (Debian 12), where nothing else is said.
import { describe, expect, it, vi } from 'vitest';
import { type Options, Pattern } from '../../../../daemon/extensions/re2/pattern.ts';
import { RecentPatterns } from '../../../../daemon/extensions/re2/recent-patterns.ts';
import { sizeOf } from '../../../../daemon/extensions/re2/syntax.ts';
import { host, task } from '../../vcl/fake-task.ts';

const OPTIONS: Options = {
  utf8: false,
  posix_syntax: false,
  longest_match: false,
  max_mem: 8 << 20,
  literal: false,
  never_nl: false,
  dot_nl: false,
  never_capture: false,
  case_sensitive: true,
  perl_classes: false,
  word_boundary: false,
  one_line: false,
};

const HEAD = 'vcl 4.1; import re2; backend d none;';

/** The value of an expression in vcl_recv; where that fails, the text of VCL_Error. */
function value(expression: string, declared = '', before = ''): string {
  const init = declared === '' ? '' : `sub vcl_init { ${declared} }`;
  const t = task(`${HEAD} ${init} sub vcl_recv { ${before} set req.http.r = ${expression}; return (pass); }`);
  if (declared !== '') expect(t.run('init')).toBe('ok');
  return t.run('recv') === 'pass' ? (t.req.http.get('r') ?? '(unset)') : t.log.of('VCL_Error').join('\n');
}

/** Why a program does not load. */
function refusal(declared: string): string {
  const t = task(`${HEAD} sub vcl_init { ${declared} } sub vcl_recv { return (pass); }`);
  expect(t.run('init')).toBe('fail');
  return t.log.of('VCL_Error').join('\n');
}

describe('functions with a pattern', () => {
  it.each([
    ['re2.suball("a*", "baac", "x")', 'xbxcx'],
    ['re2.suball("", "abc", "-")', '-a-b-c-'],
    ['re2.suball("b|$", "abc", "-")', 'a-c-'],
    ['re2.suball("\\b", "ab cd", "|")', '|ab| |cd|'],
    ['re2.suball("(b)", "abcb", "<\\1\\\\>")', 'a<b\\>c<b\\>'],
    ['re2.suball("b", "abcb", "<\\x>")', 'a<c<'],
    ['re2.suball("b", "abcb", "<\\5>")', '**SUBALL FUNCTION FAILED**'],
    ['re2.sub("b", "abcb", "x\\")', '**SUB FUNCTION FAILED**'],
    ['re2.sub("z", "abcb", "x", "none")', 'none'],
    ['re2.extract("(.*)@([^.]*)", "boris@kremvax.ru", "\\2!\\1")', 'kremvax!boris'],
    ['re2.extract("z", "a", "")', '**EXTRACT FUNCTION FAILED**'],
    ['re2.quotemeta("1.5-2.0?")', '1\\.5\\-2\\.0\\?'],
    ['re2.quotemeta("")', ''],
    ['re2.match("", "")', 'true'],
    ['re2.match("a", req.http.none)', 'false'],
  ])('%s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['re2.suball("é", "aéb", "<\\0>", utf8=true)', 'a<Ã©>b'],
    ['re2.suball(".", "aéb", "<\\0>", utf8=true)', '<a><Ã©><b>'],
    ['re2.suball("", "aéb", "-", utf8=true)', '-a-Ã©-b-'],
    ['re2.suball(".", "aéb", "<\\0>")', '<a><Ã><©><b>'],
    ['re2.match("(?i:é)", "É")', 'false'],
    ['re2.match("\\C\\C", "é")', 'true'],
    ['re2.sub("a(b|bb)", "abb", "<\\0>", longest_match=true)', '<abb>'],
    ['re2.sub("a(b|bb)", "abb", "<\\0>", posix_syntax=true)', '<ab>b'],
    ['re2.match("a.b", {"a\nb"})', 'false'],
    ['re2.match("a.b", {"a\nb"}, dot_nl=true)', 'true'],
    ['re2.match("a[^x]b", {"a\nb"}, never_nl=true)', 'false'],
    ['re2.match("a.*b", {"a\nab"}, never_nl=true, dot_nl=true)', 'true'],
    ['re2.match("^b", {"a\nb"})', 'false'],
    ['re2.match("^b", {"a\nb"}, posix_syntax=true)', 'true'],
    ['re2.match("^b", {"a\nb"}, posix_syntax=true, one_line=true)', 'false'],
    ['re2.match("a.b", "axb", literal=true)', 'false'],
    ['re2.match("a.b", "a.b", literal=true)', 'true'],
    ['re2.match("X", "x", case_sensitive=false)', 'true'],
    ['re2.match("\\d", "1", posix_syntax=true, perl_classes=true)', 'true'],
    ['re2.match("\\bx", "x", posix_syntax=true, word_boundary=true)', 'true'],
    ['re2.match("[[:alpha:]]\\x41", "XA", posix_syntax=true)', 'true'],
  ])('by its options %s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['a(', 'missing ): a('],
    ['[a', 'missing ]: [a'],
    ['x)', 'unexpected ): x)'],
    ['*x', 'no argument for repetition operator: *'],
    ['x++', 'bad repetition operator: ++'],
    ['x{1001}', 'invalid repetition size: {1001}'],
    ['(?=a)', 'invalid perl operator: (?='],
    ['(a)\\1', 'invalid escape sequence: \\1'],
    ['(?P<n', 'invalid named capture group: (?P<n'],
    ['[z-a]', 'invalid character class range: z-a'],
    ['x\\', 'trailing \\'],
  ])('the pattern %j fails the transaction in the words of RE2', (pattern, words) => {
    const call = `re2.match(pattern="${pattern}", text="a")`;
    expect(value(`re2.match("${pattern}", "a")`)).toBe(`vmod re2 failure: ${call}: Cannot compile: ${words}`);
  });

  it.each(['\\d', '\\b', '\\pL', '\\A', '\\Q'])('%s is no syntax of egrep', (text) => {
    const words = `Cannot compile: invalid escape sequence: ${text.slice(0, 2)}`;
    expect(value(`re2.match("${text}", "a", posix_syntax=true)`)).toContain(words);
  });

  it('an argument that is unset fails the transaction', () => {
    expect(value('re2.match(req.http.none, "a")')).toBe(
      'vmod re2 failure: re2.match(pattern="<undefined>", text="a"): pattern is undefined',
    );
    expect(value('re2.sub("a", "b", "c", req.http.none)')).toBe(
      'vmod re2 failure: re2.sub(): fallback is undefined',
    );
    expect(value('re2.sub("a", req.http.none, "c")')).toContain('text is undefined');
  });

  it('backref() and namedref() refer to the last match of the function alone', () => {
    const before = 'if (re2.match("(?P<who>b+)(c)?", "abb")) { } if (req.url ~ "(path)") { }';
    expect(value('re2.backref(0) + "/" + re2.backref(2, "-") + "/" + re2.namedref("who")', '', before)).toBe(
      'bb/-/bb',
    );
    expect(value('re2.backref(0)')).toBe(
      'vmod re2 failure: re2.backref(ref=0, fallback="**BACKREF FUNCTION FAILED**"): called without previous match',
    );
    const uncaptured = 'if (re2.match("a", "a", never_capture=true)) { }';
    expect(value('re2.backref(0)', '', uncaptured)).toContain('never_capture was true in previous match');
  });

  it('a pattern of more instructions than max_mem has room for does not compile', () => {
    const words = 'Cannot compile: pattern too large - compile failed';
    expect(value('re2.match("a{1000}", "a", max_mem=1000)')).toContain(words);
    expect(value('re2.match("a", "a", max_mem=-1)')).toBe('true');
  });
});

describe('a regex object', () => {
  const R = 'new r = re2.regex("a(b)?(?P<n>c)");';
  it.each([
    ['r.match("xxac")', 'true'],
    ['r.match("x")', 'false'],
    ['r.match(req.http.none)', 'false'],
    ['r.sub("xacyabc", "[\\0\\1\\2]")', 'x[acc]yabc'],
    ['r.suball("xacyabc", "[\\0\\1\\2]")', 'x[acc]y[abcbc]'],
    ['r.extract("xacyabc", "[\\0\\1\\2]")', '[acc]'],
    ['r.sub("zzz", "q")', '**SUB METHOD FAILED**'],
    ['r.cost()', '12'],
  ])('%s is %s', (expression, expected) => {
    expect(value(expression, R)).toBe(expected);
  });

  it('has groups of its last match in this task, and the fallback after one that failed', () => {
    const before = 'if (r.match("xxac")) { } if (re2.match("q", "q")) { }';
    expect(value('r.backref(0) + r.backref(1) + r.namedref("n")', R, before)).toBe(
      'ac**BACKREF METHOD FAILED**c',
    );
    expect(value('r.backref(0)', R, 'if (r.match("ac") && r.match("zz")) { }')).toBe(
      '**BACKREF METHOD FAILED**',
    );
  });

  it.each([
    ['r.backref(3)', 'r.backref(ref=3, fallback="**BACKREF METHOD FAILED**"): backref out of range (max 2)'],
    [
      'r.backref(-1)',
      'r.backref(ref=-1, fallback="**BACKREF METHOD FAILED**"): backref out of range (max 2)',
    ],
    ['r.backref(0, req.http.none)', 'r.backref(ref=0, fallback="<undefined>"): fallback is undefined'],
    ['r.namedref("zz")', 'namedref name="zz", fallback="**NAMEDREF METHOD FAILED**": no such named group'],
    ['r.namedref("")', 'r.namedref(name="", fallback="**NAMEDREF METHOD FAILED**"): name is empty'],
    [
      'r.sub("a", req.http.none)',
      'r.sub(text="a", rewrite=<undefined>, fallback="**SUB METHOD FAILED**"): rewrite is undefined',
    ],
  ])('%s fails the transaction, and says why', (expression, words) => {
    expect(value(expression, R, 'if (r.match("ac")) { }')).toBe(`vmod re2 failure: ${words}`);
  });

  it('fails the transaction for a group without a match, and for one that never_capture excludes', () => {
    expect(value('r.backref(0)', R)).toContain('backref called without prior match');
    const uncaptured = 'new r = re2.regex("(a)|b", never_capture=true);';
    expect(value('r.backref(0)', uncaptured, 'if (r.match("b")) { }')).toContain(
      'never_capture is true for object r',
    );
    expect(value('r.sub("xb", "<\\0>") + r.sub("xb", "<\\1>")', uncaptured)).toBe(
      'x<b>**SUB METHOD FAILED**',
    );
  });

  it('does not load with a pattern that is wrong or too large', () => {
    expect(refusal('new r = re2.regex("a(");')).toBe(
      "vmod re2 failure: r constructor: cannot compile 'a(': missing ): a(",
    );
    expect(refusal('new r = re2.regex("a{1000}", max_mem=10000);')).toContain('pattern too large');
    expect(refusal(`new r = re2.regex("${'a{1000}'.repeat(1000)}");`)).toContain('pattern too large');
  });
});

describe('what a search may cost', () => {
  it('a pattern and a text that are too large together fail the transaction before they are searched', () => {
    const t = task(
      `${HEAD} sub vcl_init { new r = re2.regex("((?:a?){500}a{500})"); } sub vcl_recv { if (r.match(req.http.Long)) { } return (pass); }`,
      { Long: 'ab'.repeat(4000) },
    );
    expect(t.run('init')).toBe('ok');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([
      `vmod re2 failure: r.match(subject="${'ab'.repeat(20)}"): pattern and text are too large (pcre2_match_limit)`,
    ]);
  });

  it('all matches of a small text are found, however long the machine takes, and those of a large one are not', () => {
    const t = task(`${HEAD} sub vcl_recv { return (pass); }`);
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
    try {
      const pattern = new Pattern('(?:a?){10}a{10}', OPTIONS);
      expect([...pattern.all(t.ctx, 'a'.repeat(100))]).toHaveLength(5);
      expect(() => [...pattern.all(t.ctx, 'a'.repeat(100_000))]).toThrow('too large');
    } finally {
      clock.mockRestore();
    }
  });

  it('a larger pcre2_match_limit permits more', () => {
    const pattern = new Pattern('(?:a?){500}a{500}', OPTIONS);
    const t = task(`${HEAD} sub vcl_recv { return (pass); }`);
    expect(() => pattern.test(t.ctx, 'a'.repeat(8000))).toThrow('too large');
    t.ctx.host = { ...host, param: (name) => (name === 'pcre2_match_limit' ? 100_000 : 0) };
    expect(pattern.test(t.ctx, 'a'.repeat(8000))).toBe(true);
  });

  it.each([
    ['abc', 3],
    ['a{1000}', 1000],
    ['((a{10}){10})', 100],
    ['[a-z\\]]{1000}', 1000],
    ['[]a]{50}', 50],
    ['[[:alpha:]]{7}', 7],
    ['\\({30}', 30],
    ['(ab|c){100}', 300],
  ])('the size of %j is known to be at least %d before it is compiled', (pattern, least) => {
    expect(sizeOf(pattern)).toBeGreaterThanOrEqual(least);
    expect(sizeOf(pattern)).toBeLessThan(3 * least + 20);
  });

  it('the size of a long pattern is found in linear time', () => {
    for (const part of ['[', '[[:', '{', '{1', '(', '\\', 'a{9}', '[[:a:', ')'])
      expect(sizeOf(part.repeat(200_000))).toBeGreaterThan(0);
  });

  it('patterns of calls are compiled once, and the oldest make room', () => {
    const compiled: string[] = [];
    const recent = new RecentPatterns((text, options) => {
      compiled.push(text);
      return new Pattern(text, options);
    });
    for (const text of ['a', 'b', 'a', 'b']) recent.of(text, OPTIONS);
    expect(compiled).toEqual(['a', 'b']);
    recent.of('a', { ...OPTIONS, case_sensitive: false });
    expect(compiled).toHaveLength(3);
    for (let i = 0; i < 200; i++) recent.of(`x${i}`, OPTIONS);
    recent.of('x150', OPTIONS);
    expect(compiled).toHaveLength(203);
    recent.of('a', OPTIONS);
    expect(compiled).toHaveLength(204);
  });
});
