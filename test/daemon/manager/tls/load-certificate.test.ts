import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateError } from '../../../../daemon/manager/tls/certificate-error.ts';
import {
  certificateOf,
  type LoadedCertificate,
  loadCertificate,
} from '../../../../daemon/manager/tls/load-certificate.ts';
import type { PolicyText } from '../../../../daemon/manager/tls/tls-file.ts';
import { type MadeCertificate, makeCertificate, openssl } from '../../../harness/made-certificates.ts';

/** A little later: certificates are made after this line. */
const NOW = Date.now() / 1000 + 60;
const DAY = 86_400;
let dir: string;
let ca: MadeCertificate;
let a: MadeCertificate;
let b: MadeCertificate;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-certs-'));
  ca = makeCertificate(dir, 'ca', { san: '' });
  a = makeCertificate(dir, 'a.example', {
    san: 'DNS:A.example,DNS:*.a.example,IP:192.0.2.1,IP:2001:db8::1',
    subject: '/O=A, B/CN=a.example',
    ca,
  });
  b = makeCertificate(dir, 'b.example', { san: '' });
});
afterAll(() => rmSync(dir, { recursive: true }));

function load(
  cert: string,
  key: string | null = null,
  policy: PolicyText = {},
  now = NOW,
): LoadedCertificate {
  const files = { cert, key, ocsp: null };
  return loadCertificate({ id: 'x', frontend: null, files, policy, isDefault: false }, now);
}
function mistake(...args: Parameters<typeof load>): string {
  try {
    load(...args);
  } catch (cause) {
    if (cause instanceof CertificateError) return cause.message;
    throw cause;
  }
  throw new Error('accepted');
}
/** A new file, for its owner only. */
function file(name: string, ...parts: (string | Buffer)[]): string {
  const path = join(dir, name);
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))), { mode: 0o600 });
  return path;
}
const text = (path: string): string => readFileSync(path, 'utf8');

describe('a certificate', () => {
  it('is read with its key and facts', () => {
    const { certificate, facts, warnings } = load(a.pem);
    expect(certificate).toMatchObject({
      id: 'x',
      names: ['a.example', '*.a.example', '192.0.2.1', '2001:db8::1'],
      subject: 'CN=a.example, O=A\\, B',
      isDefault: false,
      ocsp: null,
      policy: {},
    });
    expect(certificate.chain.trim()).toBe(text(a.cert).trim());
    expect(certificate.key.trim()).toBe(text(a.key).trim());
    expect(facts.issuer).toBe('CN=ca');
    const shown = openssl('x509', '-in', a.cert, '-noout', '-serial', '-fingerprint', '-sha256');
    expect(shown).toContain(`serial=${facts.serial}\n`);
    expect(shown.replaceAll(':', '').toLowerCase()).toContain(certificate.fingerprint);
    expect(Math.round((certificate.notAfter - NOW) / DAY)).toBe(30);
    expect(warnings).toEqual([]);
  });

  it('may have its key apart, line ends of Windows, text around, and a chain', () => {
    const chain = `hello\r\n${text(a.cert)}and\n${text(ca.cert)}`.replaceAll('\n', '\r\n');
    const { certificate, warnings } = load(file('chain.crt', chain), a.key);
    expect(certificate.chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(certificate.chain).not.toContain('\r');
    expect(warnings).toEqual([]);
  });

  it('is named by its subject where it has no alternative names', () => {
    expect(load(b.pem).certificate.names).toEqual(['b.example']);
  });

  it('is taken with a warning when dates, order or names are odd', () => {
    expect(load(a.pem, null, {}, NOW + 31 * DAY).warnings[0]).toMatch(
      /^\S+a\.example\.pem: it expired on 20.*renew it$/,
    );
    expect(load(a.pem, null, {}, NOW - DAY).warnings[0]).toContain('it is not valid before');
    expect(load(file('order.pem', text(a.pem), text(b.cert))).warnings[0]).toContain(
      'certificate 2 did not sign certificate 1',
    );
    const nameless = makeCertificate(dir, 'nameless', { san: '', subject: '/O=nobody' });
    expect(load(nameless.pem)).toMatchObject({ certificate: { names: [], subject: 'O=nobody' } });
    expect(load(nameless.pem).warnings[0]).toContain('it has no names');
  });

  it('takes Diffie-Hellman parameters of its file', () => {
    const dh = openssl('genpkey', '-genparam', '-algorithm', 'DH', '-pkeyopt', 'dh_param:ffdhe2048');
    const params = openssl('dhparam', '-in', file('dh.txt', dh));
    expect(load(file('dh.pem', text(a.pem), params)).certificate.policy.dhparam).toBe(params);
    expect(load(a.pem, null, { dhparam: file('dh2.pem', params) }).certificate.policy.dhparam).toBe(params);
    expect(mistake(a.pem, null, { dhparam: a.cert })).toMatch(
      /a\.example\.crt: no Diffie-Hellman parameters but certificates alone; type: openssl dhparam/,
    );
    const weak = '-----BEGIN DH PARAMETERS-----\nMAYCAQcCAQI=\n-----END DH PARAMETERS-----\n';
    expect(mistake(file('weak.pem', text(a.pem), weak))).toContain(
      'Diffie-Hellman parameters of 4 bits are too weak',
    );
  });
});

describe('is refused in words', () => {
  it('without a file, or with one that is none', () => {
    expect(mistake(join(dir, 'none'))).toBe(`${dir}/none: No such file or directory`);
    expect(mistake(dir)).toBe(`${dir}: it is a directory; name a file`);
    expect(mistake(file('large', Buffer.alloc(1024 * 1024 + 1)))).toContain(
      'it has 1048577 bytes, more than',
    );
  });

  it('with something else in the file', () => {
    const der = file('a.der');
    openssl('x509', '-in', a.cert, '-outform', 'DER', '-out', der);
    expect(mistake(der)).toBe(
      `${der}: no certificate but DER instead of PEM: openssl x509 -inform DER -in ${der} -out ${der}.pem`,
    );
    const p12 = file('a.p12');
    openssl('pkcs12', '-export', '-in', a.cert, '-inkey', a.key, '-out', p12, '-passout', 'pass:x');
    expect(mistake(p12)).toContain('no certificate but PKCS #12 instead of PEM: openssl pkcs12');
    expect(mistake(file('empty', ''))).toContain('no certificate but nothing: the file is empty');
    expect(mistake(file('junk', 'hello'))).toContain('no certificate but no PEM at all');
    expect(mistake(file('cut', text(a.cert).slice(0, 200)))).toContain('a PEM block that does not end');
    expect(mistake(a.key)).toContain('no certificate but a private key alone');
    const csr = file('csr');
    openssl('req', '-new', '-key', a.key, '-subj', '/CN=a', '-out', csr);
    expect(mistake(csr)).toContain('no certificate but a request for a certificate');
    const damaged = text(a.pem).replace(/(BEGIN CERTIFICATE-----\n.{20})..../, '$1AAAA');
    expect(mistake(file('damaged.pem', damaged))).toContain(
      'certificate 1 in it is damaged; get the file again',
    );
  });

  it('with no key, another, two, an encrypted or a damaged one, and never with a byte of it', () => {
    const messages = [
      mistake(a.cert),
      mistake(a.cert, a.cert),
      mistake(a.cert, b.key),
      mistake(file('swapped.pem', text(ca.cert), text(a.cert)), a.key),
      mistake(file('two.pem', text(a.pem), text(b.key))),
    ];
    expect(messages[0]).toContain('it has no private key; add it to the file, or name its file');
    expect(messages[1]).toContain('no private key but certificates alone');
    expect(messages[2]).toMatch(
      /b\.example\.key: the private key is not that of the certificate in .*a\.example\.crt/,
    );
    expect(messages[3]).toContain('the private key is that of certificate 2; put that certificate first');
    expect(messages[4]).toContain('it has 2 private keys; leave one in it');
    const encrypted = file('encrypted.key');
    openssl('pkey', '-in', a.key, '-aes256', '-passout', 'pass:secret', '-out', encrypted);
    messages.push(mistake(a.cert, encrypted));
    openssl('ec', '-in', a.key, '-aes256', '-passout', 'pass:secret', '-out', encrypted);
    messages.push(mistake(a.cert, encrypted));
    for (const message of messages.slice(-2)) expect(message).toContain('the key is encrypted');
    const damaged = text(a.key).replace(/\n.{30}/, '\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    messages.push(mistake(a.cert, file('damaged.key', damaged)));
    expect(messages.at(-1)).toContain('the private key is damaged or of an unknown kind');
    const lines = text(a.key)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('-'));
    for (const message of messages)
      for (const line of lines) expect(message).not.toContain(line.slice(0, 16));
  });

  it('when OpenSSL does not take its policy', () => {
    const refusals: [PolicyText, string][] = [
      [{ ciphers: 'FOO' }, 'ciphers "FOO": OpenSSL refuses it: it knows no such cipher'],
      [{ ciphersuites: 'TLS_X' }, 'ciphersuites "TLS_X": OpenSSL refuses it: it knows no such cipher'],
      [{ ecdhCurve: 'P-1' }, 'ecdh-curve "P-1": OpenSSL refuses it: it knows no such curve'],
    ];
    for (const [policy, words] of refusals) expect(mistake(a.pem, null, policy)).toContain(words);
    expect(load(a.pem, null, { ecdhCurve: 'auto' }).certificate.policy).toEqual({ ecdhCurve: null });
    const short = makeCertificate(dir, 'short', { rsaBits: 512 });
    expect(mistake(short.pem)).toContain('OpenSSL refuses it: the key is too short');
  });
});

describe('rights of the key', () => {
  it('refuses what everybody may read or write, and says what to type', () => {
    const path = file('rights.pem', text(a.pem));
    chmodSync(path, 0o604);
    expect(mistake(path)).toBe(`${path}: any user may read this key; type: chmod o-r ${path}`);
    chmodSync(path, 0o602);
    expect(mistake(path)).toBe(`${path}: any user may write to this key; type: chmod o-rw ${path}`);
    // The certificate alone is public.
    chmodSync(a.cert, 0o644);
    expect(load(a.cert, a.key).warnings).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('warns of groups, unless root has given the key to one', () => {
    const path = file('group.pem', text(a.pem));
    chmodSync(path, 0o640);
    chownSync(path, 0, 4);
    expect(load(path).warnings).toEqual([]);
    chownSync(path, 12_345, 4);
    expect(load(path).warnings).toEqual([`${path}: a group may read this key; type: chmod g-r ${path}`]);
    chmodSync(path, 0o660);
    chownSync(path, 0, 4);
    expect(load(path).warnings).toEqual([`${path}: a group may write to this key; type: chmod g-w ${path}`]);
  });
});

describe('a response of OCSP', () => {
  function response(name: string, status: string, days: number): string {
    const serial = openssl('x509', '-in', a.cert, '-noout', '-serial').trim().replace('serial=', '');
    const revoked = status === 'R' ? '260101000000Z' : '';
    const index = file(`${name}.txt`, `${status}\t301231235959Z\t${revoked}\t${serial}\tunknown\t/CN=a\n`);
    const out = join(dir, name);
    openssl(
      'ocsp',
      '-index',
      index,
      '-CA',
      ca.cert,
      '-rsigner',
      ca.cert,
      '-rkey',
      ca.key,
      '-issuer',
      ca.cert,
      '-cert',
      a.cert,
      '-respout',
      out,
      '-ndays',
      String(days),
    );
    return out;
  }

  it('beside the certificate is stapled until it is outdated', () => {
    const path = response('a.example.pem.ocsp', 'V', 2);
    const { certificate, ocspUntil, warnings } = load(a.pem);
    expect(certificate.ocsp).toBe(readFileSync(path).toString('base64'));
    expect(Math.round(((ocspUntil ?? 0) - NOW) / DAY)).toBe(2);
    expect(warnings).toEqual([]);
    const late = load(a.pem, null, {}, NOW + 3 * DAY);
    expect(late.certificate.ocsp).toBeNull();
    expect(late.warnings[0]).toMatch(/\.ocsp: it was valid until .*; no OCSP response is stapled/);
    rmSync(path);
  });

  it('is not stapled where it says anything else', () => {
    const refused = (path: string, cert = a): string => {
      const files = { cert: cert.pem, key: null, ocsp: path };
      const { certificate, warnings } = loadCertificate(
        { id: 'x', frontend: null, files, policy: {}, isDefault: false },
        NOW,
      );
      expect(certificate.ocsp).toBeNull();
      return warnings.join();
    };
    expect(refused(response('r.der', 'R', 2))).toContain('it says that the certificate is revoked');
    expect(refused(response('v.der', 'V', 2), b)).toContain('it is for another certificate');
    expect(refused(file('junk.der', 'hello'))).toContain('it is no OCSP response in DER');
    // tryLater (3), which has no more in it.
    expect(refused(file('later.der', Buffer.from([0x30, 3, 0x0a, 1, 3])))).toContain(
      'a refusal of the authority (status 3)',
    );
    const whole = readFileSync(join(dir, 'v.der'));
    for (let end = 0; end < whole.length; end += 7) {
      expect(refused(file('cut.der', whole.subarray(0, end)))).toContain('it is no OCSP response in DER');
    }
  });
});

it('is made of what an authority has issued', () => {
  const request = { id: 'auto', frontend: 'web', files: null, policy: {}, isDefault: false };
  const { certificate } = certificateOf(request, { chain: text(a.cert), key: text(a.key) }, NOW);
  expect(certificate).toMatchObject({
    id: 'auto',
    frontend: 'web',
    names: expect.arrayContaining(['a.example']),
  });
  expect(() => certificateOf(request, { chain: text(a.cert), key: text(b.key) }, NOW)).toThrow(
    'the private key is not that',
  );
  expect(() => certificateOf(request, { chain: '', key: text(b.key) }, NOW)).toThrow(
    'certificate or key is missing',
  );
});
