// What goes out to one client: writes, the wait until a slow client has taken them, and the limits of that wait
// (idle_send_timeout while nothing moves, send_timeout in all). It knows nothing of requests.
//
// Caution: a write to a socket with nothing queued goes around the stream in front of it, so the stream alone
// cannot tell whether everything has left.

import type { Socket } from 'node:net';
import type { Core } from '../transaction/core.ts';
import { queueSize } from './socket-handle.ts';

/** The session's limits in seconds, which a program may change. */
export interface SendLimits {
  readonly idleSendTimeout: number;
  readonly sendTimeout: number;
}

const NOTHING = Buffer.alloc(0);
/** Chunks of bytes have no encoding; the type of the socket's write wants one. */
const BYTES = 'buffer' as BufferEncoding;
const NEVER = Number.POSITIVE_INFINITY;

/** As the stream in front of a socket hands them over. */
function chunksOf(parts: readonly Buffer[]): { chunk: Buffer; encoding: BufferEncoding }[] {
  return Object.assign(
    parts.map((chunk) => ({ chunk, encoding: BYTES })),
    { allBuffers: true },
  );
}

export class ClientOutput {
  /** Part of a response written in one piece has not left yet. */
  unsent = false;
  private readonly core: Core;
  private readonly socket: Socket;
  private readonly limits: SendLimits;
  /** When a client that does not take what was written is given up; never while nobody waits for it. */
  private deadline = NEVER;
  /** When progress no longer helps such a client: send_timeout after the response first had to wait. */
  private end = NEVER;
  /** Bytes in the kernel's way when the deadline was set. */
  private queued = 0;
  /** Called when the socket has taken everything written so far. */
  private onDrain: (() => void) | null = null;
  private readonly onWritten: (error?: Error | null) => void;

  constructor(core: Core, socket: Socket, limits: SendLimits) {
    this.core = core;
    this.socket = socket;
    this.limits = limits;
    this.onWritten = (error) => {
      this.unsent = false;
      if (error) socket.destroy();
    };
  }

  /** The client has not taken everything yet that was written. */
  get isSending(): boolean {
    return this.unsent || this.socket.writableLength > 0;
  }

  /** Writes buf[start, end) of the worker's shared output buffer, and with it parts that nobody changes until they have
   * left; whether they all have. */
  writeSharedAnd(buf: Buffer, start: number, end: number, parts: readonly Buffer[]): boolean {
    const isTaken = this.writeParts([this.core.outputPart(buf, start, end), ...parts]);
    if (!isTaken) this.core.outputTaken();
    return isTaken;
  }

  /** Writes buf[start, end) of the worker's shared output buffer. */
  writeShared(buf: Buffer, start: number, end: number): void {
    const { socket } = this;
    const chunk = this.core.outputPart(buf, start, end);
    this.unsent = true;
    if (socket.writableLength === 0 && !socket.destroyed) {
      // Straight to the socket's own write: the queue in front of it, empty here, costs a tick a response.
      socket._write(chunk, BYTES, this.onWritten);
    } else {
      socket.write(chunk);
      this.unsent = socket.writableLength > 0;
    }
    if (this.unsent) this.core.outputTaken();
  }

  /** Writes bytes that nobody changes until they have left; whether they all have. */
  writeParts(parts: readonly Buffer[]): boolean {
    const { socket } = this;
    if (this.unsent || socket.writableLength > 0 || socket.destroyed) {
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
      return socket.writableLength === 0;
    }
    this.unsent = true;
    if (parts.length === 1) socket._write(parts[0], BYTES, this.onWritten);
    else socket._writev?.(chunksOf(parts), this.onWritten);
    return !this.unsent;
  }

  /** Calls back once when everything written has left; never when the connection goes first. */
  drained(callback: () => void): void {
    const { socket } = this;
    const now = this.core.clock.now();
    this.onDrain = callback;
    this.queued = queueSize(socket);
    this.deadline = now + this.limits.idleSendTimeout;
    if (this.end === NEVER) this.end = now + this.limits.sendTimeout;
    // The 'drain' event does not come for little, nor after the end: the callback of a last empty write does.
    socket.write(NOTHING, (error) => {
      if (!error && this.onDrain === callback) this.socketDrained();
    });
  }

  socketDrained(): void {
    const callback = this.onDrain;
    this.onDrain = null;
    this.unsent = false;
    this.deadline = NEVER;
    callback?.();
  }

  /** A response is over: the next one has its whole time again. */
  responseDone(): void {
    this.end = NEVER;
  }

  /** True when the client has had its time. Any progress gets it more, up to send_timeout. */
  isStalled(now: number): boolean {
    if (now < this.deadline) return false;
    const queued = queueSize(this.socket);
    if (queued < this.queued && now < this.end) {
      this.queued = queued;
      this.deadline = now + this.limits.idleSendTimeout;
      return false;
    }
    this.deadline = NEVER;
    return true;
  }
}
