// The connection of a client as the session sees it: it reads, writes and ends. There are two kinds: client-handle.ts over a
// bare handle of the runtime, and SocketWire over a socket of `node:net`, for runtimes without such handles and for what is
// a stream by its nature.

import type { Socket } from 'node:net';
import type { Room } from '../flow/flow.ts';
import { buffersOf, type Piece } from '../flow/piece.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { handleOf } from '../runtime-handles.ts';
import { errorAtEnd, NO_ERROR, type SystemError, socketDescriptor, systemError } from '../system-error.ts';

export interface WireUser {
  /** The bytes are lent. */
  receive(buf: LentBytes, start: number, end: number): void;
  /** The client sends no more. */
  receivedEnd(): void;
  /** The connection is gone, ended by either side: called once, in a later turn, and the last call. */
  lost(): void;
}

export interface WireEnd {
  readonly address: string;
  readonly port: number;
}

export interface ClientWire {
  /** Asked for once each; null on a Unix socket, and when the connection has gone already. */
  readonly remote: WireEnd | null;
  readonly local: WireEnd | null;
  /** The descriptor's number where the platform shows it, else 0. */
  readonly fd: number;
  /** Whether it was destroyed, from either side. */
  readonly isGone: boolean;
  /** The system's error when it broke; NO_ERROR while it has not, and when it ended in another way. */
  readonly error: SystemError;
  /** Whether the client has yet to take some of what was written. */
  readonly isSending: boolean;
  /** Whether another answer is to wait until it has. */
  readonly isFull: boolean;
  /** Bytes written that the kernel has not taken. */
  readonly queued: number;
  /** Sets the listener; call before resume(). */
  begin(user: WireUser): void;
  /** Seconds. */
  keepAlive(delay: number): void;
  /** Reads, from the beginning on or after pause(). */
  resume(): void;
  pause(): void;
  /** Writes in one call of the system, and holds the piece until the kernel has taken it. `wait` when it has not yet; a failed
   * write destroys the wire, and after the end nothing is written: both answer `more`. */
  write(piece: Piece): Room;
  /** Calls back once when everything written so far has left, in a later turn; never when the connection goes first. */
  flushed(callback: () => void): void;
  /** Ends this side once everything has left. When the client's has ended too, the wire is destroyed. */
  end(): void;
  /** Destroys it in an orderly way, for a client that sends nothing more: call while nothing is on its way. */
  finish(): void;
  destroy(): void;
  /** Destroys it so that the client sees it; a Unix socket has no reset. */
  reset(): void;
}

const NO_BYTES = Buffer.alloc(0);

export class SocketWire implements ClientWire {
  error: SystemError = NO_ERROR;
  /** The connection below, and from a handshake on the TLS connection over it. */
  protected socket: Socket;

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

  get isFull(): boolean {
    return this.isSending;
  }

  get queued(): number {
    return handleOf(this.socket)?.writeQueueSize ?? this.socket.writableLength;
  }

  begin(user: WireUser): void {
    const { socket } = this;
    socket.on('data', (bytes: Buffer) => user.receive(bytes, 0, bytes.length));
    socket.pause();
    socket.on('end', () => {
      const error = errorAtEnd(socketDescriptor(socket));
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

  write(piece: Piece): Room {
    const { socket } = this;
    const parts = buffersOf(piece);
    const last = parts.length - 1;
    if (socket.destroyed || socket.writableEnded || last < 0) return 'more';
    let isHeld = false;
    const written = (): void => {
      if (isHeld) piece.release();
    };
    if (last > 0) socket.cork();
    for (let i = 0; i < last; i++) socket.write(parts[i] as Buffer);
    socket.write(parts[last] as Buffer, written);
    if (last > 0) socket.uncork();
    if (socket.writableLength === 0) return 'more';
    isHeld = true;
    piece.hold();
    return 'wait';
  }

  flushed(callback: () => void): void {
    const { socket } = this;
    if (socket.destroyed) return;
    if (socket.writableFinished) setImmediate(callback);
    else if (socket.writableEnded) socket.once('finish', callback);
    else {
      // The 'drain' event does not come for little: the callback of a last empty write does.
      socket.write(NO_BYTES, (error) => {
        if (!error) callback();
      });
    }
  }

  end(): void {
    this.socket.end();
  }

  finish(): void {
    this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}
