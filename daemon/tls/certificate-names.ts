// Names of the algorithms of a certificate, as OpenSSL and the PROXY protocol have them.

import type { X509Certificate } from 'node:crypto';

/** The algorithm that signed a certificate, by its name in OpenSSL. */
export function signatureName(leaf: X509Certificate): string {
  return SIGNATURES.find(([oid]) => leaf.raw.includes(oid))?.[1] ?? 'unknown';
}

function oid(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** DER of the object identifiers with their tag and length (RFC 3279, 4055, 5758, 8410). */
const SIGNATURES: readonly (readonly [Buffer, string])[] = [
  [oid('06082a8648ce3d040302'), 'ecdsa-with-SHA256'],
  [oid('06082a8648ce3d040303'), 'ecdsa-with-SHA384'],
  [oid('06082a8648ce3d040304'), 'ecdsa-with-SHA512'],
  [oid('06092a864886f70d01010b'), 'RSA-SHA256'],
  [oid('06092a864886f70d01010c'), 'RSA-SHA384'],
  [oid('06092a864886f70d01010d'), 'RSA-SHA512'],
  [oid('06092a864886f70d010105'), 'RSA-SHA1'],
  [oid('06092a864886f70d01010a'), 'rsassaPss'],
  [oid('06032b6570'), 'ED25519'],
];

/** Kind and size of a key, as in RSA2048 and EC256. */
export function keyName(leaf: X509Certificate): string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = leaf.publicKey;
  if (type === 'rsa' || type === 'rsa-pss') return `RSA${details?.modulusLength ?? ''}`;
  if (type !== 'ec') return (type ?? 'unknown').toUpperCase();
  const bits = { prime256v1: 256, secp384r1: 384, secp521r1: 521 }[details?.namedCurve ?? ''];
  return `EC${bits ?? ''}`;
}
