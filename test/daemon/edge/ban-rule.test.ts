// Bans as rules: what has one, what has none, and that a rule covers what its ban covers.
import { expect, it } from 'vitest';
import { eccuXml } from '../../../daemon/edge/eccu-rule.ts';
import { banTarget } from '../../../daemon/edge/edge-operations.ts';

const rule = (host: string | null, prefix: string | null, extensions: string[] | null = null) => ({
  rule: { host, prefix, extensions },
});

it.each([
  ['req.http.host == www.Example.com', rule('www.example.com', null)],
  ['req.http.Host ~ ^www\\.example\\.com$', rule('www.example.com', null)],
  ['req.http.host == www.Example.com:8080', rule('www.example.com:8080', null)],
  ['req.http.host ~ ^www\\.example\\.com:8080$', rule('www.example.com:8080', null)],
  ['req.http.host == [2001:DB8::1]:8080', rule('[2001:db8::1]:8080', null)],
  ['req.http.host == h:8080 && req.url ~ ^/news/', rule('h:8080', '/news/')],
  ['req.http.host == h:8080 && req.url == /a', { url: 'h:8080/a' }],
  ['req.http.host == h:', null],
  ['req.http.host == h:8o', null],
  ['req.http.host == a:1:2', null],
  ['req.http.host == h && req.url ~ ^/news/', rule('h', '/news/')],
  ['req.url ~ ^/a/b/ && req.http.host == h', rule('h', '/a/b/')],
  ['req.url ~ ^/', rule(null, '/')],
  ['req.url ~ \\.(jpg|png)(\\?|$)', rule(null, null, ['jpg', 'png'])],
  ['req.url ~ \\.css$', rule(null, null, ['css'])],
  ['req.http.host == h && req.url == /a?b=1', { url: 'h/a?b=1' }],
  ['req.http.host == "h" && req.url ~ "^/a b/"', null],
  ['req.url ~ ^/news', null],
  ['req.url ~ news', null],
  ['req.url !~ ^/news/', null],
  ['req.url == /a', null],
  ['req.url ~ ^/a.*/', null],
  ['req.url ~ ^/a/ && req.url ~ ^/a/b/', null],
  ['req.http.host ~ example', null],
  ['req.http.host != h', null],
  ['obj.http.x-version == 17', null],
  ['req.http.host == h && obj.status == 200', null],
  ['obj.age > 1h', null],
])('%s', (expression, expected) => {
  const target = banTarget(expression);
  if (expected === null) expect(target.reason).toMatch(/^no rule for /);
  else expect(target).toEqual(expected);
});

it('is XML of elements in one another', () => {
  expect(eccuXml([{ host: 'a&b', prefix: '/x/y/', extensions: ['jpg', 'png'] }], 'invalidate')).toBe(
    '<?xml version="1.0"?>\n<eccu><match:request-header operation="name-value-cmp" argument1="Host" argument2="a&amp;b">' +
      '<match:recursive-dirs value="x"><match:recursive-dirs value="y"><match:ext value="jpg png"><revalidate>now</revalidate>' +
      '</match:ext></match:recursive-dirs></match:recursive-dirs></match:request-header></eccu>',
  );
});
