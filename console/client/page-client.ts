// Requests a page from the daemon as any client would, at the address where it listens: one GET on a connection of its
// own, without cookies and body. The body of the response is counted and hashed, not kept.

import { createHash } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface PageAddress {
  host: string;
  port: number;
}

export interface PageAnswer {
  status: number;
  /** In the order of the response, with names as they came. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Of the body. */
  bytes: number;
  sha256: string;
  /** Until the response head arrived. */
  seconds: number;
}

/** Sends the request once `connected` has resolved, which gets the local port. Rejects with a sentence for the
 * operator. */
export type AskForPage = (
  at: PageAddress,
  page: { host: string; url: string },
  connected: (port: number) => Promise<void>,
) => Promise<PageAnswer>;

/** Headers of the request. */
export function pageHeaders(host: string): Record<string, string> {
  return { Host: host, 'User-Agent': 'proxyadm', Accept: '*/*', Connection: 'close' };
}

/** Limits of a response, in time and in size (chosen). */
const LONGEST_MS = 30_000;
const MOST_BYTES = 256 << 20;

export const askForPage: AskForPage = async (at, { host, url }, connected) => {
  const socket = await opened(at);
  try {
    await connected(socket.localPort ?? 0);
    return await answer(socket, host, url);
  } finally {
    socket.destroy();
  }
};

function opened({ host, port }: PageAddress): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(socket));
    socket.once('error', (cause) => reject(new Error(`${host}:${port}: ${cause.message}`, { cause })));
  });
}

function answer(socket: Socket, host: string, url: string): Promise<PageAnswer> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const fail = (text: string, cause?: unknown): void => {
      clearTimeout(timer);
      reject(new Error(text, { cause }));
    };
    const timer = setTimeout(() => fail(`no whole answer within ${LONGEST_MS / 1000} s`), LONGEST_MS);
    let sent: ClientRequest;
    try {
      sent = request({
        createConnection: () => socket,
        path: url,
        setHost: false,
        headers: pageHeaders(host),
      });
    } catch (cause) {
      return fail(`cannot be asked for: ${(cause as Error).message}`, cause);
    }
    sent.on('error', (cause) => fail(cause.message, cause));
    sent.on('response', (response) => {
      const seconds = (performance.now() - start) / 1000;
      const hash = createHash('sha256');
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        hash.update(piece);
        if (bytes > MOST_BYTES) fail(`its body is larger than ${MOST_BYTES >> 20} MB`);
      });
      response.on('error', (cause) => fail(`its body broke off: ${cause.message}`, cause));
      response.on('end', () => {
        clearTimeout(timer);
        const { rawHeaders, statusCode = 0 } = response;
        const headers = rawHeaders.flatMap((name, i): [string, string][] =>
          i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? '']] : [],
        );
        resolve({ status: statusCode, headers, bytes, sha256: hash.digest('hex'), seconds });
      });
    });
    sent.end();
  });
}
