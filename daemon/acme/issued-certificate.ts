// A chain as an authority has issued it: the leaf is to be for the key and the names that were asked for, or it is refused.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { elementsOf, extensionOf } from '../tls/der-encoding.ts';
import { AcmeFailure } from './acme-failure.ts';

export interface IssuedCertificate {
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The certificate's id for renewal information (RFC 9773 section 4.1); null if it does not name its issuer's key. */
  readonly renewalId: string | null;
}

/** Certificates of a chain (chosen). */
const MOST = 16;
const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const AUTHORITY_KEY = '2.5.29.35';
const KEY_ID = 0x80;

/** Reads and checks a chain. Throws AcmeFailure with what is wrong.
 * @param chain PEM, the leaf first @param key PEM @param now epoch milliseconds */
export function checkedChain(
  chain: string,
  key: string,
  names: readonly string[],
  now: number,
): IssuedCertificate {
  const leaf = leafOf(chain);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw wrong('is for another key');
  const missing = names.find((name) => !isFor(leaf, name));
  if (missing !== undefined) throw wrong(`is not for ${missing}`);
  const notBefore = Date.parse(leaf.validFrom);
  const notAfter = Date.parse(leaf.validTo);
  if (notAfter <= now) throw wrong(`expired at ${new Date(notAfter).toISOString()}`);
  return { notBefore, notAfter, renewalId: renewalIdOf(leaf) };
}

function leafOf(chain: string): X509Certificate {
  const blocks = chain.match(BLOCK) ?? [];
  const [first] = blocks;
  // It may be whole when it is fetched again.
  if (first === undefined) throw new AcmeFailure('unavailable', 'the certificate that was issued is not PEM');
  if (blocks.length > MOST) throw wrong(`comes with more than ${MOST - 1} others`);
  try {
    const [leaf] = blocks.map((block) => new X509Certificate(block));
    return leaf as X509Certificate;
  } catch {
    throw new AcmeFailure('unavailable', 'the certificate that was issued cannot be read');
  }
}

function isFor(leaf: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? leaf.checkHost(name, { subject: 'never' }) : leaf.checkIP(name)) !== undefined;
}

function renewalIdOf(leaf: X509Certificate): string | null {
  const [authority] = elementsOf(extensionOf(leaf.raw, AUTHORITY_KEY) ?? Buffer.alloc(0));
  const keyId =
    authority === undefined ? undefined : elementsOf(authority.content).find(({ tag }) => tag === KEY_ID);
  if (keyId === undefined) return null;
  return `${keyId.content.toString('base64url')}.${serialOf(leaf.raw).toString('base64url')}`;
}

const INTEGER = 2;

/** The bytes of the serial number, with the zero that keeps it positive. */
function serialOf(certificate: Buffer): Buffer {
  const [whole] = elementsOf(certificate);
  const [signed] = elementsOf(whole?.content ?? certificate);
  const serial = elementsOf(signed?.content ?? certificate).find(({ tag }) => tag === INTEGER);
  return serial?.content ?? Buffer.alloc(0);
}

function wrong(how: string): AcmeFailure {
  return new AcmeFailure('refused', `the certificate that was issued ${how}`);
}
