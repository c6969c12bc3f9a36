// The listener for Prometheus (--metrics): answers GET and HEAD of /metrics and nothing else, on an address of its own.
//
// Read-only. Pages are made one at a time; requests that arrive meanwhile share the next one. Connections, request
// heads and request times are limited; a flood from one address costs that address its connections. If the counters
// cannot be read the status is 503, so that the gap is visible. Note: there is no authentication, so that a web page
// must not reach it by DNS rebinding: only requests whose Host names this listener are answered.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../../../protocol/proof.ts';
import { turns } from '../../turns/turns.ts';
import { Listener, listen } from './listener.ts';
import { METRICS_TYPE } from './metrics-text.ts';

const MAX_CONNECTIONS = 32;
/** Milliseconds for a request head, for an idle connection, and for a connection without progress. */
const HEAD_TIME = 5000;
const IDLE_TIME = 60_000;
/** The server's own timeouts close connections; the listener's limit is the longest timer. */
const NEVER = 2 ** 31 - 1;
/** Bytes of a page written at once (chosen). */
const A_WRITE = 16 * 1024;
/** An encoded page. */
interface Bytes {
  readonly parts: readonly Buffer[];
  readonly length: number;
}

interface Page {
  readonly asking: ServerResponse[];
  readonly made: Promise<Bytes | null>;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export class MetricsServer {
  private readonly server: Server;

  /** Accepted values of Host besides the listener's address: the configured name, and those allowed by the operator. */
  private readonly names: Set<string>;

  /** The page for requests that arrive now. */
  private next: Page | null = null;
  private making: Promise<unknown> = Promise.resolve();

  /** @param text makes a page, in pieces */
  constructor(text: () => Promise<Generator<string>>, names: readonly string[] = []) {
    this.names = new Set(names.map((name) => name.toLowerCase()));
    const listener = new Listener({ pending: MAX_CONNECTIONS, admitted: 0, greeting: NEVER });
    this.server = createServer(
      {
        maxHeaderSize: 8192,
        headersTimeout: HEAD_TIME,
        requestTimeout: HEAD_TIME,
        keepAliveTimeout: IDLE_TIME,
        connectionsCheckingInterval: 1000,
      },
      (request, response) => {
        const refused = this.foreignHost(request);
        if (refused === null) void answer(request, response, () => this.page(response, text));
        else refuse(request, response, refused);
      },
    );
    this.server.on('connection', (socket) => {
      const client = { address: socket.remoteAddress ?? '', drop: () => void socket.destroy() };
      listener.add(client);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => listener.remove(client));
    });
    this.server.setTimeout(IDLE_TIME);
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    this.names.add(host.toLowerCase());
    return listen(this.server, { host, port });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Null if all clients that requested the page are gone. */
  private page(asks: ServerResponse, text: () => Promise<Generator<string>>): Promise<Bytes | null> {
    if (this.next === null) {
      const asking: ServerResponse[] = [];
      const made = this.making.then(async () => {
        // Requests from here on get a newer page.
        this.next = null;
        const isWanted = (): boolean => asking.some((response) => !response.destroyed);
        return isWanted() ? ((await turns.through(bytesOf(await text()), isWanted)) ?? null) : null;
      });
      this.next = { asking, made };
      this.making = made.catch(() => undefined);
    }
    this.next.asking.push(asks);
    return this.next.made;
  }

  /** The error for a request whose Host does not name this listener; null if it does. A request without Host is not
   * from a browser. */
  private foreignHost({ headers, socket }: IncomingMessage): string | null {
    const host = (headers.host ?? '').toLowerCase();
    const name = host
      .replace(/:\d+$/, '')
      .replace(/^\[(.*)\]$/, '$1')
      .replace(/\.$/, '');
    if (host === '' || LOOPBACK.test(name) || this.names.has(name) || this.names.has(host)) return null;
    if (isIP(name) !== 0 && name === plainAddress(socket.localAddress ?? '')) return null;
    const shown = /^[\w.:-]{1,253}$/.test(name) ? name : 'NAME';
    return `Host ${JSON.stringify(shown)} is not a name of this listener: start proxyd with --allow-host ${shown}`;
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, why: string): void {
  request.resume();
  response
    .writeHead(403, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
    .end(`${why}\n`);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  page: () => Promise<Bytes | null>,
): Promise<void> {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
  // Request bodies are discarded.
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { ...plain, Allow: 'GET, HEAD', Connection: 'close' }).end('GET or HEAD\n');
    return;
  }
  if ((request.url ?? '').split('?')[0] !== '/metrics') {
    response.writeHead(404, plain).end('The counters are at /metrics\n');
    return;
  }
  let made: Bytes | null;
  try {
    made = await page();
  } catch (cause) {
    response.writeHead(503, plain).end(`${(cause as Error).message}\n`);
    return;
  }
  if (made === null || response.destroyed) return;
  response.writeHead(200, { 'Content-Type': METRICS_TYPE, 'Content-Length': made.length });
  for (const part of made.parts) {
    response.write(part);
    if (turns.mayContinue()) continue;
    await turns.next();
    if (response.destroyed) return;
  }
  response.end();
}

/** Encodes the page in pieces of some thousand characters. */
function* bytesOf(pieces: Iterable<string>): Generator<void, Bytes> {
  const parts: Buffer[] = [];
  let length = 0;
  let text = '';
  const take = (): void => {
    const bytes = Buffer.from(text);
    parts.push(bytes);
    length += bytes.length;
    text = '';
  };
  for (const piece of pieces) {
    text += piece;
    if (text.length >= A_WRITE) take();
    yield;
  }
  take();
  return { parts, length };
}
