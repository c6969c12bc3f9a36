// A flapping origin: it serves every URL a body derived from the URL, breaks some responses midway and all of them at
// times, and never ends a broken one in an orderly way. So a client that gets a complete body can verify it. The kind
// of response is the URL's second part: len, chunks, gzip or end.
import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { delay } from './processes.ts';

export const KINDS = ['len', 'chunks', 'gzip', 'end'] as const;

const bodies = new Map<string, Buffer>();

/** The body of a URL: from nothing to half a megabyte, the same every time. */
export function bodyOf(url: string): Buffer {
  const known = bodies.get(url);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(url).digest();
  const scale = (hash[0] as number) < 40 ? 0 : (hash[0] as number) < 200 ? 1 : 8;
  const body = Buffer.alloc(scale === 0 ? (hash[1] as number) : hash.readUInt16LE(1) * scale);
  for (let i = 0; i < body.length; i++) body[i] = (hash[i & 31] as number) ^ (i >> 5);
  bodies.set(url, body);
  return body;
}

const some = (n: number): number => Math.floor(Math.random() * n);
const often = (share: number): boolean => Math.random() < share;

export class FlappingOrigin {
  flips = 0;
  private up = true;
  private running = true;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private readonly flapping: Promise<void>;

  private constructor() {
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.accept(socket));
    this.flapping = this.flap();
  }

  static async start(): Promise<FlappingOrigin> {
    const origin = new FlappingOrigin();
    await new Promise<void>((resolve) => origin.server.listen({ port: 0, host: '127.0.0.1' }, resolve));
    return origin;
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the origin has no TCP port');
    return address.port;
  }

  /** Stays up from now on. */
  async settle(): Promise<void> {
    this.running = false;
    await this.flapping;
    this.up = true;
  }

  async close(): Promise<void> {
    await this.settle();
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private async flap(): Promise<void> {
    while (this.running) {
      await delay(300 + some(700));
      this.up = !this.up;
      this.flips++;
      if (!this.up) for (const socket of this.sockets) socket.resetAndDestroy();
    }
  }

  private accept(socket: Socket): void {
    socket.on('error', () => {});
    if (!this.up) {
      socket.resetAndDestroy();
      return;
    }
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.setNoDelay(true);
    let raw = '';
    socket.on('data', (bytes) => {
      raw += bytes.toString('latin1');
      if (!raw.endsWith('\r\n\r\n')) return;
      const url = /^\S+ (\S+)/.exec(raw)?.[1] ?? '';
      raw = '';
      void this.answer(socket, url);
    });
    socket.on('end', () => socket.end());
  }

  private async answer(socket: Socket, url: string): Promise<void> {
    const kind = url.split('/')[2] ?? '';
    const body = kind === 'gzip' ? gzipSync(bodyOf(url)) : bodyOf(url);
    const chunked = kind === 'chunks' || (kind === 'gzip' && often(0.5));
    let head = `HTTP/1.1 200 OK\r\nETag: "${url}"\r\n`;
    if (url.startsWith('/c')) head += `Cache-Control: max-age=${1 + some(3)}\r\n`;
    if (kind === 'gzip') head += 'Content-Encoding: gzip\r\n';
    if (chunked) head += 'Transfer-Encoding: chunked\r\n';
    else if (kind !== 'end') head += `Content-Length: ${body.length}\r\n`;
    if (often(0.1)) await delay(some(60));
    await write(socket, `${head}\r\n`);
    const breaks = often(0.15) ? some(body.length + 1) : Number.POSITIVE_INFINITY;
    const step = 1000 + some(30_000);
    for (let at = 0; at < body.length; at += step) {
      const part = body.subarray(at, Math.min(at + step, breaks));
      if (part.length > 0) {
        if (chunked) await write(socket, `${part.length.toString(16)}\r\n`);
        await write(socket, part);
      }
      if (at + step > breaks) {
        // Only a reset breaks what its end would make whole.
        if (kind === 'end' || breaks === body.length || often(0.5)) socket.resetAndDestroy();
        else socket.destroy();
        return;
      }
      if (chunked) await write(socket, '\r\n');
      if (socket.destroyed) return;
    }
    if (chunked) await write(socket, '0\r\n\r\n');
    if (kind === 'end') socket.end();
  }
}

async function write(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', () => resolve());
  });
}
