// Texts for failures of TLS with an origin: tables from the library's codes. A failure is a value, since the behavior of an
// origin is input. The peer chooses the names in its certificates, so that texts show them shortened and without control
// characters.

import type { X509Certificate } from 'node:crypto';
import type { SystemError } from '../system-error.ts';

/** The code of all these failures, for counters and hold-down. */
export const TLS_FAILED = 'TLS';

/** @param words what failed; the text gets the prefix by which log readers know it */
export function tlsFailure(words: string): SystemError {
  return { code: TLS_FAILED, errno: 0, words: `TLS: ${words}` };
}

export const HANDSHAKE_TIMED_OUT = tlsFailure('handshake timed out');
/** The connection ended where only close_notify is an end (RFC 8446 section 6.1). */
export const CUT = tlsFailure('the connection was cut: it ended without close_notify');

/** Alerts by the library's names (RFC 8446 section 6, RFC 5246 section 7.2, RFC 6066 section 9). */
// biome-ignore format: a row is a line
const ALERTS: readonly (readonly [name: string, number: number, words: string])[] = [
  ['UNEXPECTED_MESSAGE', 10, 'unexpected message'],
  ['BAD_RECORD_MAC', 20, 'bad record MAC'],
  ['RECORD_OVERFLOW', 22, 'record overflow'],
  ['DECOMPRESSION_FAILURE', 30, 'decompression failure'],
  ['HANDSHAKE_FAILURE', 40, 'handshake failure: no version, cipher or signature in common, or a client certificate is missing'],
  ['NO_CERTIFICATE', 41, 'no certificate'],
  ['BAD_CERTIFICATE', 42, 'bad certificate: it refuses the one in .ssl_cert, or wants one'],
  ['UNSUPPORTED_CERTIFICATE', 43, 'unsupported certificate in .ssl_cert'],
  ['CERTIFICATE_REVOKED', 44, 'certificate revoked: the one in .ssl_cert'],
  ['CERTIFICATE_EXPIRED', 45, 'certificate expired: the one in .ssl_cert'],
  ['CERTIFICATE_UNKNOWN', 46, 'certificate unknown: it refuses the one in .ssl_cert'],
  ['ILLEGAL_PARAMETER', 47, 'illegal parameter'],
  ['UNKNOWN_CA', 48, 'unknown CA: it does not trust who signed the certificate in .ssl_cert'],
  ['ACCESS_DENIED', 49, 'access denied'],
  ['DECODE_ERROR', 50, 'decode error'],
  ['DECRYPT_ERROR', 51, 'decrypt error'],
  ['EXPORT_RESTRICTION', 60, 'export restriction'],
  ['PROTOCOL_VERSION', 70, 'protocol version: it speaks neither TLS 1.2 nor 1.3'],
  ['INSUFFICIENT_SECURITY', 71, 'insufficient security'],
  ['INTERNAL_ERROR', 80, 'internal error'],
  ['INAPPROPRIATE_FALLBACK', 86, 'inappropriate fallback'],
  ['USER_CANCELLED', 90, 'user canceled'],
  ['NO_RENEGOTIATION', 100, 'no renegotiation'],
  ['MISSING_EXTENSION', 109, 'missing extension'],
  ['UNSUPPORTED_EXTENSION', 110, 'unsupported extension'],
  ['UNRECOGNIZED_NAME', 112, 'unrecognized name: it has no site of the name in .ssl_name'],
  ['BAD_CERTIFICATE_STATUS_RESPONSE', 113, 'bad certificate status response'],
  ['UNKNOWN_PSK_IDENTITY', 115, 'unknown PSK identity'],
  ['CERTIFICATE_REQUIRED', 116, 'certificate required: give it one with .ssl_cert'],
  ['NO_APPLICATION_PROTOCOL', 120, 'no application protocol: it does not speak HTTP/1.1'],
];

/** Other errors of the library, and of the runtime. */
// biome-ignore format: a row is a line
const ERRORS: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'not TLS at all: the origin answers in another protocol on this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not TLS at all: the origin answers in another protocol on this port',
  ERR_SSL_RECORD_LAYER_FAILURE: 'not TLS at all: the origin answers in another protocol on this port',
  ERR_SSL_HTTP_REQUEST: 'not TLS at all: the origin answers in HTTP on this port',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the origin wants a version older than TLS 1.2',
  ERR_SSL_VERSION_TOO_LOW: 'the origin wants a version older than TLS 1.2',
  ERR_SSL_DH_KEY_TOO_SMALL: 'weak key: the origin offers too small a Diffie-Hellman group',
  ERR_SSL_BAD_DH_VALUE: 'the origin sends a wrong Diffie-Hellman value',
  ERR_SSL_EE_KEY_TOO_SMALL: 'weak key in the certificate of the origin',
  ERR_SSL_CA_KEY_TOO_SMALL: 'weak key in a certificate of the chain',
  ERR_SSL_CA_MD_TOO_WEAK: 'weak signature in a certificate of the chain',
  ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED: 'the origin has only insecure renegotiation (RFC 5746)',
  ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: 'a record from the origin is damaged',
  ERR_SSL_BAD_RECORD_TYPE: 'a record from the origin is of no known type',
  ERR_SSL_UNEXPECTED_MESSAGE: 'the origin sent a message out of order',
  ERR_SSL_WRONG_SIGNATURE_TYPE: 'the origin signs with an algorithm that is too weak or was not offered',
  ERR_SSL_NO_SHARED_SIGNATURE_ALGORITHMS: 'no signature algorithm in common',
  ERR_SSL_WRONG_CIPHER_RETURNED: 'the origin chose a cipher that was not offered',
  ERR_SSL_UNKNOWN_CIPHER_RETURNED: 'the origin chose a cipher that does not exist',
  ERR_SSL_BAD_SIGNATURE: 'the origin does not have the key of its certificate',
  ERR_SSL_UNEXPECTED_EOF_WHILE_READING: 'the origin closed the connection during the handshake',
  ECONNRESET: 'the origin closed the connection during the handshake',
  EPIPE: 'the origin closed the connection during the handshake',
};

/** An error that the runtime reports for a TLS connection. */
export function tlsError(error: NodeJS.ErrnoException): SystemError {
  const code = error.code ?? '';
  const known = ERRORS[code];
  if (known !== undefined) return tlsFailure(known);
  const name = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13|SSL\/TLS)_(?:ALERT_)?(\w+)$/.exec(code)?.[1];
  const alert = ALERTS.find((row) => row[0] === name);
  if (alert !== undefined) return tlsFailure(`alert ${alert[1]} (${alert[2]})`);
  const { reason } = error as { reason?: string };
  return tlsFailure(`${reason ?? (code === '' ? error.message : code)}`);
}

/** Whether an error comes from TLS, not from the connection below. */
export function isTlsError({ code }: NodeJS.ErrnoException): boolean {
  return code?.startsWith('ERR_SSL_') === true || code?.startsWith('ERR_TLS_') === true || code === 'EPROTO';
}

type ChainWords = (leaf: X509Certificate) => string;

/** Results of the chain's verification, by the runtime's codes (X509_V_ERR_… of OpenSSL). */
const CHAIN: Readonly<Record<string, ChainWords>> = {
  CERT_HAS_EXPIRED: (leaf) => {
    const [who, cert] = firstOf(leaf, (each) => Date.parse(each.validTo) < Date.now());
    return `${who} expired on ${day(cert.validTo)}`;
  },
  CERT_NOT_YET_VALID: (leaf) => {
    const [who, cert] = firstOf(leaf, (each) => Date.parse(each.validFrom) > Date.now());
    return `${who} is not valid before ${day(cert.validFrom)}`;
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: (leaf) => `certificate is self-signed (${shown(leaf.subject)})`,
  SELF_SIGNED_CERT_IN_CHAIN: (leaf) =>
    `issuer unknown: ${shown(lastOf(leaf).subject)} is not a trusted authority (self-signed)`,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_SIGNATURE_FAILURE: () => 'a signature in the chain is wrong',
  INVALID_PURPOSE: (leaf) =>
    pretenderIn(leaf) === undefined ? 'wrong purpose: the certificate is not for servers' : noAuthority(leaf),
  INVALID_CA: noAuthority,
  PATH_LENGTH_EXCEEDED: () => 'issuer is no authority: the chain is longer than one of it allows',
  CERT_CHAIN_TOO_LONG: () => 'the chain is too long',
  CERT_REVOKED: () => 'certificate is revoked',
  CERT_UNTRUSTED: () => 'certificate is not trusted for servers',
  CERT_REJECTED: () => 'certificate is rejected for servers',
};

/** Results that the runtime has no code for, by OpenSSL's texts. */
const WEAK: Readonly<Record<string, string>> = {
  'EE certificate key too weak': 'weak key: that of the certificate',
  'CA certificate key too weak': 'weak key: that of an authority',
  'CA signature digest algorithm too weak': 'weak signature: an authority signs with an obsolete digest',
};

/**
 * Why the chain was not accepted.
 * @param code of the runtime
 * @param text OpenSSL's words, or ''
 */
export function chainFailure(code: string, text: string, leaf: X509Certificate | null): SystemError {
  const words = leaf === null ? undefined : CHAIN[code]?.(leaf);
  if (words !== undefined) return tlsFailure(words);
  return tlsFailure(WEAK[text] ?? `certificate refused: ${text === '' ? code : text}`);
}

/** Names that a text shows. */
const MOST_NAMES = 8;

/** The certificate does not have the name. */
export function nameFailure(name: string, leaf: X509Certificate): SystemError {
  const names = namesOf(leaf);
  if (names.length === 0)
    return tlsFailure(
      `name ${name} is not in the certificate, which has no names; its subject (${shown(leaf.subject)}) does not count (RFC 9525)`,
    );
  const more = names.length > MOST_NAMES ? `, … (${names.length})` : '';
  return tlsFailure(`name ${name} is not among ${names.slice(0, MOST_NAMES).map(shown).join(', ')}${more}`);
}

/** DNS names and addresses of a certificate. */
function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  // A name with a comma or a quote is written as a string of JSON: none that could be meant.
  return subjectAltName
    .split(', ')
    .flatMap((each) => /^(?:DNS|IP Address):(.*)$/.exec(each)?.[1]?.replaceAll('"', '') ?? []);
}

function unknownIssuer(leaf: X509Certificate): string {
  const chain = chainOf(leaf);
  const { issuer } = chain.at(-1) as X509Certificate;
  const alone =
    'the origin sends its own certificate alone: the chain is incomplete unless that issuer is a root';
  return `issuer unknown: ${shown(issuer)}${chain.length > 1 ? '' : `; ${alone}`}`;
}

/** A certificate of the chain that signs another and must not. */
function pretenderIn(leaf: X509Certificate): X509Certificate | undefined {
  return chainOf(leaf).find((each, i) => i > 0 && !each.ca);
}

function noAuthority(leaf: X509Certificate): string {
  const name = pretenderIn(leaf)?.subject ?? leaf.issuer;
  return `issuer is no authority: ${shown(name)} must not sign certificates`;
}

/** The first certificate from the leaf upwards of which a fact is true, with a word for it. */
function firstOf(leaf: X509Certificate, is: (cert: X509Certificate) => boolean): [string, X509Certificate] {
  const found = chainOf(leaf).find(is) ?? leaf;
  return [found === leaf ? 'certificate' : `certificate of the issuer ${shown(found.subject)}`, found];
}

function lastOf(leaf: X509Certificate): X509Certificate {
  return chainOf(leaf).at(-1) as X509Certificate;
}

const LONGEST_CHAIN = 16;

function chainOf(leaf: X509Certificate): X509Certificate[] {
  const chain = [leaf];
  for (let at = leaf.issuerCertificate; at !== undefined && chain.length < LONGEST_CHAIN; ) {
    chain.push(at);
    at = at.issuerCertificate;
  }
  return chain;
}

function day(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? shown(text) : new Date(at).toISOString().slice(0, 10);
}

const LONGEST = 120;

/** A distinguished name in one line. */
export function shown(name: string): string {
  const line = name
    .trim()
    .replaceAll('\n', ', ')
    .replace(/[^\x20-\x7e]/g, '?');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
