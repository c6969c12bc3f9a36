// Opens one TCP or Unix connection and makes an OriginConnection of it, within a time limit. Failures are values
// with the system's error name; which address to try and what a failure means is the backend's business.

import { connect as netConnect, type Socket } from 'node:net';
import type { HeadLimits } from '../http1/head-parser.ts';
import { type ConnectionOwner, OriginConnection } from './connection.ts';
import { Deadline } from './deadline.ts';

/** Where a backend listens: an address and port, or a Unix socket's path. */
export type OriginAddress =
  | { readonly kind: 'tcp'; readonly address: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Key under which connections to this address are pooled. */
export function addressKey(at: OriginAddress): string {
  return at.kind === 'tcp' ? `${at.address}|${at.port}` : at.path;
}

/** `code` is the system's error name (ECONNREFUSED ...), or ETIMEDOUT when the limit was over. */
export interface ConnectError {
  readonly code: string;
  readonly errno: number;
}

/** The read buffer that all connections of a worker share: bytes in it are used before the read returns. */
export function makeReadBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(64 * 1024);
}

/**
 * Connects.
 * @param timeout seconds
 */
export function connectOrigin(
  at: OriginAddress,
  timeout: number,
  readBuffer: Buffer,
  owner: ConnectionOwner,
  limits: HeadLimits,
): Promise<OriginConnection | ConnectError> {
  return new Promise((settle) => {
    let conn: OriginConnection | null = null;
    const target = at.kind === 'tcp' ? { host: at.address, port: at.port } : { path: at.path };
    const socket = netConnect({
      ...target,
      noDelay: true,
      // An origin may end its side before ours: only the connection knows whether that is an end or a failure.
      allowHalfOpen: true,
      onread: {
        buffer: readBuffer,
        callback: (n: number, buf: Uint8Array) => conn?.receive(buf as Buffer, 0, n) ?? false,
      },
    });
    const deadline = new Deadline(() => fail('ETIMEDOUT', -110));
    const fail = (code: string, errno: number): void => {
      deadline.stop();
      socket.off('error', failed);
      socket.on('error', () => {});
      socket.destroy();
      settle({ code, errno });
    };
    const failed = (error: NodeJS.ErrnoException): void => fail(error.code ?? '', error.errno ?? 0);
    socket.once('error', failed);
    socket.once('connect', () => {
      deadline.stop();
      socket.off('error', failed);
      conn = new OriginConnection(socket, addressKey(at), owner, limits);
      settle(conn);
    });
    deadline.start(timeout);
  });
}

/** A plain socket for pipe mode: not pooled, read by its 'data' events, half-open as a tunnel needs it. */
export function connectRaw(at: OriginAddress, timeout: number): Promise<Socket | ConnectError> {
  return new Promise((settle) => {
    const target = at.kind === 'tcp' ? { host: at.address, port: at.port } : { path: at.path };
    const socket = netConnect({ ...target, noDelay: true, allowHalfOpen: true });
    const deadline = new Deadline(() => fail('ETIMEDOUT', -110));
    const fail = (code: string, errno: number): void => {
      deadline.stop();
      socket.off('error', failed);
      socket.on('error', () => {});
      socket.destroy();
      settle({ code, errno });
    };
    const failed = (error: NodeJS.ErrnoException): void => fail(error.code ?? '', error.errno ?? 0);
    socket.once('error', failed);
    socket.once('connect', () => {
      deadline.stop();
      socket.off('error', failed);
      settle(socket);
    });
    deadline.start(timeout);
  });
}
