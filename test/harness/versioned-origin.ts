// An origin with self-describing responses: each fetch of `/FLAGS/NUMBER` is a new version, named in its ETag and in
// the first bytes of its body, from which the rest is derived. So a client that receives a body, a part of one or a
// page of several can verify that each byte belongs to the claimed version.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Bytes of the beginning of every body: its number, version and size. */
const LABEL = 32;
const NOISE = noise(4 << 20);

/** `size` bytes of version `version` of URL number `number`. */
export function versionedBody(number: number, version: number, size: number): Buffer {
  const from = (number * 131 + version * 1009) % (1 << 20);
  const body = Buffer.from(NOISE.subarray(from, from + size));
  body.write(label(number, version, size), 0, LABEL, 'latin1');
  return body;
}

/** The error in consecutive bodies; '' if there is none. */
export function faultIn(bodies: Buffer): string {
  for (let at = 0; at < bodies.length; ) {
    const text = bodies.toString('latin1', at, at + LABEL);
    const parsed = /^\[(\d{8})\.(\d{8})\.(\d{8})\]/.exec(text);
    if (parsed === null) return `no body begins at ${at} of ${bodies.length}: ${JSON.stringify(text)}`;
    const [number, version, size] = parsed.slice(1).map(Number) as [number, number, number];
    const fault = differenceIn(versionedBody(number, version, size), bodies.subarray(at, at + size));
    if (fault !== '') return `/${number}, version ${version}, at ${at}: ${fault}`;
    at += size;
  }
  return '';
}

/** The URL numbers of bodies that follow one another. */
export function numbersIn(bodies: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bodies.length; ) {
    const [, number, size] = /^\[(\d+)\.\d+\.(\d+)\]/.exec(bodies.toString('latin1', at, at + LABEL)) ?? [];
    numbers.push(Number(number));
    at += Math.max(LABEL, Number(size));
  }
  return numbers;
}

/** The numbers of the bodies that the page at a path is put together from. */
export function numbersOf(path: string): number[] {
  const { includes } = parsed(path);
  return includes === null ? [Number(/\d+$/.exec(path)?.[0])] : includes.flatMap(numbersOf);
}

/** Where `got` is not what was expected; '' when it is. */
export function differenceIn(expected: Buffer, got: Buffer): string {
  if (got.equals(expected)) return '';
  if (got.length !== expected.length) return `${got.length} bytes instead of ${expected.length}`;
  const first = got.findIndex((byte, i) => byte !== expected[i]);
  const wrong = got.reduce((count, byte, i) => count + (byte === expected[i] ? 0 : 1), 0);
  return `${wrong} other bytes from ${first} on: ${got.subarray(first, first + 16).toString('hex')}`;
}

/** The number, version and size that an ETag names. */
export function versionOf(etag: string | undefined): [number, number, number] {
  return (/(\d+)\.(\d+)\.(\d+)/
    .exec(etag ?? '')
    ?.slice(1)
    .map(Number) ?? [0, 0, 0]) as [number, number, number];
}

export class VersionedOrigin {
  port = 0;
  private readonly server: Server;
  private readonly versions = new Map<string, number>();
  private readonly sizeOf: (number: number, version: number) => number;

  /**
   * Flags of a URL: c, chunked; g, compressed; d, slow; e, a page that includes the rest of the path, after a number
   * this many times.
   * @param sizeOf bytes of a version, at least 32
   */
  constructor(sizeOf: (number: number, version: number) => number) {
    this.sizeOf = sizeOf;
    this.server = createServer((req, res) => this.answer(req, res));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer({ url = '' }: IncomingMessage, res: ServerResponse): void {
    res.on('error', () => {});
    const { flags, includes, rest } = parsed(url);
    if (includes !== null) {
      res.end(includes.map((path) => `<esi:include src="${path}"/>`).join(''));
      return;
    }
    const number = Number(rest);
    const version = (this.versions.get(url) ?? 0) + 1;
    this.versions.set(url, version);
    const size = this.sizeOf(number, version);
    let body = versionedBody(number, version, size);
    res.setHeader('ETag', `"${number}.${version}.${size}"`);
    res.setHeader('X-Number', number);
    if (flags.includes('g')) {
      body = gzipSync(body, { level: 1 });
      res.setHeader('Content-Encoding', 'gzip');
    }
    if (!flags.includes('c')) res.setHeader('Content-Length', body.length);
    if (flags.includes('d')) this.dribble(body, res);
    else res.end(body);
  }

  private dribble(body: Buffer, res: ServerResponse): void {
    const piece = Math.max(1000, body.length >> 3);
    let at = 0;
    const next = (): void => {
      if (res.destroyed) return;
      res.write(body.subarray(at, at + piece));
      at += piece;
      if (at < body.length) setTimeout(next, 3);
      else res.end();
    };
    next();
  }
}

/** The flags of a path, the rest, and its includes; null if it is not a page. */
function parsed(path: string): { flags: string; rest: string; includes: string[] | null } {
  const [, flags = '', rest = ''] = /^\/([^/]*)\/?(.*)$/.exec(path) ?? [];
  if (!flags.includes('e')) return { flags, rest, includes: null };
  const times = Number(/\d+$/.exec(flags)?.[0] ?? 1);
  const paths = rest.split('+').map((one) => `/${one}`);
  return { flags, rest, includes: Array.from({ length: times }, () => paths).flat() };
}

function label(number: number, version: number, size: number): string {
  const eight = (n: number): string => String(n).padStart(8, '0');
  return `[${eight(number)}.${eight(version)}.${eight(size)}]`.padEnd(LABEL, '.');
}

/** Does not pack well, so that its packed form is long, too. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0, x = 1; i < length; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}
