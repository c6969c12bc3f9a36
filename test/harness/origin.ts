// A scripted origin: every URL has a reply that is a list of actions on the raw connection (bytes, pauses,
// resets), so that a test decides each byte and each moment. Requests are kept as they came. It reads
// request bodies by length or chunks only to find the next request; it judges nothing.
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls';
import { delay, until } from './processes.ts';

/** Below the kernel's own, which begin at 32768 (net.ipv4.ip_local_port_range). */
const LOWEST_PORT = 10_000;
const PORTS = 20_000;

export interface OriginRequest {
  method: string;
  url: string;
  proto: string;
  /** The head as received, final blank line included. */
  head: string;
  body: Buffer;
  /** False when the connection ended inside the body. */
  complete: boolean;
  /** Ordinal of the connection it came on, from 1. */
  connection: number;
}

export type Action =
  | { send: string | Buffer }
  | { wait: number }
  /** Waits until this promise is settled. */
  | { hold: Promise<unknown> }
  /** Sends a TCP reset. */
  | { reset: true }
  /** Ends the connection in the orderly way. */
  | { close: true }
  /** Ends the connection below TLS, without close_notify. */
  | { cut: true };

export type Reply = readonly Action[];
/** `n` counts the requests for this URL from 1. */
export type ReplyMaker = (request: OriginRequest, n: number) => Reply;

/** A response with Content-Length (unless the fields say how the body is framed, or there is none). */
export function respond(
  status: string,
  fields: Record<string, string> = {},
  body: string | Buffer = '',
): Reply {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  const framed = Object.keys(fields).some((n) => /^(content-length|transfer-encoding)$/i.test(n));
  const bodyless = /^(1\d\d|204|304)/.test(status);
  let head = `HTTP/1.1 ${status}\r\n`;
  for (const [name, value] of Object.entries(fields)) head += `${name}: ${value}\r\n`;
  if (!framed && !bodyless) head += `Content-Length: ${bytes.length}\r\n`;
  return [{ send: Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), bytes]) }];
}

/** A response in chunks; a pause of `gap` milliseconds before each chunk and the end. */
export function respondChunked(
  status: string,
  fields: Record<string, string>,
  chunks: readonly (string | Buffer)[],
  gap = 0,
): Reply {
  let head = `HTTP/1.1 ${status}\r\n`;
  for (const [name, value] of Object.entries(fields)) head += `${name}: ${value}\r\n`;
  const actions: Action[] = [{ send: `${head}Transfer-Encoding: chunked\r\n\r\n` }];
  for (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
    if (gap > 0) actions.push({ wait: gap });
    actions.push({
      send: Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
    });
  }
  if (gap > 0) actions.push({ wait: gap });
  actions.push({ send: '0\r\n\r\n' });
  return actions;
}

/** A completed handshake, as the origin has it. */
export interface OriginHandshake {
  resumed: boolean;
  servername: string | false | null;
  alpn: string | false | null;
  /** Common name of the client's certificate; '' without one. */
  client: string;
}

export class Origin {
  /** With TLS. */
  readonly handshakes: OriginHandshake[] = [];
  readonly requests: OriginRequest[] = [];
  readonly #replies = new Map<string, Reply | ReplyMaker>();
  readonly #counts = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  readonly #raw = new Set<Socket>();
  readonly #begun = new Set<string>();
  /** Connections on which a reply is being played. */
  readonly #busy = new Set<Socket>();
  readonly #server: Server;
  #connections = 0;
  port = 0;

  private constructor(tls: TlsOptions | null) {
    const options = { allowHalfOpen: true };
    this.#server =
      tls === null
        ? createServer(options, (socket) => void this.#serve(socket))
        : createTlsServer({ ...options, ...tls }, (socket) => {
            this.handshakes.push({
              resumed: socket.isSessionReused(),
              servername: (socket as { servername?: string | false }).servername ?? null,
              alpn: socket.alpnProtocol,
              client: String(socket.getPeerCertificate()?.subject?.CN ?? ''),
            });
            void this.#serve(socket);
          });
    // Those whose handshake failed, too.
    this.#server.on('connection', (socket: Socket) => {
      this.#raw.add(socket);
      socket.on('close', () => this.#raw.delete(socket));
    });
  }

  /** Replaces the certificate for new connections. */
  present(tls: TlsOptions): void {
    (this.#server as TlsServer).setSecureContext(tls);
  }

  /** Listens on 127.0.0.1, on a free port unless one is given. */
  static async start(port = 0, tls: TlsOptions | null = null): Promise<Origin> {
    const origin = new Origin(tls);
    await new Promise<void>((resolve, reject) => {
      origin.#server.once('error', reject);
      origin.#server.listen({ port, host: '127.0.0.1', backlog: 1024 }, resolve);
    });
    const address = origin.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the origin has no TCP port');
    origin.port = address.port;
    return origin;
  }

  /** Sets the reply of a URL (query part included); '*' is the reply of all others. */
  on(url: string, reply: Reply | ReplyMaker): this {
    this.#replies.set(url, reply);
    return this;
  }

  /** Requests received for a URL. */
  seen(url: string): OriginRequest[] {
    return this.requests.filter((r) => r.url === url);
  }

  /** Whether the head of a request for a URL has come, with or without its body. */
  hasBegun(url: string): boolean {
    return this.#begun.has(url);
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Ends the connections in the orderly way as far as they are idle, and waits until the peer has closed too. */
  async endIdle(ms = 2000): Promise<void> {
    for (const socket of this.#sockets) if (!this.#busy.has(socket)) socket.end();
    const end = performance.now() + ms;
    while (performance.now() < end && [...this.#sockets].some((s) => !this.#busy.has(s))) await delay(2);
  }

  /** Waits until every request that has come is answered. */
  async answered(): Promise<void> {
    await until('all requests answered', () => this.#busy.size === 0);
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#raw]) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#busy.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    socket.setNoDelay(true);
    const reader = new RequestReader(socket, ++this.#connections, (url) => this.#begun.add(url));
    for (;;) {
      const request = await reader.next();
      if (request === null) break;
      this.requests.push(request);
      if (!request.complete) break;
      const n = (this.#counts.get(request.url) ?? 0) + 1;
      this.#counts.set(request.url, n);
      const found =
        this.#replies.get(request.url) ??
        this.#replies.get('*') ??
        respond('404 Not Found', {}, 'no such page\n');
      this.#busy.add(socket);
      const kept = await this.#play(socket, typeof found === 'function' ? found(request, n) : found);
      this.#busy.delete(socket);
      if (!kept) return;
    }
    socket.end();
  }

  /** Plays a reply; false when the connection is over. */
  async #play(socket: Socket, reply: Reply): Promise<boolean> {
    for (const action of reply) {
      if (socket.destroyed) return false;
      if ('send' in action) {
        const bytes = typeof action.send === 'string' ? Buffer.from(action.send, 'latin1') : action.send;
        if (!socket.write(bytes)) {
          await new Promise<void>((resolve) => {
            socket.once('drain', resolve);
            socket.once('close', () => resolve());
          });
        }
      } else if ('wait' in action) await delay(action.wait);
      else if ('hold' in action) await action.hold;
      else if ('reset' in action) {
        socket.resetAndDestroy();
        return false;
      } else if ('cut' in action) {
        // The bytes before it have to leave first.
        await delay(20);
        socket.destroy();
        return false;
      } else {
        socket.end();
        return false;
      }
    }
    return !socket.destroyed;
  }
}

/** Cuts the byte stream of one connection into requests. */
class RequestReader {
  readonly #socket: Socket;
  readonly #connection: number;
  readonly #onHead: (url: string) => void;
  /** Received and unread data: joined when read. */
  #pieces: Buffer[] = [];
  #length = 0;
  #ended = false;
  #wake: (() => void) | null = null;

  /** @param begun called with the URL of each head, before its body is waited for */
  constructor(socket: Socket, connection: number, begun: (url: string) => void) {
    this.#socket = socket;
    this.#connection = connection;
    this.#onHead = begun;
    const notify = () => {
      const wake = this.#wake;
      this.#wake = null;
      wake?.();
    };
    socket.on('data', (d: Buffer) => {
      this.#pieces.push(d);
      this.#length += d.length;
      notify();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#ended = true;
        notify();
      });
    }
  }

  async next(): Promise<OriginRequest | null> {
    let end = -1;
    for (;;) {
      end = this.#joined().indexOf('\r\n\r\n');
      if (end >= 0) break;
      if (!(await this.#more())) return null;
    }
    const head = this.#take(end + 4).toString('latin1');
    const [method = '', url = '', proto = ''] = head.slice(0, head.indexOf('\r\n')).split(' ');
    this.#onHead(url);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    const chunked = /^transfer-encoding: *chunked/im.test(head);
    let body: Buffer | null = Buffer.alloc(0);
    if (chunked) body = await this.#chunks();
    else if (length !== undefined) body = await this.#exactly(Number(length));
    const complete = body !== null;
    return {
      method,
      url,
      proto,
      head,
      body: body ?? Buffer.alloc(0),
      complete,
      connection: this.#connection,
    };
  }

  #joined(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] as Buffer;
  }

  #take(n: number): Buffer {
    const all = this.#joined();
    this.#pieces = n === all.length ? [] : [all.subarray(n)];
    this.#length -= n;
    return all.subarray(0, n);
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return !this.#socket.destroyed || this.#length > 0;
  }

  async #exactly(n: number): Promise<Buffer | null> {
    while (this.#length < n) if (!(await this.#more())) return null;
    return this.#take(n);
  }

  async #line(): Promise<string | null> {
    for (;;) {
      const at = this.#joined().indexOf('\r\n');
      if (at >= 0) return this.#take(at + 2).toString('latin1', 0, at);
      if (!(await this.#more())) return null;
    }
  }

  async #chunks(): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (;;) {
      const line = await this.#line();
      if (line === null || !/^[0-9a-fA-F]+/.test(line)) return null;
      const n = Number.parseInt(line, 16);
      if (n === 0) {
        for (let t = await this.#line(); t !== ''; t = await this.#line()) if (t === null) return null;
        return Buffer.concat(parts);
      }
      const data = await this.#exactly(n + 2);
      if (data === null) return null;
      parts.push(data.subarray(0, n));
    }
  }
}

/** An unused TCP port of 127.0.0.1 outside of the kernel's automatic range, from which another test's connection could
 * take it a moment later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    const origin = await Origin.start(port).catch(() => null);
    if (origin === null) continue;
    await origin.close();
    return port;
  }
}
