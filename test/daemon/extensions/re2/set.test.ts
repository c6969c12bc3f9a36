// Sets of patterns: what a match has found, and what belongs to it. The expected texts are those of libvmod-re2 2.0.
import { describe, expect, it } from 'vitest';
import { initProgram } from '../../../../daemon/vcl/loader.ts';
import { type Task, task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import re2; backend d none; backend e { .host = "127.0.0.1"; }';
const SET =
  'new s = re2.set(); s.add("foo", sub=mark); s.add("bar", string="B", integer=7, backend=e); s.add("ba+z", save=true);';

function loaded(init: string, recv: string, headers: Record<string, string> = {}): Task {
  const t = task(
    `${HEAD} sub mark { set req.http.marked = "yes"; } sub later { set resp.http.x = "y"; }
     sub vcl_init { ${init} } sub vcl_recv { ${recv} return (pass); }`,
    headers,
    { errUnref: false },
  );
  t.ctx.req = null;
  expect(initProgram(t.program, t.ctx)).toBe(null);
  t.ctx.priv = null;
  return t;
}

function value(expression: string, subject = 'foobaz', init = SET): string {
  const match = subject === '' ? '' : `if (s.match("${subject}")) { }`;
  const t = loaded(init, `${match} set req.http.r = ${expression};`);
  return t.run('recv') === 'pass' ? (t.req.http.get('r') ?? '') : t.log.of('VCL_Error').join('\n');
}

/** Why a program does not load. */
function refusal(init: string): string | null {
  const t = task(`${HEAD} sub vcl_init { ${init} } sub vcl_recv { return (pass); }`, {}, { errUnref: false });
  return initProgram(t.program, t.ctx);
}

describe('a set', () => {
  it.each([
    ['s.match("xbarx")', 'true'],
    ['s.match("x")', 'false'],
    ['s.match(req.http.none)', 'false'],
    ['s.nmatches()', '2'],
    ['s.which(FIRST)', '1'],
    ['s.which(LAST)', '3'],
    ['"" + s.matched(1) + s.matched(2) + s.matched(3)', 'truefalsetrue'],
    ['s.string(2)', 'B'],
    ['s.integer(2)', '7'],
    ['s.backend(2)', 'e'],
    ['s.sub("baaz", "q", n=3)', 'q'],
    ['s.sub("baaz", "q", select=LAST)', 'q'],
    ['s.suball("baz-baz", "q", n=3)', 'q-q'],
    ['s.extract("x", "q", n=3)', '**EXTRACT METHOD FAILED**'],
    [
      '"" + s.saved(INT, 2) + s.saved(REGEX, 2) + s.saved(select=LAST) + s.saved(SUB, 1)',
      'truefalsetruetrue',
    ],
  ])('%s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['s.which()', 's.which(0): 2 successful matches'],
    ['s.string()', 's.string(0): 2 successful matches'],
    ['s.string(1)', 's.string(1, UNIQUE): String 1 was not added'],
    ['s.string(9)', 's.string(9): set has 3 patterns'],
    ['s.backend(1)', 's.backend(1, UNIQUE): Backend 1 was not added'],
    ['s.matched(9)', 'n=9 out of range in s.matched() (3 patterns)'],
    ['s.sub("a", "b", n=1)', 's.sub(a, b, 1, UNIQUE): Pattern 1 was not saved'],
    ['s.saved(REGEX, 9)', 's.saved(9): set has 3 patterns'],
    ['s.saved()', 's.saved(0): 2 successful matches'],
  ])('%s fails the transaction, and says why', (expression, words) => {
    expect(value(expression)).toBe(`vmod re2 failure: ${words}`);
  });

  it('says that nothing of a kind was added, without the usual beginning for numbers and subs', () => {
    const bare = 'new s = re2.set(); s.add("foo");';
    expect(value('s.backend(1)', 'foo', bare)).toBe(
      'vmod re2 failure: s.backend(1): No backends were set for s',
    );
    expect(value('s.integer(1)', 'foo', bare)).toBe('s.integer(1): No integers were set for s');
    expect(value('s.integer(1)')).toBe('s.integer(1, UNIQUE): integer 1 was not added');
  });

  it('knows the last match of the task alone', () => {
    expect(value('s.nmatches()', '')).toBe('vmod re2 failure: s.nmatches() called without prior match');
    expect(value('s.which(FIRST)', 'zz')).toBe(
      'vmod re2 failure: s.which(0): previous match was unsuccessful',
    );
    expect(value('"" + s.nmatches() + s.matched(1)', 'zz')).toBe('0false');
  });

  it('is anchored as a whole', () => {
    const anchored = (anchor: string): string =>
      value(
        '"" + s.match("ax") + s.match("xb") + s.match("b")',
        '',
        `new s = re2.set(anchor=${anchor}); s.add("a|b");`,
      );
    expect(anchored('none')).toBe('truetruetrue');
    expect(anchored('start')).toBe('truefalsetrue');
    expect(anchored('both')).toBe('falsefalsetrue');
  });

  it('takes the options for all its patterns', () => {
    const options = 'new s = re2.set(literal=true, case_sensitive=false); s.add("a.B");';
    expect(value('"" + s.match("A.b") + s.match("axb")', '', options)).toBe('truefalse');
    const utf8 = 'new s = re2.set(anchor=both, utf8=true); s.add(".");';
    expect(value('"" + s.match("é") + s.match("éé")', '', utf8)).toBe('truefalse');
  });

  it('saves a pattern that does not capture where that is asked for', () => {
    const init = 'new s = re2.set(); s.add("(a)|b", save=true, never_capture=true);';
    expect(value('s.sub("ab", "<\\0>") + s.sub("ab", "<\\1>")', 'ab', init)).toBe(
      '<a>b**SUB METHOD FAILED**',
    );
  });

  it('of a thousand patterns finds the one that matches', () => {
    const init = `new s = re2.set(anchor=start); ${Array.from({ length: 1000 }, (_, i) => `s.add("/path${i}/.*x[0-9]+", integer=${i});`).join(' ')}`;
    expect(value('s.integer()', '/path777/a/x9', init)).toBe('777');
  });
});

describe('subs of a set', () => {
  it('are called, and check_call() returns whether they may be', () => {
    const t = loaded(SET, 'if (s.match("foo") && s.check_call()) { call s.subroutine(); }');
    expect(t.run('recv')).toBe('pass');
    expect(t.req.http.get('marked')).toBe('yes');
  });

  it('that cannot be called here are a Notice, as those that are missing', () => {
    const init = 'new s = re2.set(); s.add("foo", sub=later); s.add("bar");';
    const t = loaded(
      init,
      'if (s.match("foobar")) { } if (s.check_call(1) || s.check_call(2) || s.check_call(3) || s.check_call()) { set req.http.r = "1"; }',
    );
    expect(t.run('recv')).toBe('pass');
    expect(t.req.http.get('r')).toBe(null);
    expect(t.log.of('Notice')).toEqual([
      'vmod_re2: s.check_call(): call to "sub later{}" not allowed from here',
      'vmod_re2: s.check_call(2, UNIQUE): subroutine 2 was not added',
      'vmod_re2: s.check_call(3): set has 2 patterns',
      'vmod_re2: s.check_call(0): 2 successful matches',
    ]);
  });
});

describe('a set filters the lines of a head', () => {
  const init = 'new s = re2.set(anchor=start); s.add("Foo:"); s.add("X-A: b$");';
  const headers = { Foo: '1', Foo2: '2', 'X-A': 'b', 'x-a': 'b' };
  const names = (t: Task): string[] =>
    t.req.http.lines.slice(0, t.req.http.n).map((l) => l.split(':')[0] ?? '');

  it('and keeps what matches', () => {
    const t = loaded(init, 's.hdr_filter(req);', headers);
    expect(t.run('recv')).toBe('pass');
    expect(names(t)).toEqual(['Foo', 'X-A']);
  });

  it('or removes it', () => {
    const t = loaded(init, 's.hdr_filter(req, false);', headers);
    expect(t.run('recv')).toBe('pass');
    expect(names(t)).toEqual(['Host', 'Foo2', 'x-a']);
  });
});

describe('a program does not load', () => {
  it.each([
    ['new s = re2.set();', 's set initialization: no patterns were added'],
    ['new s = re2.set(); s.compile();', 's.compile(): no patterns were added'],
    ['new s = re2.set(); s.add("a"); s.compile(); s.compile();', 's.compile(): s has already been compiled'],
    ['new s = re2.set(); s.add("a"); s.compile(); s.add("b");', 's.add("b"): s has already been compiled'],
    ['new s = re2.set(); s.add("a(");', `s.add("a("): Cannot compile 'a(': missing ): a(`],
    [
      'new s = re2.set(max_mem=1000); s.add("a{1000}");',
      's set initialization: possibly insufficient memory',
    ],
  ])('with %s', (init, words) => {
    expect(refusal(init)).toContain(`vmod re2 failure: ${words}`);
  });

  it('and a set takes no patterns later', () => {
    const t = loaded(SET, 's.add("more");');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([
      'vmod re2 failure: s.add("more"): .add() may only be called in vcl_init',
    ]);
  });
});
