// One client for both protocols, so that a test can ask for the same over each: HTTP/1 with a connection for every request,
// HTTP/2 with one connection for all (Node's own client, which knows nothing of ours).

import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectNet } from 'node:net';
import { ClientConnection, requestText } from './http-client.ts';
import { PATIENCE } from './processes.ts';

export type Protocol = 'HTTP/1' | 'HTTP/2';
export const PROTOCOLS: readonly Protocol[] = ['HTTP/1', 'HTTP/2'];

export interface Wish {
  readonly method?: string;
  readonly host?: string;
  readonly fields?: Record<string, string>;
  readonly body?: Buffer | string;
  /** The body comes without a length, in these pieces, each in its time. */
  readonly pieces?: AsyncIterable<Buffer>;
}

export interface Answer {
  readonly status: number;
  /** By names in lower case; several of a name are joined by `, `. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Its end has come as it should. */
  readonly complete: boolean;
  /** Statuses of the 1xx responses before it. */
  readonly interim: readonly number[];
}

export interface Talker {
  readonly protocol: Protocol;
  ask(path: string, wish?: Wish): Promise<Answer>;
  close(): void;
}

/** @param to a port of 127.0.0.1 or the path of a Unix socket */
export function talk(protocol: Protocol, to: number | string): Talker {
  return protocol === 'HTTP/1' ? new Http1Talker(to) : new Http2Talker(to);
}

class Http1Talker implements Talker {
  readonly protocol = 'HTTP/1';
  private readonly to: number | string;
  private readonly connections = new Set<ClientConnection>();

  constructor(to: number | string) {
    this.to = to;
  }

  async ask(path: string, wish: Wish = {}): Promise<Answer> {
    const { method = 'GET', host, fields = {}, body, pieces } = wish;
    const connection = await ClientConnection.open(this.to);
    this.connections.add(connection);
    try {
      const framing: Record<string, string> = {};
      if (pieces !== undefined) framing['Transfer-Encoding'] = 'chunked';
      else if (body !== undefined) framing['Content-Length'] = String(Buffer.byteLength(body));
      connection.send(
        requestText(path, { method, ...(host && { host }), fields: { ...fields, ...framing } }),
      );
      if (body !== undefined) connection.send(Buffer.from(body));
      if (pieces !== undefined) {
        for await (const piece of pieces) {
          connection.send(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, CRLF]));
        }
        connection.send('0\r\n\r\n');
      }
      const got = await connection.response(method);
      const named: Record<string, string> = {};
      for (const [name, value] of got.fields) put(named, name.toLowerCase(), value);
      const interim = got.interim.map((head) => Number(head.split(' ')[1]));
      return { status: got.status, fields: named, body: got.body, complete: got.complete, interim };
    } finally {
      connection.close();
      this.connections.delete(connection);
    }
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }
}

class Http2Talker implements Talker {
  readonly protocol = 'HTTP/2';
  private readonly to: number | string;
  private session: ClientHttp2Session;

  constructor(to: number | string) {
    this.to = to;
    this.session = this.connect();
  }

  private connect(): ClientHttp2Session {
    const { to } = this;
    const socket = typeof to === 'number' ? { port: to, host: '127.0.0.1' } : { path: to };
    const session = connect('http://127.0.0.1', { createConnection: () => connectNet(socket) });
    return session.on('error', () => {});
  }

  ask(path: string, wish: Wish = {}): Promise<Answer> {
    const { method = 'GET', host = 'example.test', fields = {}, body, pieces } = wish;
    // The proxy ends a connection that is idle for long.
    if (this.session.closed || this.session.destroyed) this.session = this.connect();
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const stream = this.session.request(
      { ':method': method, ':path': path, ':authority': host, ...lowered(fields), ...length },
      { endStream: body === undefined && pieces === undefined },
    );
    if (body !== undefined) stream.end(body);
    else if (pieces !== undefined) void sendAll(stream, pieces);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stream.close(constants.NGHTTP2_CANCEL);
        reject(new Error(`${method} ${path} was not answered within ${PATIENCE} ms`));
      }, PATIENCE);
      let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
      const interim: number[] = [];
      const received: Buffer[] = [];
      let ended = false;
      stream.on('headers', (fields) => interim.push(Number(fields[':status'])));
      stream.on('response', (fields) => {
        head = fields;
      });
      stream.on('data', (bytes: Buffer) => received.push(bytes));
      stream.on('end', () => {
        ended = true;
      });
      stream.on('error', () => {});
      stream.on('close', () => {
        clearTimeout(timer);
        const named: Record<string, string> = {};
        for (const [name, value] of Object.entries(head)) {
          if (!name.startsWith(':') && value !== undefined) put(named, name, String(value));
        }
        resolve({
          status: head[':status'] ?? 0,
          fields: named,
          body: Buffer.concat(received),
          complete: ended && stream.rstCode === constants.NGHTTP2_NO_ERROR && head[':status'] !== undefined,
          interim,
        });
      });
    });
  }

  close(): void {
    this.session.destroy();
  }
}

const CRLF = Buffer.from('\r\n');

function put(named: Record<string, string>, name: string, value: string): void {
  named[name] = named[name] === undefined ? value : `${named[name]}, ${value}`;
}

function lowered(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}

async function sendAll(stream: ClientHttp2Stream, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) {
    if (stream.destroyed) return;
    if (!stream.write(piece))
      await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => {});
  }
  stream.end();
}
