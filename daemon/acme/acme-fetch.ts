// Requests to an authority over HTTPS, bounded in time and bytes. On node:https rather than fetch: the runtime's fetch
// cannot trust a private authority. Redirections are not followed: the directory has every URL.

import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { AcmeFailure } from './acme-failure.ts';

export interface AcmeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface AcmeResponse {
  readonly status: number;
  /** Names in lower case; several of one name joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Rejects with an AcmeFailure of kind `unavailable`. */
export type AcmeFetch = (request: AcmeRequest) => Promise<AcmeResponse>;

/** Milliseconds for a whole exchange (chosen). */
const TIMEOUT = 30_000;
/** Bytes of a response (chosen): a chain has a few kilobytes. */
const LARGEST = 1 << 20;

/** @param ca PEM of authorities to trust besides the runtime's; null for none @param timeout milliseconds */
export function acmeFetch(ca: string | null, timeout = TIMEOUT): AcmeFetch {
  // Made once, by the first request: reading the roots takes 40 ms.
  let context: SecureContext | null = null;
  const trust = (): { secureContext?: SecureContext } => {
    if (ca === null) return {};
    context ??= createSecureContext({ ca: [...rootCertificates, ca] });
    return { secureContext: context };
  };
  return (wanted) =>
    new Promise((resolve, reject) => {
      const url = new URL(wanted.url);
      const failed = (why: string): void => {
        clearTimeout(timer);
        reject(new AcmeFailure('unavailable', `${url.host}: ${why}`));
      };
      const headers =
        wanted.body === null
          ? wanted.headers
          : { ...wanted.headers, 'Content-Length': String(Buffer.byteLength(wanted.body)) };
      const options = { method: wanted.method, headers, agent: false as const, ...trust() };
      const request = url.protocol === 'https:' ? secureRequest(url, options) : plainRequest(url, options);
      const timer = setTimeout(() => {
        failed(`no answer within ${timeout / 1000} s`);
        request.destroy();
      }, timeout);
      request.on('error', (cause: NodeJS.ErrnoException) =>
        failed(cause.message || (cause.code ?? 'no connection')),
      );
      request.on('response', (response) => {
        const pieces: Buffer[] = [];
        let length = 0;
        response.on('data', (piece: Buffer) => {
          length += piece.length;
          if (length > LARGEST) {
            failed(`an answer of more than ${LARGEST} bytes`);
            request.destroy();
          } else pieces.push(piece);
        });
        response.on('error', (cause) => failed(cause.message));
        response.on('close', () => failed('the connection was closed within an answer'));
        response.on('end', () => {
          clearTimeout(timer);
          resolve({
            status: response.statusCode ?? 0,
            headers: joined(response.headers),
            body: Buffer.concat(pieces).toString(),
          });
        });
      });
      request.end(wanted.body ?? undefined);
    });
}

function joined(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const all = Object.entries(headers).map(([name, value = '']) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(all) as Record<string, string>;
}
