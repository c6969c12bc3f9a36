// A client's connection over a socket of `node:net`, for runtimes without bare handles, and for what is a stream by its
// nature.

import type { Socket } from 'node:net';
import { handleOf } from '../runtime-handles.ts';
import { behindEnd, NO_ERROR, type SystemError, socketDescriptor, systemError } from '../system-error.ts';
import type { ClientWire, WireEnd, WireUser } from './client-wire.ts';

const NOTHING = Buffer.alloc(0);

export class SocketWire implements ClientWire {
  error: SystemError = NO_ERROR;
  private readonly socket: Socket;

  /** @param socket paused, and half-open when its other side ends */
  constructor(socket: Socket) {
    this.socket = socket;
  }

  get remote(): WireEnd | null {
    const { remoteAddress: address, remotePort: port } = this.socket;
    return address === undefined || port === undefined ? null : { address, port };
  }

  get local(): WireEnd | null {
    const { localAddress: address, localPort: port } = this.socket;
    return address === undefined || port === undefined ? null : { address, port };
  }

  get fd(): number {
    return handleOf(this.socket)?.fd ?? 0;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  get isSending(): boolean {
    return this.socket.writableLength > 0;
  }

  get queued(): number {
    return handleOf(this.socket)?.writeQueueSize ?? this.socket.writableLength;
  }

  begin(user: WireUser): void {
    const { socket } = this;
    socket.on('data', (bytes: Buffer) => user.receive(bytes, 0, bytes.length));
    socket.pause();
    socket.on('end', () => {
      const error = behindEnd(socketDescriptor(socket));
      if (error.code === '') user.receivedEnd();
      else socket.destroy(Object.assign(new Error(error.code), error));
    });
    socket.on('error', (error) => {
      this.error = systemError(error);
    });
    socket.on('close', () => user.lost());
  }

  keepAlive(delay: number): void {
    this.socket.setKeepAlive(true, delay * 1000);
  }

  resume(): void {
    this.socket.resume();
  }

  pause(): void {
    this.socket.pause();
  }

  write(bytes: Uint8Array): boolean {
    const { socket } = this;
    if (socket.destroyed || socket.writableEnded) return true;
    socket.write(bytes);
    return socket.writableLength === 0;
  }

  writeAll(parts: readonly Uint8Array[]): boolean {
    const { socket } = this;
    if (socket.destroyed || socket.writableEnded) return true;
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
    return socket.writableLength === 0;
  }

  flushed(callback: () => void): void {
    const { socket } = this;
    if (socket.destroyed) return;
    if (socket.writableFinished) setImmediate(callback);
    else if (socket.writableEnded) socket.once('finish', callback);
    else {
      // The 'drain' event does not come for little: the callback of a last empty write does.
      socket.write(NOTHING, (error) => {
        if (!error) callback();
      });
    }
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}
