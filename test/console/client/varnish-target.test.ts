// Names of a Varnish, and refused ones: their parts become arguments of commands.
import { describe, expect, it } from 'vitest';
import { parseVarnishTarget, targetLabel } from '../../../console/client/varnish-target.ts';

describe('a Varnish', () => {
  it.each([
    ['', { host: '', port: '', name: '' }, 'varnish'],
    ['edge-1', { host: '', port: '', name: 'edge-1' }, 'edge-1'],
    ['/var/lib/varnish/a', { host: '', port: '', name: '/var/lib/varnish/a' }, '/var/lib/varnish/a'],
    ['ssh://web1', { host: 'web1', port: '', name: '' }, 'web1'],
    ['ssh://web1/edge', { host: 'web1', port: '', name: 'edge' }, 'web1/edge'],
    ['ssh://web1//srv/v', { host: 'web1', port: '', name: '/srv/v' }, 'web1//srv/v'],
    ['ssh://ops@web1.example.com:2222/e', { host: 'ops@web1.example.com', port: '2222', name: 'e' }, null],
    ['ssh://[2001:db8::1]/e', { host: '2001:db8::1', port: '', name: 'e' }, null],
    ['ssh://[2001:db8::1]:22', { host: '2001:db8::1', port: '22', name: '' }, null],
  ])('%j', (text, target, label) => {
    expect(parseVarnishTarget(text)).toEqual(target);
    if (label !== null) expect(targetLabel(target)).toBe(label);
  });

  it.each([
    '-oProxyCommand=x',
    'a b',
    "a'b",
    'a;b',
    'a$(b)',
    'a\nb',
    '`a`',
    '--help',
    'ssh://-oProxyCommand=x/a',
    'ssh://',
    'ssh:///a',
    'ssh://a b/c',
    'ssh://a;b/c',
    "ssh://a'/c",
    'ssh://a@-b/c',
    'ssh://-a@b/c',
    'ssh://a/-b',
    'ssh://a/b c',
    "ssh://a/b'c",
    'ssh://a/b;c',
    'ssh://a/b\nc',
    'ssh://a:b/c',
    'ssh://a:999999/c',
    'ssh://[::1/c',
    'ssh://2001:db8::1/c',
  ])('refuses %j', (text) => {
    expect(() => parseVarnishTarget(text)).toThrow(/ is not a /);
  });
});
