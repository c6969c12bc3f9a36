// A poll's connection over a socket of `node:net`.

import { connect, type Socket } from 'node:net';
import { errorAtEnd, socketDescriptor, systemError } from '../system-error.ts';
import type { OriginAddress } from './address.ts';
import type { ReadBuffer } from './exchange-roles.ts';
import type { OpenWire, ProbeWire, WireUser } from './probe-wire.ts';

export function socketWires(readBuffer: ReadBuffer): OpenWire {
  return (at, user) => new SocketWire(at, user, readBuffer);
}

class SocketWire implements ProbeWire {
  private readonly socket: Socket;

  constructor(at: OriginAddress, user: WireUser, readBuffer: ReadBuffer) {
    const { bytes } = readBuffer;
    const callback = (length: number): boolean => {
      user.received(bytes, 0, length);
      readBuffer.turnOver(length);
      return true;
    };
    const target = at.kind === 'tcp' ? { host: at.address, port: at.port } : { path: at.path };
    const onread = { buffer: bytes, callback };
    // A literal address needs no race of address families; only the poll knows whether an end is an error.
    this.socket = connect({ ...target, onread, allowHalfOpen: true, autoSelectFamily: false });
    this.socket
      .once('connect', () => user.connected())
      .once('end', () => {
        const error = errorAtEnd(socketDescriptor(this.socket));
        if (error.code === '') user.ended();
        else user.failed(error, 'read');
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        const what = error.syscall === 'connect' || error.syscall === 'write' ? error.syscall : 'read';
        user.failed(systemError(error), what);
      });
  }

  get local(): { address: string; port: number } | null {
    const { localAddress: address, localPort: port } = this.socket;
    return address === undefined || port === undefined ? null : { address, port };
  }

  write(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.socket.removeAllListeners();
    this.socket.on('error', () => undefined);
    this.socket.destroy();
  }
}
