// Policies of listeners and certificates: the settings of files and commands over the defaults, and the check that OpenSSL
// takes them, so that a refusal comes when they are loaded and not with the first handshake.

import type { SecureContextOptions } from 'node:tls';
import { contextOptions } from '../../tls/context-options.ts';
import type { TlsPolicy } from '../../tls/tls-settings.ts';
import { CertificateError, placed } from './certificate-error.ts';
import { derInside, INTEGER, SEQUENCE } from './der.ts';
import { readKeyMaterial } from './key-material-file.ts';
import { foundInstead, pemBlocks } from './pem-blocks.ts';
import type { PolicyPlaces, PolicyText } from './tls-file.ts';

export const DEFAULT_POLICY: TlsPolicy = {
  protocols: ['TLSv1.2', 'TLSv1.3'],
  ciphers: null,
  ciphersuites: null,
  preferServerCiphers: true,
  ecdhCurve: null,
  dhparam: null,
};

/** The given part of a policy, with its file read. Throws CertificateError. */
export function readPolicy(text: PolicyText): Partial<TlsPolicy> {
  const { dhparam, ecdhCurve, at, ...plain } = text;
  return {
    ...plain,
    // "auto" is the default of OpenSSL, by hitch's name.
    ...(ecdhCurve !== undefined && { ecdhCurve: ecdhCurve === 'auto' ? null : ecdhCurve }),
    ...(dhparam !== undefined && { dhparam: placed(text.at?.dhparam, () => readDhparam(dhparam)) }),
  };
}

/** Bits that the runtime asks for. */
const LEAST_BITS = 1024;

function readDhparam(path: string): string {
  const { bytes } = readKeyMaterial(path);
  const blocks = pemBlocks(bytes.toString('latin1'));
  const block = blocks.find(({ label }) => label === 'DH PARAMETERS');
  if (block === undefined) {
    const found = foundInstead(bytes, blocks, path);
    throw new CertificateError(
      `${path}: no Diffie-Hellman parameters but ${found}; type: openssl dhparam -out ${path} 2048`,
    );
  }
  const problem = dhparamProblem(block.text);
  if (problem !== null) throw new CertificateError(`${path}: ${problem}`);
  return block.text;
}

/** Why OpenSSL would not take these parameters (PEM); null if it does. The runtime reports no error itself. */
export function dhparamProblem(pem: string): string | null {
  const base64 = pem.replaceAll(/-----[^-]*-----|\s/g, '');
  const [prime] = derInside(Buffer.from(base64, 'base64'), SEQUENCE) ?? [];
  if (prime?.tag !== INTEGER)
    return 'the Diffie-Hellman parameters are damaged; make new ones with openssl dhparam 2048';
  const bits = prime.content.toString('hex').replace(/^0+/, '').length * 4;
  return bits < LEAST_BITS
    ? `Diffie-Hellman parameters of ${bits} bits are too weak; make new ones with openssl dhparam 2048`
    : null;
}

/** Throws CertificateError with `where` in front unless OpenSSL takes the policy, and with it the certificate. */
export function checkContext(
  where: string,
  policy: TlsPolicy,
  pair: Readonly<Record<'cert' | 'key', string>> | null = null,
  at: PolicyPlaces = {},
): void {
  const { protocols, ciphers, ciphersuites, ecdhCurve, dhparam } = policy;
  const options: SecureContextOptions = {
    ...pair,
    minVersion: protocols[0] ?? 'TLSv1.2',
    maxVersion: protocols.at(-1) ?? 'TLSv1.3',
    ...(ecdhCurve !== null && { ecdhCurve }),
    ...(dhparam !== null && { dhparam }),
  };
  // One after the other, so that the message says which list it is.
  for (const [key, list] of [
    ['ciphers', ciphers],
    ['ciphersuites', ciphersuites],
  ] as const) {
    if (list !== null) tried(`${placeOf(at[key], where)}: ${key} "${list}"`, { ...options, ciphers: list });
  }
  if (ecdhCurve !== null) tried(`${placeOf(at.ecdhCurve, where)}: ecdh-curve "${ecdhCurve}"`, { ecdhCurve });
  tried(where, { ...contextOptions(policy), ...pair });
}

function placeOf(at: string | undefined, where: string): string {
  return at === undefined ? where : `-A ${at}`;
}

function tried(what: string, options: SecureContextOptions): void {
  try {
    // Loaded with the first certificate: it takes 20 ms, which a start without TLS is not to pay.
    process.getBuiltinModule('node:tls').createSecureContext(options);
  } catch (cause) {
    throw new CertificateError(`${what}: OpenSSL refuses it: ${reason(cause as NodeJS.ErrnoException)}`);
  }
}

/** The last part of OpenSSL's `error:0A0000B9:SSL routines::no cipher match`. */
function reason({ message, code = '' }: NodeJS.ErrnoException): string {
  if (code === 'ERR_SSL_NO_CIPHER_MATCH') return 'it knows no such cipher; openssl ciphers -v lists them';
  if (message.includes('ECDH curve'))
    return 'it knows no such curve; openssl ecparam -list_curves lists them';
  if (code === 'ERR_SSL_EE_KEY_TOO_SMALL')
    return 'the key is too short; make one of 2048 bits (RSA) or P-256';
  if (code === 'ERR_SSL_CA_MD_TOO_WEAK')
    return 'its signature is of an algorithm that is too weak; ask the authority for a new one';
  return message.split(':').at(-1) ?? message;
}
