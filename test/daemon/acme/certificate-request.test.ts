import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  certificateRequest,
  challengeCertificate,
  challengeServerName,
  newKey,
} from '../../../daemon/acme/certificate-request.ts';
import { openssl, readRequest } from '../../harness/acme-issuer.ts';

describe('a certificate request', () => {
  test('is understood by openssl', async () => {
    const key = newKey();
    const names = ['a.example', 'xn--bcher-kva.example', '192.0.2.7', '2001:db8::7'];
    const read = await readRequest(certificateRequest(names, key));
    expect(read.names).toEqual(['a.example', 'xn--bcher-kva.example', '192.0.2.7', '2001:DB8:0:0:0:0:0:7']);
    const text = await openssl(['req', '-inform', 'DER', '-noout', '-text'], certificateRequest(names, key));
    expect(text).toContain('NIST CURVE: P-256');
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
    const own = await openssl(['pkey', '-pubout', '-outform', 'DER'], key);
    expect(own.length).toBeGreaterThan(0);
  });

  test('of a hundred names', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `${'long'.repeat(12)}-${i}.example`);
    expect((await readRequest(certificateRequest(names, newKey()))).names).toEqual(names);
  });
});

describe('a challenge certificate', () => {
  const now = new Date('2049-12-30T00:00:00Z');

  test('has the digest of the key authorization, and is for one name and its own key', async () => {
    const { chain, key } = challengeCertificate('a.example', 'token.thumbprint', now);
    const text = await openssl(['x509', '-noout', '-text', '-nameopt', 'multiline'], chain);
    const digest = createHash('sha256').update('token.thumbprint').digest('hex').toUpperCase();
    expect(text).toContain('1.3.6.1.5.5.7.1.31: critical');
    expect(text).toContain('DNS:a.example');
    const leaf = new X509Certificate(chain);
    expect(leaf.raw.toString('hex').toUpperCase()).toContain(`04220420${digest}`);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(leaf.verify(leaf.publicKey)).toBe(true);
    // Before 2050 a time has two digits for the year, afterwards four.
    expect([leaf.validFrom, leaf.validTo]).toEqual(['Dec 29 00:00:00 2049 GMT', 'Jan  6 00:00:00 2050 GMT']);
  });

  test.each([
    ['a.example', 'a.example'],
    ['192.0.2.7', '7.2.0.192.in-addr.arpa'],
    ['2001:db8::7', '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'],
  ])('for %s is asked for as %s', (name, server) => {
    expect(challengeServerName(name)).toBe(server);
    const { chain } = challengeCertificate(name, 'x', now);
    const leaf = new X509Certificate(chain);
    expect(name === server ? leaf.checkHost(name) : leaf.checkIP(name)).toBe(name);
  });
});
