// EdgeGrid request signatures (EG1-HMAC-SHA256) and their verification, based on node:crypto. Clock and nonce are
// arguments. Only the first 131,072 bytes of a body are hashed, and only for a POST; the daily key is used in base64
// form, not decoded. Verification compares in constant time, and asks its caller whether a nonce is new.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface EdgeGridCredentials {
  readonly clientToken: string;
  readonly clientSecret: string;
  readonly accessToken: string;
}

export interface SignedParts {
  /** Upper case. */
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Including the port, as in the Host header. */
  readonly host: string;
  /** Path and query as sent. */
  readonly path: string;
  readonly body: Buffer;
}

export type Verdict = 'good' | 'malformed' | 'unknown-client' | 'skew' | 'signature' | 'nonce';

const ALGORITHM = 'EG1-HMAC-SHA256';
/** Bytes of a body that are hashed; limit of the API. */
const MAX_HASHED = 131_072;
/** Seconds of clock skew; beyond it the API answers 403. */
const MAX_SKEW = 30;
const AUTHORIZATION =
  /^EG1-HMAC-SHA256 client_token=([^;]{1,128});access_token=([^;]{1,128});timestamp=(\d{8}T\d{2}:\d{2}:\d{2}\+0000);nonce=([^;]{1,128});signature=([A-Za-z0-9+/]{43}=)$/;

/** The Authorization header of a request. `now` is in milliseconds since 1970. */
export function authorization(
  credentials: EdgeGridCredentials,
  parts: SignedParts,
  now: number,
  nonce: string,
): string {
  const timestamp = edgeGridTimestamp(now);
  const { clientToken, accessToken, clientSecret } = credentials;
  const unsigned = `${ALGORITHM} client_token=${clientToken};access_token=${accessToken};timestamp=${timestamp};nonce=${nonce};`;
  return `${unsigned}signature=${signature(clientSecret, timestamp, parts, unsigned)}`;
}

/** Verifies a request. `freshNonce` is called last, so that a forged request cannot use up the nonce of a genuine
 * one. */
export function verifyAuthorization(
  header: string | undefined,
  credentials: EdgeGridCredentials,
  parts: SignedParts,
  now: number,
  freshNonce: (nonce: string) => boolean,
): Verdict {
  const match = AUTHORIZATION.exec(header ?? '');
  if (match === null) return 'malformed';
  const [text, client, access, timestamp, nonce, given] = match as unknown as string[];
  if (client !== credentials.clientToken || access !== credentials.accessToken) return 'unknown-client';
  const at = timestampMs(timestamp as string);
  if (Number.isNaN(at)) return 'malformed';
  const unsigned = (text as string).slice(0, -`signature=${given}`.length);
  const wanted = signature(credentials.clientSecret, timestamp as string, parts, unsigned);
  if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(given as string))) return 'signature';
  if (Math.abs(now - at) > MAX_SKEW * 1000) return 'skew';
  return freshNonce(nonce as string) ? 'good' : 'nonce';
}

/** An Authorization header with the signature masked, for logs. */
export function maskSignature(header: string): string {
  return header.replace(/(client_token|access_token|signature)=[^;]*/g, '$1=***');
}

/** yyyyMMddTHH:mm:ss+0000 */
export function edgeGridTimestamp(now: number): string {
  const iso = new Date(now).toISOString();
  return `${iso.slice(0, 10).replaceAll('-', '')}${iso.slice(10, 19)}+0000`;
}

function timestampMs(text: string): number {
  return Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 17)}Z`);
}

function signature(secret: string, timestamp: string, parts: SignedParts, unsigned: string): string {
  const { method, scheme, host, path, body } = parts;
  const hash =
    method === 'POST' && body.length > 0
      ? createHash('sha256').update(body.subarray(0, MAX_HASHED)).digest('base64')
      : '';
  // The empty part is that of canonical headers: no header is signed.
  const data = [method, scheme, host.toLowerCase(), path, '', hash, unsigned].join('\t');
  return hmac(hmac(secret, timestamp), data);
}

function hmac(key: string, data: string): string {
  return createHmac('sha256', key).update(data).digest('base64');
}
