// The certificates that this side makes: the request (PKCS #10) that finalizes an order, and the self-signed certificate
// by which a TLS listener proves to an authority that a name is ours (RFC 8737). Keys are ECDSA P-256.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import {
  addressBytes,
  bits,
  extension,
  integer,
  octets,
  oid,
  sequence,
  setOf,
  subjectAltName,
  tagged,
  time,
  utf8,
} from '../tls/der-encoding.ts';

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = oid('2.5.4.3');
const EXTENSION_REQUEST = oid('1.2.840.113549.1.9.14');
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
const VERSION_3 = tagged(0, integer(Buffer.from([2])));
const DAY = 86_400_000;

/** A new private key as PEM (PKCS #8). */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** The request for a certificate (RFC 2986), as DER. Its subject is empty: the names stand in its extension, as RFC 8555
 * section 7.4 allows.
 * @param names DNS names and IP addresses @param key PEM */
export function certificateRequest(names: readonly string[], key: string): Buffer {
  const privateKey = createPrivateKey(key);
  const attribute = sequence(EXTENSION_REQUEST, setOf(sequence(subjectAltName(names, false))));
  const info = sequence(integer(Buffer.from([0])), sequence(), publicKeyOf(privateKey), tagged(0, attribute));
  return signedBy(privateKey, info);
}

/** The certificate that is presented for a name to ALPN `acme-tls/1`, with its key.
 * @param name a DNS name or an IP address */
export function challengeCertificate(
  name: string,
  keyAuthorization: string,
  now: Date,
): { chain: string; key: string } {
  const key = newKey();
  const privateKey = createPrivateKey(key);
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const subject = sequence(setOf(sequence(COMMON_NAME, utf8('ACME challenge'))));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const signed = sequence(
    VERSION_3,
    integer(serial),
    ECDSA_WITH_SHA256,
    subject,
    // Clocks of authorities differ from ours.
    sequence(time(new Date(now.getTime() - DAY)), time(new Date(now.getTime() + 7 * DAY))),
    subject,
    publicKeyOf(privateKey),
    tagged(3, sequence(subjectAltName([name], false), extension(ACME_IDENTIFIER, true, octets(digest)))),
  );
  const base64 = signedBy(privateKey, signed).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return { chain: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`, key };
}

/** The server name by which a validating authority asks for a name's challenge certificate: an IP address is asked for
 * by its name in the reverse tree (RFC 8738 section 6). */
export function challengeServerName(name: string): string {
  const address = addressBytes(name);
  if (address === null) return name;
  if (address.length === 4) return `${[...address].reverse().join('.')}.in-addr.arpa`;
  return `${[...address.toString('hex')].reverse().join('.')}.ip6.arpa`;
}

function publicKeyOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

function signedBy(key: KeyObject, signed: Buffer): Buffer {
  return sequence(signed, ECDSA_WITH_SHA256, bits(sign('sha256', signed, key)));
}
