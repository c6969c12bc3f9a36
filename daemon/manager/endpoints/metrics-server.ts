// The listener for Prometheus (--metrics): answers GET and HEAD of /metrics and nothing else, on an address of its own.
//
// It changes nothing. One page is made at a time, and those who ask meanwhile share the next one. Bounded in everything: connections, heads, the time a request may take; a crowd
// from one address costs that address its connections. A reading that fails is a 503, so that a gap shows as one.
// Caution: nobody proves anything here, so a web page whose name is made to lead here must not read it either: only
// names that are this listener's own are answered.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../../../protocol/proof.ts';
import { turns } from '../../turns/turns.ts';
import { Door, listen } from './listener.ts';
import { METRICS_TYPE } from './metrics-text.ts';

const MAX_CONNECTIONS = 32;
/** Milliseconds a head may take, an idle connection may stay, and a connection may be without any progress. */
const HEAD_TIME = 5000;
const IDLE_TIME = 60_000;
/** Connections end by the server's timeouts: a door's own is as long as a timer can be. */
const NEVER = 2 ** 31 - 1;
/** Bytes of a page that are written at a time (chosen). */
const A_WRITE = 16 * 1024;
/** A page as it is sent. */
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

  /** Names in Host that are answered besides the listener's address: as given, and allowed by the operator. */
  private readonly names: Set<string>;

  /** The page that those will get who ask now. */
  private next: Page | null = null;
  private making: Promise<unknown> = Promise.resolve();

  /** @param text the page in pieces; called once a page */
  constructor(text: () => Promise<Generator<string>>, names: readonly string[] = []) {
    this.names = new Set(names.map((name) => name.toLowerCase()));
    const door = new Door({ unknown: MAX_CONNECTIONS, known: 0, greeting: NEVER });
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
      const guest = { address: socket.remoteAddress ?? '', drop: () => void socket.destroy() };
      door.enter(guest);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => door.leave(guest));
    });
    this.server.setTimeout(IDLE_TIME);
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Resolves to the port. */
  listen(host: string, port: number): Promise<number> {
    this.names.add(host.toLowerCase());
    return listen(this.server, { host, port });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Null once nobody is there who asked for it. */
  private page(asks: ServerResponse, text: () => Promise<Generator<string>>): Promise<Bytes | null> {
    if (this.next === null) {
      const asking: ServerResponse[] = [];
      const made = this.making.then(async () => {
        // Whoever asks from here on gets values that are read from here on.
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

  /** Why a request is none of this listener's; null when it is. Without a Host it comes from no browser. */
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
    if (turns.mayGoOn()) continue;
    await turns.next();
    if (response.destroyed) return;
  }
  response.end();
}

/** Bytes of some thousand characters at a time. */
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
