import { describe, expect, it } from 'vitest';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { normaliseTarget, validAuthority } from '../../../daemon/http1/request-host.ts';

function request(method: string, url: string, hosts: string[], proto = 'HTTP/1.1'): HttpMessage {
  const msg = new HttpMessage(0);
  msg.method = method;
  msg.url = url;
  msg.proto = proto;
  msg.push('accept', 'Accept: */*');
  for (const host of hosts) msg.push('host', `Host: ${host}`);
  return msg;
}

describe('validAuthority', () => {
  it.each([
    'a',
    'www.example.com',
    'WWW.EXAMPLE.COM:80',
    'a:',
    'a:65535',
    '127.0.0.1:8080',
    '[::1]',
    '[2001:db8::1]:443',
    '[::ffff:192.0.2.1]',
    'xn--bcher-kva.example',
    'a_b',
    'a%2Db',
    "!$&'()*+,;=~",
  ])('accepts %s', (text) => {
    expect(validAuthority(text)).toBe(true);
  });

  it.each([
    '',
    ':80',
    'a b',
    'a/b',
    'a?b',
    'a#b',
    'user@a',
    'a:65536',
    'a:123456',
    'a:8x',
    'a:-1',
    'a:80:80',
    '[::1',
    '[]',
    '[1]',
    '[1:2]',
    '[::g]',
    '[::1]x',
    '::1',
    'a%2',
    'a%zz',
    'b\u00fccher',
    'a\\b',
    'a"b',
    'a<b',
    'a\tb',
    'a,b c',
  ])('refuses %j', (text) => {
    expect(validAuthority(text)).toBe(false);
  });
});

describe('normaliseTarget', () => {
  it.each([
    ['no Host', request('GET', '/', []), 'host_missing'],
    ['two Hosts', request('GET', '/', ['a', 'a']), 'host_many'],
    ['two Hosts in HTTP/1.0', request('GET', '/', ['a', 'b'], 'HTTP/1.0'), 'host_many'],
    ['an empty Host', request('GET', '/', ['']), 'host_invalid'],
    ['a Host with a blank', request('GET', '/', ['a b']), 'host_invalid'],
    ['a bad Host beside an absolute target', request('GET', 'http://a/', ['a/b']), 'host_invalid'],
    ['no Host with an absolute target', request('GET', 'http://a/', []), 'host_missing'],
    ['a relative target', request('GET', 'x', ['a']), 'target_invalid'],
    ['another scheme', request('GET', 'ftp://a/', ['a']), 'target_invalid'],
    ['an absolute target without a host', request('GET', 'http:///x', ['a']), 'target_invalid'],
    ['user information', request('GET', 'http://u@a/', ['a']), 'target_invalid'],
    ['the asterisk with GET', request('GET', '*', ['a']), 'target_invalid'],
    ['CONNECT with a path', request('CONNECT', 'a/b', ['a']), 'target_invalid'],
  ])('refuses %s', (_, msg, error) => {
    expect(normaliseTarget(msg)).toBe(error);
  });

  it.each([
    ['http://b.example/x?y=1', '/x?y=1', 'b.example'],
    ['HTTP://b.example:8080', '/', 'b.example:8080'],
    ['https://b.example/', '/', 'b.example'],
    ['http://b.example?q=/', '/?q=/', 'b.example'],
    ['http://[::1]:81/z', '/z', '[::1]:81'],
  ])('takes host and path from %s', (url, path, host) => {
    const msg = request('GET', url, ['a']);
    expect(normaliseTarget(msg)).toBeNull();
    expect(msg.url).toBe(path);
    expect(msg.getAll('host')).toBe(host);
    expect(msg.n).toBe(2);
  });

  it('gives an HTTP/1.0 request the host of its absolute target', () => {
    const msg = request('GET', 'http://b/', [], 'HTTP/1.0');
    expect(normaliseTarget(msg)).toBeNull();
    expect(msg.get('host')).toBe('b');
  });

  it('makes an absolute OPTIONS without a path the asterisk', () => {
    const msg = request('OPTIONS', 'http://b', ['a']);
    expect(normaliseTarget(msg)).toBeNull();
    expect([msg.url, msg.get('host')]).toEqual(['*', 'b']);
  });

  it('leaves origin-form, asterisk, authority form and the preface alone', () => {
    for (const [method, url, proto] of [
      ['GET', '//x', 'HTTP/1.1'],
      ['OPTIONS', '*', 'HTTP/1.1'],
      ['CONNECT', 'a:443', 'HTTP/1.1'],
    ] as const) {
      const msg = request(method, url, ['a'], proto);
      expect(normaliseTarget(msg)).toBeNull();
      expect(msg.url).toBe(url);
    }
    expect(normaliseTarget(request('PRI', '*', [], 'HTTP/2.0'))).toBeNull();
  });
});
