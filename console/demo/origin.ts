// The demo's origin server, in the demo's own process: node:http on a free port.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newScene, type Scene } from './drama.ts';
import { page } from './site.ts';

export interface Origin {
  port: number;
  close(): void;
}

/** `luck` returns numbers in 0..1 for pages that fail now and then; `scene` has the current incidents. */
export async function startOrigin(luck: () => number, scene: Scene = newScene()): Promise<Origin> {
  const server = createServer((request, response) => answer(request, response, luck(), scene));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeServer(server),
  };
}

function answer(request: IncomingMessage, response: ServerResponse, luck: number, scene: Scene): void {
  const url = new URL(request.url ?? '/', 'http://origin');
  const language = (request.headers['accept-language'] ?? 'en').slice(0, 2).toLowerCase();
  const made = page({ path: url.pathname, query: url.searchParams, language, luck, scene });
  request.resume();
  setTimeout(() => {
    if (made.reset === true) {
      request.socket.destroy();
      return;
    }
    response.writeHead(made.status, { ...made.headers, 'Content-Length': Buffer.byteLength(made.body) });
    response.end(request.method === 'HEAD' ? undefined : made.body);
  }, made.delay);
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}
