// The cookies of a task: parsing, and the functions on the list.

import { describe, expect, it } from 'vitest';
import { CookieJar, namesIn } from '../../../../daemon/extensions/cookie/cookie.ts';
import { task } from '../../vcl/fake-task.ts';

const parsed = (text: string): string => {
  const jar = new CookieJar();
  jar.parse(text);
  return jar.text(';');
};

const run = (body: string): string | null => {
  const t = task(`vcl 4.1; import cookie; backend d none; sub vcl_recv { ${body} return (synth(200)); }`);
  t.run('recv');
  return t.req.http.get('r');
};

describe('cookie jar', () => {
  it.each([
    ['a=1; b=2; c', 'a=1; b=2;'],
    ['a=1;b=2', 'a=1; b=2;'],
    [' a=1 ;b = 2', 'a=1 ; b = 2;'],
    ['a=1; a=2; b=3', 'a=2; b=3;'],
    ['=x; a=; b=1', 'b=1;'],
    ['x; a=1', 'x; a=1;'],
    ['a=b=c', 'a=b=c;'],
    ['a="x;y"; b=2', 'a="x; y"; b=2;'],
    ['', ''],
    [';;;', ''],
  ])('%j is %j', (text, value) => {
    expect(parsed(text)).toBe(value);
  });

  it('takes a name of any bytes, also one of an object’s own', () => {
    expect(parsed('__proto__=1; constructor=2')).toBe('__proto__=1; constructor=2;');
    expect(new CookieJar().get('constructor')).toBeNull();
  });

  it('parses a megabyte in no time', () => {
    const jar = new CookieJar();
    expect(jar.parse('a=1; '.repeat(200_000))).toBe(200_000);
    expect(jar.parse(';'.repeat(1_000_000))).toBe(0);
    expect(jar.text(';')).toBe('a=1;');
  });

  it('reads lists with blanks in front of names only', () => {
    expect([...namesIn(' a,, b ,')]).toEqual(['a', 'b ']);
  });
});

describe('cookie', () => {
  it('sorts by name', () => {
    expect(run('cookie.parse("b=2; a=1; B=3"); cookie.sort(); set req.http.r = cookie.get_string();')).toBe(
      'B=3; a=1; b=2;',
    );
  });

  it('keeps what was parsed when there is nothing to parse', () => {
    expect(run('cookie.parse("a=1"); cookie.parse(""); set req.http.r = cookie.get_string();')).toBe('a=1;');
  });

  it('keeps and filters by name and by expression', () => {
    const parse = 'cookie.parse("ab=1; b=2; c=3");';
    const text = 'set req.http.r = cookie.get_string();';
    expect(run(`${parse} cookie.keep("b,c"); ${text}`)).toBe('b=2; c=3;');
    expect(run(`${parse} cookie.filter("b,c"); ${text}`)).toBe('ab=1;');
    expect(run(`${parse} cookie.keep_re("b$"); ${text}`)).toBe('ab=1; b=2;');
    expect(run(`${parse} cookie.filter_re("^b"); ${text}`)).toBe('ab=1; c=3;');
    expect(run(`${parse} set req.http.r = cookie.get_re("^b");`)).toBe('2');
  });

  it('belongs to one task', () => {
    const t = task(
      'vcl 4.1; import cookie; backend d none; sub vcl_recv { cookie.set("a", "1"); return (pass); } sub vcl_deliver { set resp.http.r = cookie.get("a"); }',
    );
    t.run('recv');
    t.run('deliver');
    expect(t.req.resp.get('r')).toBe('1');
    t.ctx.priv = null;
    t.run('deliver');
    expect(t.req.resp.get('r')).toBe('');
  });
});
