// Opens a TCP, TLS or Unix connection to an origin within a time limit. Failures are values; the backend chooses the address
// and evaluates failures.

import { connect as netConnect, type Socket, type SocketConnectOpts } from 'node:net';
import type { ByteTurns } from '../flow/byte-turns.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import { type SystemError, systemError, TIMED_OUT } from '../system-error.ts';
import type { OriginAddress } from './address.ts';
import type { ConnectionOwner } from './connection.ts';
import { OriginConnection } from './connection.ts';
import { Deadline } from './deadline.ts';
import type { ReadBuffer, SocketReader } from './exchange-roles.ts';
import { Handshake, type SecureWay } from './handshake.ts';
import type { OriginTls } from './origin-tls.ts';
import type { PiecePacer } from './piece-pacer.ts';

/** The part of the worker's environment that a connection needs. */
export interface ConnectionEnvironment {
  readonly readBuffer: ReadBuffer;
  readonly limits: HeadLimits;
  readonly pacer: PiecePacer;
  /** Shares the turns among large bodies. */
  readonly readTurns: ByteTurns;
}

/** A connection to be made for exchanges. */
export interface ConnectRequest {
  /** Seconds, a TLS handshake included. */
  readonly timeout: number;
  readonly owner: ConnectionOwner;
  /** Key of the pool that it returns to. */
  readonly key: string;
  /** Null without TLS. */
  readonly tls: SecureWay | null;
}

/** Connects for exchanges. */
export function connectOrigin(
  at: OriginAddress,
  { timeout, owner, key, tls }: ConnectRequest,
  env: ConnectionEnvironment,
): Promise<OriginConnection | SystemError> {
  let conn: OriginConnection | null = null;
  const read: SocketReader = (buf, start, end) => conn?.receive(buf, start, end) ?? false;
  const made = (socket: Socket, facts: OriginTls | null): OriginConnection => {
    conn = new OriginConnection(socket, key, owner, env.limits, env.pacer, env.readTurns, facts);
    return conn;
  };
  if (tls !== null) return openSecure(at, tls, timeout, env.readBuffer, read, made);
  return open(at, timeout, reading(env.readBuffer, read), (socket) => made(socket, null));
}

function openSecure<T>(
  at: OriginAddress,
  way: SecureWay,
  timeout: number,
  buffer: ReadBuffer,
  read: SocketReader,
  made: (socket: Socket, tls: OriginTls) => T,
): Promise<T | SystemError> {
  return new Promise((settle) => {
    const deadline = new Deadline(() => {
      handshake.cancel();
      settle(handshake.lateness);
    });
    const handshake = new Handshake(at, way, buffer, read, {
      secured: (socket, tls) => {
        deadline.stop();
        settle(made(socket, tls));
      },
      failed: (error) => {
        deadline.stop();
        settle(error);
      },
    });
    deadline.start(timeout);
  });
}

function reading(readBuffer: ReadBuffer, read: SocketReader): Partial<SocketConnectOpts> {
  const { bytes } = readBuffer;
  const callback = (length: number): boolean => {
    const more = read(bytes, 0, length);
    readBuffer.turnOver(length);
    return more;
  };
  return { onread: { buffer: bytes, callback } };
}

function open<T>(
  at: OriginAddress,
  timeout: number,
  more: Partial<SocketConnectOpts>,
  made: (socket: Socket) => T,
): Promise<T | SystemError> {
  return new Promise((settle) => {
    const target = at.kind === 'tcp' ? { host: at.address, port: at.port } : { path: at.path };
    // An origin may half-close first: only the connection knows whether that is an end or a failure.
    const socket = netConnect({ ...more, ...target, noDelay: true, allowHalfOpen: true });
    const fail = (error: SystemError): void => {
      deadline.stop();
      socket.off('error', failed);
      socket.on('error', () => {});
      socket.destroy();
      settle(error);
    };
    const deadline = new Deadline(() => fail(TIMED_OUT));
    const failed = (error: NodeJS.ErrnoException): void => fail(systemError(error));
    socket.once('error', failed);
    socket.once('connect', () => {
      deadline.stop();
      socket.off('error', failed);
      settle(made(socket));
    });
    deadline.start(timeout);
  });
}
