// One request over a TLS connection of its own, by the runtime's client, and what the handshake agreed on.

import { type AddressInfo, createServer } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { PATIENCE } from './processes.ts';

export interface TlsResponse {
  readonly status: number;
  /** In lower case. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly version: string;
  readonly cipher: string;
  readonly alpn: string | false | null;
  readonly resumed: boolean;
  /** Subject of the certificate that was presented. */
  readonly subject: string;
  /** For the next connection. */
  readonly session: Buffer | undefined;
}

export interface TlsRequest extends ConnectionOptions {
  readonly path?: string;
  /** Lines of the head beside Host and Connection. */
  readonly lines?: readonly string[];
  readonly method?: string;
  readonly body?: Buffer;
}

/** Connects and resolves once the handshake is over. */
export function tlsConnect(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: 'a.example',
      rejectUnauthorized: false,
      ...options,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error('timeout')));
  });
}

/** Sends a request with `Connection: close` and reads to the end. Rejects where the handshake fails. */
export async function tlsRequest(port: number, options: TlsRequest = {}): Promise<TlsResponse> {
  const { path = '/', lines = [], method = 'GET', body, ...rest } = options;
  const socket = await tlsConnect(port, rest);
  const resumed = socket.isSessionReused();
  const version = socket.getProtocol() ?? '';
  const cipher = socket.getCipher()?.name ?? '';
  const cert = socket.getPeerCertificate();
  // Of TLS 1.3 it comes later.
  let session: Buffer | undefined = version === 'TLSv1.3' ? undefined : socket.getSession();
  socket.on('session', (each: Buffer) => {
    session = each;
  });
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [`${method} ${path} HTTP/1.1`, 'Host: a.example', 'Connection: close', ...lines, ...length];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  if (body !== undefined) socket.write(body);
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (bytes: Buffer) => pieces.push(bytes));
    socket.on('end', resolve);
    socket.on('close', resolve);
    socket.on('error', reject);
  });
  const all = Buffer.concat(pieces);
  const end = all.indexOf('\r\n\r\n');
  const [status = '', ...fields] = all.toString('latin1', 0, end).split('\r\n');
  socket.destroy();
  return {
    status: Number(status.split(' ')[1]),
    fields: Object.fromEntries(
      fields.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    ),
    body: all.subarray(end + 4),
    version,
    cipher,
    alpn: socket.alpnProtocol,
    resumed,
    subject: String(cert.subject?.CN ?? ''),
    session,
  };
}

/** The code of the error with which a handshake fails; '' when it does not. */
export async function refusal(port: number, options: ConnectionOptions = {}): Promise<string> {
  try {
    const socket = await tlsConnect(port, options);
    // With TLS 1.3 the client is done before the server has judged its certificate.
    return await new Promise((resolve) => {
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      socket.on('close', () => resolve(''));
      socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      socket.resume();
    });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** The first message of the runtime's client. */
export function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      });
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1', () => {
      connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).on(
        'error',
        () => undefined,
      );
    });
  });
}
