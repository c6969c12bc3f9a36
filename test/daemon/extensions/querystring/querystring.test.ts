// Parameters of URLs: what is kept, in which order, and that nothing is invented; hostile queries.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import querystring; backend d { .host = "127.0.0.1"; }';

/** The value of an expression for a URL of the request. */
function value(expression: string, url: string, init = ''): string | null {
  const t = task(
    `${HEAD} sub vcl_init { ${init} } sub vcl_recv { set req.http.out = ${expression}; return (synth(200)); }`,
  );
  expect(t.run('init')).toBe('ok');
  t.req.http.setUrl(url);
  expect(t.run('recv')).toBe('synth');
  return t.req.http.get('out');
}

describe('functions', () => {
  it.each([
    ['querystring.clean()', '/', '/'],
    ['querystring.clean()', '/?', '/'],
    ['querystring.clean()', '/?&&a&=1&b=&&', '/?a&b='],
    ['querystring.clean()', '/a?b?c', '/a?b?c'],
    ['querystring.remove()', '/a?b=c', '/a'],
    ['querystring.remove("/x?y")', '/a', '/x'],
    ['querystring.sort()', '/?b=2&a=1&b=1&a=1', '/?a=1&a=1&b=1&b=2'],
    ['querystring.sort(uniq = true)', '/?b&a&b', '/?a&b'],
    ['querystring.sort("/?B&a&A")', '/', '/?A&B&a'],
    ['querystring.sort()', '/?%62=1&a', '/?%62=1&a'],
  ])('%s of %s', (expression, url, expected) => {
    expect(value(expression, url)).toBe(expected);
  });
});

describe('filters', () => {
  const add = 'f.add_string("id"); f.add_glob("utm_*"); f.add_regex("^x[0-9]+$");';
  it.each([
    ['', 'f.apply()', '/?id=1&utm_source=a&x12=b&y=c', '/?id=1&utm_source=a&x12=b'],
    ['', 'f.apply(mode = drop)', '/?id=1&utm_source=a&x12=b&y=c&idx', '/?y=c&idx'],
    ['', 'f.apply(mode = drop)', '/?id', '/'],
    ['', 'f.apply("/o?y&id", drop)', '/', '/o?y'],
    ['sort = true, uniq = true', 'f.apply()', '/?x2&id=2&x1&id=2', '/?id=2&x1&x2'],
    ['match = param', 'f.apply()', '/?id=1&id&utm_=9', '/?id&utm_=9'],
  ])('filter(%s): %s of %s', (ways, expression, url, expected) => {
    expect(value(expression, url, `new f = querystring.filter(${ways}); ${add}`)).toBe(expected);
  });

  it('refuse an expression that is none', () => {
    const t = task(
      `${HEAD} sub vcl_init { new f = querystring.filter(); f.add_regex("("); } sub vcl_recv { set req.url = f.apply(); }`,
    );
    expect(t.run('init')).toBe('fail');
    expect(t.log.of('VCL_Error').join()).toContain('querystring: "("');
  });

  it('invent nothing, keep the order, and change nothing the second time', () => {
    const url = fc.string({ maxLength: 60 }).map((text) => `/?${text.replace(/[^\x21-\x7e]/g, '&')}`);
    const t = task(
      `${HEAD} sub vcl_init { new f = querystring.filter(); f.add_glob("a*"); } sub vcl_recv { set req.http.keep = f.apply(); set req.http.drop = f.apply(mode = drop); set req.http.clean = querystring.clean(); set req.http.again = querystring.clean(querystring.clean()); return (synth(200)); }`,
    );
    expect(t.run('init')).toBe('ok');
    const list = (name: string): string[] =>
      (t.req.http.get(name) ?? '').split('?').slice(1).join('?').split('&').filter(Boolean);
    fc.assert(
      fc.property(url, (text) => {
        t.req.http.setUrl(text);
        expect(t.run('recv')).toBe('synth');
        const clean = list('clean');
        expect([...list('keep'), ...list('drop')].sort()).toEqual([...clean].sort());
        expect(clean.filter((each) => list('drop').includes(each))).toEqual(list('drop'));
        expect(t.req.http.get('again')).toBe(t.req.http.get('clean'));
      }),
    );
  });

  it('take a query of a hundred thousand parameters', () => {
    const url = `/?${'utm_x&'.repeat(50_000)}${Array.from({ length: 50_000 }, (_, i) => `p${i % 7}`).join('&')}`;
    expect(
      value(
        'f.apply(mode = drop)',
        url,
        'new f = querystring.filter(sort = true, uniq = true); f.add_glob("utm_*");',
      ),
    ).toBe('/?p0&p1&p2&p3&p4&p5&p6');
  });
});

it('the example: one page, one key', () => {
  const text = readFileSync(
    new URL('../../../../daemon/vcl/examples/querystring.vcl', import.meta.url),
    'utf8',
  );
  const t = task(text.slice(text.indexOf('vcl 4.1;')));
  expect(t.run('init')).toBe('ok');
  t.req.http.setUrl('/p?utm_source=x&b=2&gclid=9&a=1&fbclid=z&b=2');
  t.run('recv');
  expect(t.req.http.url).toBe('/p?a=1&b=2');
});
