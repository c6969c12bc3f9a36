// Addresses as scripts have them: `HOST PORT`, `HOST:PORT`, `[IPv6]:PORT`, `/path` of a Unix socket, `@name` of an abstract one.

import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { ScriptError } from './script.ts';

export type Address =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };

export function isPath(text: string): boolean {
  return text.startsWith('/') || text.startsWith('@');
}

/** Port 0 if there is none. Throws ScriptError. */
export function readAddress(text: string): Address {
  if (isPath(text)) return { kind: 'unix', path: text.replace(/^@/, '\0') };
  const parts =
    /^\[([^\]]*)\](?:[: ]\s*(\S+))?$/.exec(text) ??
    /^(\S+)\s+(\S+)$/.exec(text) ??
    /^([0-9a-fA-F]*:[0-9a-fA-F.]*:[0-9a-fA-F:.]*)()$/.exec(text) ??
    /^([^:\s]*):(\S+)$/.exec(text) ??
    /^(\S+)()$/.exec(text);
  const port = parts?.[2] === undefined || parts[2] === '' ? 0 : Number(parts[2]);
  if (parts === null || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ScriptError(`not an address: '${text}'`);
  return { kind: 'tcp', host: parts[1] === '' ? '0.0.0.0' : (parts[1] as string), port };
}

/** HOST:PORT, with brackets for IPv6. */
export function addressText(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A connection that reads nothing until it is asked to. Rejects with the error of the system. */
export function dial(address: Address, seconds: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...(address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port }),
      allowHalfOpen: true,
    });
    socket.pause();
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(new Error('timeout')), seconds * 1000);
    socket.once('error', reject);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeListener('error', reject);
      // Errors are seen by whoever reads or writes.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(timer));
  });
}

export interface Listening {
  readonly server: Server;
  /** 0.0.0.0 and 0 for a Unix socket. */
  readonly host: string;
  readonly port: string;
}

/** Listens; connections are handed over without a byte being read. */
export function listen(
  address: Address,
  backlog: number,
  accepted: (socket: Socket) => void,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined);
      accepted(socket);
    });
    server.once('error', reject);
    const done = (): void => {
      const at = server.address();
      if (at === null || typeof at === 'string') resolve({ server, host: '0.0.0.0', port: '0' });
      else resolve({ server, host: at.address, port: String(at.port) });
    };
    if (address.kind === 'unix')
      server.listen({ path: address.path, backlog, writableAll: true, readableAll: true }, done);
    else
      server.listen(
        { host: address.host, port: address.port, backlog, ipv6Only: isIPv6(address.host) },
        done,
      );
  });
}

/** A port of this host where nobody listens at the moment, outside of the range for outgoing connections. */
export async function freePort(host: string): Promise<number> {
  for (let tries = 0; tries < 500; tries++) {
    const port = 10_500 + Math.floor(Math.random() * 21_400);
    if (given.has(port)) continue;
    const isFree = await listen({ kind: 'tcp', host, port }, 1, (socket) => socket.destroy()).then(
      ({ server }) => new Promise<boolean>((resolve) => server.close(() => resolve(true))),
      () => false,
    );
    if (!isFree) continue;
    given.add(port);
    return port;
  }
  throw new ScriptError(`no free port on ${host}`);
}

const given = new Set<number>();
