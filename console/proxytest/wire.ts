// Bytes of one connection, taken when a script asks for them: nothing is read ahead but what one read of the socket brings, so
// that a peer that does not read is one.

import type { Duplex } from 'node:stream';
import type { Actor } from './actor.ts';

export type WireEnd = 'end' | 'timeout' | 'error';

export class Wire {
  readonly #actor: Actor;
  #socket: Duplex | null;
  #buffer: Buffer = Buffer.alloc(0);
  #ended = false;
  #error: Error | null = null;
  #wake: (() => void) | null = null;
  readonly #onData = (data: Buffer): void => {
    this.#buffer = this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data]);
    this.#socket?.pause();
    this.#wake?.();
  };
  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake?.();
  };
  readonly #onError = (cause: Error): void => {
    this.#error = cause;
    this.#wake?.();
  };

  constructor(actor: Actor, socket: Duplex) {
    this.#actor = actor;
    this.#socket = socket;
    this.#attach(socket);
  }

  #attach(socket: Duplex): void {
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('error', this.#onError);
    socket.pause();
  }

  get socket(): Duplex | null {
    return this.#socket;
  }

  /** The error that ended it, if one did. */
  get error(): Error | null {
    return this.#error;
  }

  /** Hands the bare connection to another layer, which takes its place. */
  replace(make: (socket: Duplex) => Duplex): void {
    const socket = this.#socket as Duplex;
    socket.removeListener('data', this.#onData);
    socket.removeListener('end', this.#onEnd);
    socket.removeListener('close', this.#onEnd);
    socket.removeListener('error', this.#onError);
    this.#socket = make(socket);
    this.#attach(this.#socket);
  }

  /** Waits for a byte. */
  async #fill(seconds: number): Promise<true | WireEnd> {
    if (this.#buffer.length > 0) return true;
    if (this.#error !== null) return 'error';
    if (this.#ended) return 'end';
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<'timeout' | null>((resolve) => {
      timer = setTimeout(() => resolve('timeout'), seconds * 1000);
      this.#wake = () => resolve(null);
      this.#socket?.resume();
    });
    try {
      const out = await this.#actor.until(waited);
      if (this.#buffer.length > 0) return true;
      return this.#error !== null ? 'error' : (out ?? (this.#ended ? 'end' : 'timeout'));
    } finally {
      clearTimeout(timer);
      this.#wake = null;
      this.#socket?.pause();
    }
  }

  /** At least one byte and at most this many, or why there are none. */
  async read(most: number, seconds: number): Promise<Buffer | WireEnd> {
    const filled = await this.#fill(seconds);
    if (filled !== true) return filled;
    const data = this.#buffer.subarray(0, most);
    this.#buffer = this.#buffer.subarray(data.length);
    return data;
  }

  /** Puts bytes back, to be read next. */
  unread(data: Buffer): void {
    if (data.length > 0) this.#buffer = Buffer.concat([data, this.#buffer]);
  }

  /** Resolves once the kernel has the bytes; with the reason if it does not take them. */
  async write(data: Uint8Array): Promise<string | null> {
    const socket = this.#socket;
    if (socket === null || socket.destroyed || socket.writableEnded)
      return this.#error?.message ?? 'connection is closed';
    return this.#actor.until(
      new Promise((resolve) => {
        const closed = (): void => resolve(this.#error?.message ?? 'connection is closed');
        socket.once('close', closed);
        socket.write(data, (cause) => {
          socket.removeListener('close', closed);
          resolve(cause?.message ?? null);
        });
      }),
    );
  }

  /** Sends no more, and reads on. */
  shutdown(): void {
    this.#socket?.end();
  }

  /** Closes the connection after the bytes written so far. */
  close(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null || socket.destroyed) return;
    socket.removeListener('data', this.#onData);
    if (socket.writableEnded) socket.destroy();
    else socket.end(() => socket.destroy());
  }
}
