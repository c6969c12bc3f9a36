import { describe, expect, it } from 'vitest';
import { parseListeners } from '../../../../daemon/manager/options/listener-option.ts';
import { planTls, type TlsPlan } from '../../../../daemon/manager/tls/frontend-plan.ts';
import { parseTlsFile } from '../../../../daemon/manager/tls/tls-file.ts';

function plan(listeners: string[], file: string | null, certificates: string[] = []): TlsPlan {
  const read = file === null ? null : parseTlsFile(file, 'f', { insecure: false, warn: () => {} });
  const options = {
    certificates: certificates.map((cert) => ({ cert, key: null })),
    auto: [['a.example']],
    file: null,
    insecure: false,
  };
  return planTls(
    parseListeners(listeners),
    { ...options, auto: certificates.length > 0 ? options.auto : [] },
    read,
  );
}

it('makes listeners of frontends, and adds to those of -a', () => {
  const { listeners, frontends } = plan(
    ['127.0.0.1:1', 'web=127.0.0.1:443,HTTPS,PROXY', 'api=:8443,HTTPS', 'other=:9443,HTTPS'],
    `tls-protos = TLSv1.3  sni-nomatch-abort = on
     frontend = { host = 127.0.0.1 pem-file = w.pem ciphers = X }
     frontend = { name = api sni-nomatch-abort = off client-verify = required client-verify-ca = ca.pem }
     frontend = { name = new host = "::1" port = 444 }
     frontend = "10.0.0.1:1"
     frontend = "[*]:2"`,
  );
  expect(
    listeners.map(({ name, host, port, tls, proto }) => [name, host, port, tls === true, proto]),
  ).toEqual([
    ['a0', '127.0.0.1', 1, false, 'HTTP'],
    ['web', '127.0.0.1', 443, true, 'PROXY'],
    ['api', '', 8443, true, 'HTTP'],
    ['other', '', 9443, true, 'HTTP'],
    ['new', '::1', 444, true, 'HTTP'],
    ['tls0', '10.0.0.1', 1, true, 'HTTP'],
    ['tls1', '', 2, true, 'HTTP'],
  ]);
  const [web, api, other, fresh] = frontends;
  expect(web).toMatchObject({
    policy: { protocols: ['TLSv1.3'], ciphers: 'X' },
    sniNomatchAbort: true,
    matchGlobalCerts: null,
    hasOwn: true,
  });
  expect(api).toMatchObject({ sniNomatchAbort: false, clientVerify: 'required', hasOwn: false });
  expect(other).toMatchObject({
    policy: { protocols: ['TLSv1.3'] },
    matchGlobalCerts: true,
    clientVerify: 'none',
  });
  expect(fresh).toMatchObject({ name: 'new', matchGlobalCerts: null });
});

it('has certificates in the order in which they count', () => {
  const { certificates, auto } = plan(
    [],
    `frontend = { name = web port = 1 pem-file = /w cert = auto names = w.example }
     pem-file = /g`,
    ['/o'],
  );
  expect(certificates.map(({ frontend, entry }) => [frontend, entry.files.cert])).toEqual([
    [null, '/o'],
    [null, '/g'],
    ['web', '/w'],
  ]);
  expect(auto.map(({ frontend, names }) => [frontend, ...names])).toEqual([
    [null, 'a.example'],
    ['web', 'w.example'],
  ]);
});

describe('refuses', () => {
  it.each([
    [[':80'], 'pem-file = a', /^Certificates without a listener that speaks TLS: add -a :443,HTTPS/],
    [[':443'], 'frontend = { }', /^-A f:1:1: -a :443 has this address and speaks no TLS; add ,HTTPS to it/],
    [
      ['x=:1,HTTPS'],
      'frontend = { name = x port = 2 }',
      /^-A f:1:1: x=:1,HTTPS has the name x, too; take another name/,
    ],
    [
      ['x=:1,HTTPS'],
      'frontend = { name = y port = 1 }',
      /has this address and the name x; take that name, or none/,
    ],
    [
      [],
      'frontend = ":1" frontend = ":1"',
      /^-A f:1:17: the listener tls0 is there twice; make one frontend of both/,
    ],
    [[], 'frontend = { port = 99999 }', /^-A f:1:14: Got no socket\(s\) for :99999; see -a/],
    [
      [],
      'frontend = { client-verify = required }',
      /client-verify = required without authorities; add client-verify-ca/,
    ],
  ])('%j with %s', (listeners, file, message) => {
    expect(() => plan(listeners, file)).toThrow(message);
  });

  it('--cert without a listener', () => {
    expect(() => plan([':80'], null, ['/a'])).toThrow('Certificates without a listener');
  });
});
