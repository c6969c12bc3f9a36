// A client's connection over a bare handle of the runtime: a socket's stream, events and write requests cost as much as
// the whole of what is done with a short connection. The runtime tries each write at once and queues what the kernel
// did not take in order; only then it keeps the request of the write, so that one request serves nearly all writes.

import type { Room } from '../flow/flow.ts';
import { buffersOf, type Piece } from '../flow/piece.ts';
import {
  END_OF_INPUT,
  type RuntimeHandle,
  type RuntimeHandles,
  type ShutdownRequest,
  type WriteRequest,
} from '../runtime-handles.ts';
import { errorAtEnd, handleError, NO_ERROR, type SystemError } from '../system-error.ts';
import type { ClientWire, WireEnd, WireUser } from './client-wire.ts';

/** The read buffer that all wires of a worker share: its bytes are lent for the turn of a read. */
export interface SharedReads {
  readonly bytes: Buffer;
  /** The turn of a read of `length` bytes is over: a debug mode overwrites them. */
  turnOver(length: number): void;
}

interface WireHandle extends RuntimeHandle {
  wire: HandleWire;
}

/** Makes wires of handles, and holds what they share. */
export class HandleWires {
  readonly runtime: RuntimeHandles;
  readonly reads: SharedReads;
  /** For the runtime to fill in: adding fields to an empty object costs it more than asking the system. */
  readonly name = { address: '', family: '', port: 0 };
  /** Of a listener that is bound to one address: that of all its connections. */
  local: WireEnd | null = null;
  /** For the next write. */
  request: WriteRequest;

  constructor(runtime: RuntimeHandles, reads: SharedReads) {
    this.runtime = runtime;
    this.reads = reads;
    this.request = this.newRequest();
  }

  /** The wire of an accepted connection. */
  of(handle: RuntimeHandle): ClientWire {
    return new HandleWire(this, handle as WireHandle);
  }

  newRequest(): WriteRequest {
    const request = new this.runtime.stream_wrap.WriteWrap();
    request.held = null;
    request.oncomplete = written;
    return request;
  }
}

class HandleWire implements ClientWire {
  isGone = false;
  error: SystemError = NO_ERROR;
  private readonly wires: HandleWires;
  private readonly handle: WireHandle;
  private user: WireUser | null = null;
  private reading = false;
  /** The client's side has ended; ours is to end; ours has. */
  private inputEnded = false;
  private ending = false;
  private outputEnded = false;
  /** Writes that the kernel has not taken yet. */
  private writes = 0;
  private waiting: (() => void)[] | null = null;

  constructor(wires: HandleWires, handle: WireHandle) {
    this.wires = wires;
    this.handle = handle;
    handle.wire = this;
    handle.onread = onread;
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the handle
    handle.useUserBuffer(wires.reads.bytes);
  }

  get remote(): WireEnd | null {
    const { name } = this.wires;
    return this.handle.getpeername?.(name) === 0 ? { address: name.address, port: name.port } : null;
  }

  get local(): WireEnd | null {
    const { name, local } = this.wires;
    if (local !== null) return local;
    return this.handle.getsockname?.(name) === 0 ? { address: name.address, port: name.port } : null;
  }

  get fd(): number {
    return this.handle.fd ?? 0;
  }

  get isSending(): boolean {
    return this.writes > 0;
  }

  get isFull(): boolean {
    return this.writes > 0;
  }

  get queued(): number {
    return this.isGone ? 0 : this.handle.writeQueueSize;
  }

  begin(user: WireUser): void {
    this.user = user;
  }

  keepAlive(delay: number): void {
    this.handle.setKeepAlive?.(true, delay);
  }

  resume(): void {
    if (this.reading || this.inputEnded || this.isGone) return;
    this.reading = true;
    const status = this.handle.readStart();
    if (status !== 0) this.broke(handleError(status));
  }

  pause(): void {
    if (!this.reading || this.isGone) return;
    this.reading = false;
    this.handle.readStop();
  }

  write(piece: Piece): Room {
    if (this.isGone || this.ending) return 'more';
    const parts = buffersOf(piece);
    const { handle } = this;
    const { request } = this.wires;
    if (parts.length === 1)
      return this.handedOver(handle.writeBuffer(request, parts[0] as Buffer), request, piece);
    // The runtime refuses a write of nothing.
    return parts.length === 0 ? 'more' : this.handedOver(handle.writev(request, parts, true), request, piece);
  }

  flushed(callback: () => void): void {
    if (this.writes === 0) {
      process.nextTick(() => {
        if (!this.isGone) callback();
      });
    } else if (this.waiting === null) this.waiting = [callback];
    else this.waiting.push(callback);
  }

  end(): void {
    if (this.isGone || this.ending) return;
    this.ending = true;
    const request = new this.wires.runtime.stream_wrap.ShutdownWrap() as EndRequest;
    request.wire = this;
    request.oncomplete = ended;
    // Queued writes leave first. An error means that the client has gone: its end is yet to be read.
    if (this.handle.shutdown(request) !== 0) this.ended();
  }

  finish(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.waiting = null;
    this.handle.close(closed);
  }

  reset(): void {
    if (this.isGone) return;
    // The runtime refuses it for a connection that is ending.
    if (this.handle.reset?.(closed) !== 0) {
      this.destroy();
      return;
    }
    this.isGone = true;
    this.waiting = null;
  }

  read(): void {
    if (this.isGone) return;
    const { runtime, reads } = this.wires;
    const length = runtime.stream_wrap.streamBaseState[runtime.stream_wrap.kReadBytesOrError] as number;
    if (length > 0) {
      (this.user as WireUser).receive(reads.bytes, 0, length);
      reads.turnOver(length);
    } else if (length === END_OF_INPUT) {
      const error = errorAtEnd(this.fd);
      if (error.code !== '') {
        this.broke(error);
        return;
      }
      this.inputEnded = true;
      (this.user as WireUser).receivedEnd();
      if (this.outputEnded) this.destroy();
    } else if (length < 0) this.broke(handleError(length));
  }

  written(status: number): void {
    this.writes--;
    if (this.isGone) return;
    if (status !== 0) {
      this.broke(handleError(status));
      return;
    }
    if (this.writes > 0 || this.waiting === null) return;
    const { waiting } = this;
    this.waiting = null;
    for (const callback of waiting) callback();
  }

  ended(): void {
    this.outputEnded = true;
    if (this.inputEnded) this.destroy();
  }

  lost(): void {
    this.user?.lost();
  }

  private broke(error: SystemError): void {
    this.error = error;
    this.destroy();
  }

  private handedOver(status: number, request: WriteRequest, piece: Piece): Room {
    if (status !== 0) {
      this.broke(handleError(status));
      return 'more';
    }
    const { wires } = this;
    const { streamBaseState, kLastWriteWasAsync } = wires.runtime.stream_wrap;
    if (streamBaseState[kLastWriteWasAsync] === 0) return 'more';
    piece.hold();
    request.held = piece;
    wires.request = wires.newRequest();
    this.writes++;
    return 'wait';
  }
}

interface EndRequest extends ShutdownRequest {
  wire: HandleWire;
}

// The handle or request is their `this` or argument: a function for each of them instead of one for each connection.

function onread(this: unknown): void {
  (this as WireHandle).wire.read();
}

function written(this: unknown, status: number, handle: RuntimeHandle): void {
  const { held } = this as WriteRequest;
  (this as WriteRequest).held = null;
  held?.release();
  (handle as WireHandle).wire.written(status);
}

function ended(this: unknown): void {
  (this as EndRequest).wire.ended();
}

function closed(this: unknown): void {
  (this as WireHandle).wire.lost();
}
