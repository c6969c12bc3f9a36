// One call to the API of a network: HTTPS, or HTTP to a loopback address for the fake one. Limited in time and size of
// the response; redirects are not followed. Rejects only for the signal.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CallResult } from './provider.ts';

export interface ApiCall {
  readonly method: 'GET' | 'POST';
  readonly scheme: 'http' | 'https';
  /** Including the port, if any. */
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PATIENCE = 20_000;
const MAX_ANSWER = 64 * 1024;

/** Whether the host may be called without TLS: loopback only, for the fake network. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/.test(host);
}

/** @param ca certificates that replace the system's */
export function apiCall(
  call: ApiCall,
  ca: string | null,
  signal: AbortSignal,
  patience = PATIENCE,
): Promise<CallResult> {
  return new Promise((answered, failed) => {
    if (signal.aborted) return failed(signal.reason);
    const body = Buffer.from(call.body);
    const url = `${call.scheme}://${call.host}${call.path}`;
    const length = call.method === 'POST' ? { 'Content-Length': String(body.length) } : {};
    const options = { method: call.method, headers: { ...call.headers, ...length }, agent: false as const };
    const asked: ClientRequest =
      call.scheme === 'http'
        ? httpRequest(url, options, received)
        : httpsRequest(url, ca === null ? options : { ...options, ca }, received);
    const timer = setTimeout(() => asked.destroy(new Error(`no answer within ${patience} ms`)), patience);
    const left = (): void => {
      asked.destroy(signal.reason as Error);
    };
    signal.addEventListener('abort', left, { once: true });
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', left);
    };
    const broke = (cause: Error): void => {
      over();
      if (signal.aborted) failed(signal.reason);
      else answered({ failure: cause.message });
    };
    asked.on('error', broke);
    asked.end(call.method === 'POST' ? body : undefined);

    function received(response: IncomingMessage): void {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        pieces.push(piece);
        if (bytes > MAX_ANSWER) response.destroy(new Error(`an answer of more than ${MAX_ANSWER} bytes`));
      });
      response.on('error', broke);
      response.on('end', () => {
        if (!response.complete) return broke(new Error('half an answer'));
        over();
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        answered({ status: response.statusCode ?? 0, headers, body: Buffer.concat(pieces).toString() });
      });
    }
  });
}
