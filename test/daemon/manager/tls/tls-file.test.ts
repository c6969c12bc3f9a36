import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTlsFile, type TlsFile } from '../../../../daemon/manager/tls/tls-file.ts';
import { TlsFileError } from '../../../../daemon/manager/tls/tls-file-lexer.ts';
import { TLS_FILE_ELSEWHERE, TLS_FILE_KEYS } from '../../../../protocol/tables/tls-file-keys.ts';
import { runs } from '../../../harness/runs.ts';

function parsed(text: string, insecure = false): TlsFile & { warnings: string[] } {
  const warnings: string[] = [];
  return { ...parseTlsFile(text, 'f', { insecure, warn: (warning) => warnings.push(warning) }), warnings };
}

function mistake(text: string): string {
  try {
    parsed(text);
  } catch (cause) {
    if (cause instanceof TlsFileError) return cause.message;
    throw cause;
  }
  throw new Error('accepted');
}

describe('a file of hitch', () => {
  const text = `
# the usual
frontend = {
    host = "*"
    port = "443"
}
frontend = "[10.0.0.1]:8443+/etc/one.pem"
backend = "[127.0.0.1]:6086"    # nothing here
workers = 4
daemon = on
write-proxy-v2 = on; user = "nobody"
alpn-protos = "h2, http/1.1"
ocsp-dir = { a = { b } }
pem-file = "/etc/ssl/a b\\"c.pem"
pem-file = {
    cert = "/etc/b.crt" private-key = "/etc/b.key"
    ocsp-resp-file = "b.der"
}
tls-protos = TLSv1.2 TLSv1.3
ciphers = "EECDH+AESGCM:EDH+AESGCM"
prefer-server-ciphers = yes
sni-nomatch-abort = on
`;

  it('is taken as it is', () => {
    const { top, frontends, warnings } = parsed(text);
    expect(top).toMatchObject({
      policy: {
        protocols: ['TLSv1.2', 'TLSv1.3'],
        ciphers: 'EECDH+AESGCM:EDH+AESGCM',
        preferServerCiphers: true,
      },
      sniNomatchAbort: true,
      certificates: [
        { files: { cert: '/etc/ssl/a b"c.pem', key: null, ocsp: null }, at: 'f:14:1' },
        { files: { cert: '/etc/b.crt', key: '/etc/b.key', ocsp: resolve('b.der') }, at: 'f:15:1' },
      ],
    });
    expect(frontends).toMatchObject([
      { address: ':443', name: null, certificates: [] },
      { address: '[10.0.0.1]:8443', certificates: [{ files: { cert: '/etc/one.pem' } }] },
    ]);
    expect(warnings).toHaveLength(7);
    expect(warnings[1]).toBe('f:9:1: workers has no effect; the parameter worker_threads does that');
  });
});

it('reads every key', () => {
  const { top, frontends } = parsed(
    `client-verify = optional client-verify-ca = ca.pem
     frontend = { name = web host = ::1 port = https
       tls-protos = "TLSv1.3" ciphersuites = TLS_AES_128_GCM_SHA256 ecdh-curve = "X25519:P-256" dhparam = dh.pem
       match-global-certs = on sni-nomatch-abort = off client-verify = required
       pem-file = { id = shop cert = s.crt ciphers = "HIGH" tls-protos = TLSv1.2 }
       pem-file = { cert = auto id = x names = "A.example, b.example" c.example }
     }
     cert = "auto" names = d.example,*.d.example
     cert = plain.pem
     frontend = { name = "bare" }`,
  );
  expect(top).toMatchObject({
    clientVerify: 'optional',
    clientCa: resolve('ca.pem'),
    auto: [{ names: ['d.example', '*.d.example'], id: null }],
    certificates: [{ files: { cert: resolve('plain.pem') } }],
  });
  expect(frontends[0]).toMatchObject({
    name: 'web',
    address: '[::1]:https',
    policy: {
      protocols: ['TLSv1.3'],
      ciphersuites: 'TLS_AES_128_GCM_SHA256',
      ecdhCurve: 'X25519:P-256',
      dhparam: resolve('dh.pem'),
    },
    matchGlobalCerts: true,
    sniNomatchAbort: false,
    clientVerify: 'required',
    certificates: [{ id: 'shop', policy: { ciphers: 'HIGH', protocols: ['TLSv1.2'] } }],
    auto: [{ id: 'x', names: ['a.example', 'b.example', 'c.example'] }],
  });
  expect(frontends[1]).toMatchObject({ name: 'bare', address: null });
});

describe('mistakes have a place and a remedy', () => {
  it.each([
    ['\n  pem-fil = "a"', 'f:2:3: unknown key pem-fil; did you mean pem-file?'],
    ['zzzzzzzzzz = 1', 'f:1:1: unknown key zzzzzzzzzz; proxy-tls(7) has all keys'],
    ['pem-file "a"', 'f:1:10: a string after pem-file; write pem-file = value'],
    ['pem-file =', 'f:1:11: the end of the file instead of the value of pem-file; write key = value'],
    ['= a', 'f:1:1: "=" instead of a key; write key = value'],
    ['ciphers = "a', 'f:1:11: the string does not end on its line; add a "'],
    ['frontend = {\n port = 1', 'f:1:1: the block does not end; add a }'],
    ['backend = { a', 'f:1:1: the block does not end; add a }'],
    ['host = a', 'f:1:1: host cannot stand here; it belongs in frontend = { ... }'],
    [
      'frontend = { private-key = a }',
      'f:1:14: private-key cannot stand here; it belongs in pem-file = { ... }',
    ],
    ['ciphers = a\nciphers = b', 'f:2:1: ciphers is given twice; remove one of them'],
    ['sni-nomatch-abort = maybe', 'f:1:1: sni-nomatch-abort is "maybe"; write on or off'],
    ['client-verify = always', 'f:1:1: client-verify is "always"; write one of none, optional, required'],
    [
      'tls-protos = TLSv1.0 TLSv1.2',
      'f:1:1: TLSv1.0 is insecure (RFC 8996) and refused; remove it, or start proxyd with --insecure-tls',
    ],
    ['tls-protos = SSLv3', 'f:1:1: SSLv3 is broken and not supported; write TLSv1.2 TLSv1.3'],
    ['tls-protos = TLSv1.4', 'f:1:1: "TLSv1.4" is no version of TLS; write TLSv1.2 TLSv1.3'],
    ['tls-protos = ,', 'f:1:1: no version of TLS is named; write TLSv1.2 TLSv1.3'],
    ['pem-file = { private-key = a }', 'f:1:1: pem-file has no cert; add cert = "file"'],
    ['pem-file = ""', 'f:1:1: pem-file is empty; write the name of a file'],
    ['dhparam = ""', 'f:1:1: dhparam is empty; write the name of a file'],
    ['pem-dir = "/etc"', 'f:1:1: pem-dir is not supported; name each file: pem-file = "..."'],
    [
      'names = a.example',
      'f:1:1: names without a certificate that is to have them; write cert = "auto" before it',
    ],
    ['cert = auto', 'f:1:1: cert = "auto" has no names; write names = a.example, b.example'],
    [
      'cert = auto names = a_',
      'f:1:13: "a_" is not a name for a certificate; write names = a.example, b.example',
    ],
    ['pem-file = { cert = a names = b.example }', 'f:1:23: names are for cert = "auto"; remove them'],
    [
      'pem-file = { cert = auto names = b.example private-key = k }',
      'f:1:44: cert = "auto" has no private-key; remove it',
    ],
    [
      'frontend = { name = "a b" }',
      'f:1:14: "a b" is not a name of a listener; write letters, digits, - and _, a letter first',
    ],
    [
      'pem-file = { cert = a id = "-x" }',
      'f:1:23: "-x" cannot be an id; write up to 128 letters, digits and . - _ : @ * +',
    ],
  ])('%j', (text, message) => {
    expect(mistake(text)).toBe(message);
  });

  it('allows old versions where the operator insists', () => {
    expect(parsed('tls-protos = TLSv1.2 TLSv1 tlsv1.1', true).top.policy.protocols).toEqual([
      'TLSv1',
      'TLSv1.1',
      'TLSv1.2',
    ]);
  });
});

describe('any text', () => {
  const words = [...TLS_FILE_KEYS.map(({ name }) => name), ...Object.keys(TLS_FILE_ELSEWHERE).slice(0, 3)];
  const piece = fc.oneof(
    fc.constantFrom(
      ...words,
      '=',
      '{',
      '}',
      '"',
      '"a"',
      '#',
      '\n',
      ';',
      'on',
      'auto',
      'a.example',
      'TLSv1.3',
      ',',
    ),
    fc.string({ maxLength: 6 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );

  it('is data or a mistake with a place', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        for (const text of [pieces.join(' '), pieces.join('')]) {
          try {
            parsed(text);
          } catch (cause) {
            expect(cause).toBeInstanceOf(TlsFileError);
            expect((cause as Error).message).toMatch(/^f:\d+:\d+: \P{Cc}+; \P{Cc}+$/u);
          }
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});
