// The listener for Prometheus (--metrics): answers GET and HEAD of /metrics and nothing else, on an address of its own.
//
// It holds no state and changes nothing. Bounded in everything: connections, heads, the time a request may take. A
// reading that fails is a 503, so that a gap shows as one.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METRICS_TYPE } from './metrics-text.ts';

const MAX_CONNECTIONS = 32;
/** Milliseconds a head may take, an idle connection may stay, and a connection may be without any progress. */
const HEAD_TIME = 5000;
const IDLE_TIME = 60_000;

export class MetricsServer {
  private readonly server: Server;

  /** @param text makes the page; called once a request */
  constructor(text: () => string) {
    this.server = createServer(
      {
        maxHeaderSize: 8192,
        headersTimeout: HEAD_TIME,
        requestTimeout: HEAD_TIME,
        keepAliveTimeout: IDLE_TIME,
        connectionsCheckingInterval: 1000,
      },
      (request, response) => answer(request, response, text),
    );
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.setTimeout(IDLE_TIME);
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Resolves to the port. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port }, () => {
        this.server.off('error', reject);
        this.server.on('error', () => {});
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

function answer(request: IncomingMessage, response: ServerResponse, text: () => string): void {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
  // Nobody has to send anything here.
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...plain, Allow: 'GET, HEAD', Connection: 'close' }).end('GET or HEAD\n');
    return;
  }
  if ((request.url ?? '').split('?')[0] !== '/metrics') {
    response.writeHead(404, plain).end('The counters are at /metrics\n');
    return;
  }
  let page: string;
  try {
    page = text();
  } catch (cause) {
    response.writeHead(503, plain).end(`${(cause as Error).message}\n`);
    return;
  }
  response.writeHead(200, { 'Content-Type': METRICS_TYPE, 'Content-Length': Buffer.byteLength(page) });
  response.end(page);
}
