// A policy as options for OpenSSL's contexts: of the worker, which uses them, and of the manager, which tries them out.

import { constants } from 'node:crypto';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import type { TlsPolicy, TlsProtocol } from './tls-settings.ts';

/** Mozilla's intermediate list without the suites that have no forward secrecy or use CBC (RFC 9325 section 4.2). */
const DEFAULT_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
const DEFAULT_CIPHERSUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

/** Mozilla's, and what browsers prefer since 2024. OpenSSL's own list also has the groups of RFC 7919: with ffdhe8192 one
 * handshake costs as much as a thousand others, and a client can have it for a few bytes. From 3.3 on OpenSSL passes
 * over names that it does not know. */
const DEFAULT_CURVES = passesOver(process.versions.openssl ?? '')
  ? '?X25519MLKEM768:?X25519:P-256:P-384'
  : 'X25519:P-256:P-384';

/** Whether names with a question mark are allowed in OpenSSL's lists of groups. */
function passesOver(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 3);
}

const ORDER: readonly TlsProtocol[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

/** The options for OpenSSL of a policy; the caller adds certificate and key. */
export function contextOptions(policy: TlsPolicy): SecureContextOptions {
  const versions = ORDER.filter((each) => policy.protocols.includes(each)) as SecureVersion[];
  const suites = policy.ciphersuites ?? DEFAULT_CIPHERSUITES;
  const { SSL_OP_CIPHER_SERVER_PREFERENCE, SSL_OP_PRIORITIZE_CHACHA } = constants;
  const order = policy.preferServerCiphers ? SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA : 0;
  return {
    ciphers: `${suites}:${policy.ciphers ?? DEFAULT_CIPHERS}`,
    ecdhCurve: policy.ecdhCurve ?? DEFAULT_CURVES,
    ...(policy.dhparam === null ? {} : { dhparam: policy.dhparam }),
    ...(versions.length === 0 ? {} : { minVersion: versions[0], maxVersion: versions.at(-1) }),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION | order,
  };
}
