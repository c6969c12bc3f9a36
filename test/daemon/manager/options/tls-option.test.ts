import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OptionError } from '../../../../daemon/manager/options/option-error.ts';
import { type Options, parseOptions } from '../../../../daemon/manager/options/options.ts';

function options(...argv: string[]): Options {
  const request = parseOptions(['-d', ...argv]);
  if (request.kind !== 'run') throw new Error(request.kind);
  return request.options;
}
function mistake(...argv: string[]): string {
  try {
    parseOptions(['-d', ...argv]);
  } catch (e) {
    if (e instanceof OptionError) return e.message;
    throw e;
  }
  throw new Error('accepted');
}

describe('-a with HTTPS', () => {
  it.each([
    [':8443,HTTPS', { port: 8443, proto: 'HTTP', tls: true }],
    ['web=[::1],https', { name: 'web', host: '::1', port: 443, proto: 'HTTP', tls: true }],
    ['10.0.0.1,HTTPS,PROXY', { port: 443, proto: 'PROXY', tls: true }],
    [':1,proxy,Https', { port: 1, proto: 'PROXY', tls: true }],
    ['/run/s,HTTPS,mode=600', { path: '/run/s', mode: 0o600, proto: 'HTTP', tls: true }],
    ['*,HTTPS', { host: '', port: 443, tls: true }],
  ])('%s', (text, spec) => {
    expect(options('-a', text).listeners).toMatchObject([spec]);
  });

  it('leaves other listeners as they were', () => {
    expect(options('-a', ':,PROXY').listeners[0]).toEqual({
      name: 'a0',
      text: ':,PROXY',
      host: '',
      port: 80,
      proto: 'PROXY',
    });
  });

  it.each([
    [':1,HTTPS,HTTPS', 'Too many HTTPS sub-args in -a (HTTPS)'],
    [':1,HTTP,HTTPS', 'Either HTTP or HTTPS in -a (:1,HTTP,HTTPS)'],
    [':1,HTTP2', "Unknown protocol 'HTTP2'"],
  ])('refuses %s', (text, message) => {
    expect(mistake('-a', text)).toBe(message);
  });
});

describe('certificates', () => {
  it('takes files, keys apart and names for an authority', () => {
    const { tls } = options(
      '--cert',
      'a.pem',
      '--cert=/b.crt,key=/b.key',
      '--cert',
      'auto:A.example,*.b.example',
      '--insecure-tls',
    );
    expect(tls).toEqual({
      certificates: [
        { cert: resolve('a.pem'), key: null },
        { cert: '/b.crt', key: '/b.key' },
      ],
      auto: [['a.example', '*.b.example']],
      file: null,
      insecure: true,
    });
  });

  it('leaves the default listener to the file of -A', () => {
    expect(options('-A', 'f').listeners).toEqual([]);
    expect(options('-A', 'f').tls.file).toBe(resolve('f'));
    expect(options('-A', 'f', '-a', ':81').listeners).toMatchObject([{ port: 81 }]);
    expect(options().listeners).toMatchObject([{ port: 80 }]);
  });

  it.each([
    [['--cert', ''], '--cert: "" is not FILE or FILE,key=FILE'],
    [['--cert', 'a,key='], '--cert: "a,key=" is not FILE or FILE,key=FILE'],
    [['--cert', 'auto:'], '--cert: cert = "auto" has no names: write --cert auto:a.example,b.example'],
    [
      ['--cert', 'auto:a b'],
      '--cert: "a b" is not a name for a certificate: write --cert auto:a.example,b.example',
    ],
    [['-A', ''], '-A needs the name of a file'],
    [['-A', 'a', '-A', 'b'], 'Only one -A allowed'],
  ])('refuses %j', (argv, message) => {
    expect(mistake(...argv)).toBe(message);
  });
});
