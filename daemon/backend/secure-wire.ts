// A poll's connection over TLS: with the verification and the sessions of the backend's other connections.

import type { Socket } from 'node:net';
import { type SystemError, systemError } from '../system-error.ts';
import type { OriginAddress } from './address.ts';
import type { ReadBuffer, SocketReader } from './exchange-roles.ts';
import { Handshake, type SecureWay } from './handshake.ts';
import type { OpenWire, ProbeWire, WireUser } from './probe-wire.ts';
import { isTlsError, tlsError } from './tls-failures.ts';

export function secureWires(readBuffer: ReadBuffer, way: SecureWay): OpenWire {
  return (at, user) => new SecureWire(at, way, user, readBuffer);
}

class SecureWire implements ProbeWire {
  /** The lead, which needs it, goes in front of TLS. */
  readonly local = null;
  private readonly handshake: Handshake;
  private socket: Socket | null = null;

  constructor(at: OriginAddress, way: SecureWay, user: WireUser, readBuffer: ReadBuffer) {
    const read: SocketReader = (bytes, start, end) => {
      user.received(bytes, start, end);
      return true;
    };
    this.handshake = new Handshake(at, way, readBuffer, read, {
      secured: (socket) => {
        this.socket = socket;
        this.follow(socket, user);
        user.connected();
      },
      failed: (error) => user.failed(error, 'connect'),
    });
  }

  get lateness(): SystemError {
    return this.handshake.lateness;
  }

  write(bytes: Buffer): void {
    this.socket?.write(bytes);
  }

  close(): void {
    this.handshake.cancel();
    this.socket?.removeAllListeners();
    this.socket?.on('error', () => undefined);
    this.socket?.destroy();
  }

  private follow(socket: Socket, user: WireUser): void {
    // The first line decides, which a cut leaves whole or not: no close_notify is needed.
    socket.once('end', () => user.ended());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const what = error.syscall === 'write' ? 'write' : 'read';
      user.failed(isTlsError(error) ? tlsError(error) : systemError(error), what);
    });
  }
}
