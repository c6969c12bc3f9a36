// Signatures of requests to an authority: JSON Web Signatures with an ECDSA P-256 account key (RFC 8555 section 6.2), and
// with the HMAC key that binds an account to one that its owner has there already (section 7.3.4).

import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/** An account's key at the authority of one that exists elsewhere. */
export interface ExternalAccount {
  readonly kid: string;
  readonly hmacKey: Uint8Array;
}

interface Jwk {
  readonly crv: string;
  readonly kty: string;
  readonly x: string;
  readonly y: string;
}

/** Either names the key: a new account's is sent along, a known account has an URL. */
type KeyHeader = { readonly jwk: Jwk } | { readonly kid: string };

export class AccountKey {
  readonly jwk: Jwk;
  /** RFC 7638, base64url. */
  readonly thumbprint: string;
  private readonly key: KeyObject;

  /** @param pem an ECDSA P-256 key */
  constructor(pem: string) {
    this.key = createPrivateKey(pem);
    const { crv = '', kty = '', x = '', y = '' } = createPublicKey(this.key).export({ format: 'jwk' });
    if (crv !== 'P-256') throw new Error('not an ECDSA P-256 key');
    // RFC 7638 section 3 hashes the members in this order.
    this.jwk = { crv, kty, x, y };
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.jwk)).digest('base64url');
  }

  /** The response to a challenge (RFC 8555 section 8.1). */
  authorization(token: string): string {
    return `${token}.${this.thumbprint}`;
  }

  /** A signed request. @param payload null reads a resource (POST-as-GET) */
  signed(url: string, nonce: string, kid: string | null, payload: unknown): string {
    const key: KeyHeader = kid === null ? { jwk: this.jwk } : { kid };
    const header = { alg: 'ES256', ...key, nonce, url };
    return flattened(header, payload === null ? '' : JSON.stringify(payload), (input) =>
      sign('sha256', input, { key: this.key, dsaEncoding: 'ieee-p1363' }),
    );
  }

  /** The object that binds this key to an external account. @param url of newAccount */
  binding({ kid, hmacKey }: ExternalAccount, url: string): unknown {
    const text = flattened({ alg: 'HS256', kid, url }, JSON.stringify(this.jwk), (input) =>
      createHmac('sha256', hmacKey).update(input).digest(),
    );
    return JSON.parse(text);
  }
}

/** The flattened JSON serialization (RFC 7515 section 7.2.2). */
function flattened(header: unknown, payload: string, signer: (input: Buffer) => Buffer): string {
  const first = Buffer.from(JSON.stringify(header)).toString('base64url');
  const second = Buffer.from(payload).toString('base64url');
  const signature = signer(Buffer.from(`${first}.${second}`)).toString('base64url');
  return JSON.stringify({ protected: first, payload: second, signature });
}
