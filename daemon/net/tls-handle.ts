// A client's TLS connection over the runtime's TLS handle, without a stream in between. That handle encrypts a write, or
// copies it, before the call returns, so no piece is held longer than that; but it takes one write at a time, and each
// completes in a later turn. What comes meanwhile waits here, with its piece held. Large bodies are encrypted in slices:
// each slice exists twice until the kernel has it.

import type { Room } from '../flow/flow.ts';
import { buffersOf, own, type Piece } from '../flow/piece.ts';
import {
  END_OF_INPUT,
  type HandleAddress,
  type RuntimeHandle,
  type RuntimeHandles,
  type ShutdownRequest,
  type TlsHandle,
  type WriteRequest,
} from '../runtime-handles.ts';
import { handleError, NO_ERROR, type SystemError, systemError } from '../system-error.ts';
import type { SharedReads } from './client-handle.ts';
import type { WireEnd, WireUser } from './client-wire.ts';
import { alpnBytes, type HandshakeUser, type SecurableWire, type TlsSetup } from './tls-wire.ts';

/** Bytes that are encrypted at once (chosen: what one call of the system takes of the runtime's buffers). */
const SLICE = 128 * 1024;
/** Encrypted output up to this size leaves in one call of the system. */
const ONE_CALL = 128 * 1024;

interface WireHandle extends RuntimeHandle {
  wire: TlsHandleWire;
}

interface TlsWireHandle extends TlsHandle {
  wire: TlsHandleWire;
}

/** Makes wires of handles, and holds what they share. */
export class TlsHandleWires {
  readonly stream: RuntimeHandles['stream_wrap'];
  readonly reads: SharedReads;
  readonly tls: NonNullable<RuntimeHandles['tls_wrap']>;
  private readonly names = new Map<string, Buffer>();

  constructor(runtime: RuntimeHandles, tls: NonNullable<RuntimeHandles['tls_wrap']>, reads: SharedReads) {
    this.stream = runtime.stream_wrap;
    this.tls = tls;
    this.reads = reads;
  }

  /** The wire of an accepted connection, in clear. */
  of(handle: RuntimeHandle): SecurableWire {
    return new TlsHandleWire(this, handle as WireHandle);
  }

  get endRequest(): new () => ShutdownRequest {
    return this.stream.ShutdownWrap;
  }

  newRequest(): WriteRequest {
    const request = new this.stream.WriteWrap();
    request.held = null;
    request.oncomplete = written;
    return request;
  }

  alpn(names: readonly string[]): Buffer {
    const key = names.join();
    let bytes = this.names.get(key);
    if (bytes === undefined) {
      bytes = alpnBytes(names);
      this.names.set(key, bytes);
    }
    return bytes;
  }
}

class TlsHandleWire implements SecurableWire {
  isGone = false;
  error: SystemError = NO_ERROR;
  private readonly wires: TlsHandleWires;
  private readonly handle: WireHandle;
  /** Null before secure(). */
  private tls: TlsWireHandle | null = null;
  /** The handle for reads and writes: the plain or the TLS one. */
  private stream: RuntimeHandle;
  private user: WireUser | null = null;
  private handshake: HandshakeUser | null = null;
  private reading = false;
  private inputEnded = false;
  private ending = false;
  private outputEnded = false;
  private finishing = false;
  /** A write has not completed; and the kernel may not have all of it. */
  private busy = false;
  private unsent = false;
  /** Pieces queued until the write in progress completes; their bytes. */
  private queue: { bytes: Buffer; readonly piece: Piece | null }[] = [];
  private waitingBytes = 0;
  private waiting: (() => void)[] | null = null;

  constructor(wires: TlsHandleWires, handle: WireHandle) {
    this.wires = wires;
    this.handle = handle;
    this.stream = handle;
    handle.wire = this;
    handle.onread = onread;
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the handle
    handle.useUserBuffer(wires.reads.bytes);
  }

  get remote(): WireEnd | null {
    const name: HandleAddress = {};
    return this.handle.getpeername?.(name) === 0
      ? { address: name.address ?? '', port: name.port ?? 0 }
      : null;
  }

  get local(): WireEnd | null {
    const name: HandleAddress = {};
    return this.handle.getsockname?.(name) === 0
      ? { address: name.address ?? '', port: name.port ?? 0 }
      : null;
  }

  get fd(): number {
    return this.handle.fd ?? 0;
  }

  get isSending(): boolean {
    return this.unsent || this.queue.length > 0;
  }

  /** Does not count the write that the runtime completes later: the client is not the cause of it. */
  get isFull(): boolean {
    return this.unsent || this.waitingBytes > ONE_CALL;
  }

  get queued(): number {
    if (this.isGone) return 0;
    return (
      this.waitingBytes + this.handle.writeQueueSize + (this.unsent ? (this.tls?.writeQueueSize ?? 0) : 0)
    );
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
    const status = this.stream.readStart();
    if (status !== 0) this.broke(handleError(status));
  }

  pause(): void {
    if (!this.reading || this.isGone) return;
    this.reading = false;
    this.stream.readStop();
  }

  secure(setup: TlsSetup, clear: Buffer, user: HandshakeUser): void {
    if (this.isGone) return;
    this.pause();
    const { wires, handle } = this;
    const tls = wires.tls.wrap(handle, setup.context.context, true, false) as TlsWireHandle;
    this.tls = tls;
    this.stream = tls;
    this.handshake = user;
    tls.wire = this;
    tls.onread = onread;
    tls.onhandshakestart = noop;
    tls.onhandshakedone = onhandshakedone;
    tls.onerror = onerror;
    if (setup.requestsCert) tls.setVerifyMode(true, setup.requiresCert);
    tls.setALPNProtocols(wires.alpn(setup.alpn));
    const { ocsp } = setup;
    if (ocsp !== null) {
      tls.oncertcb = () => {
        tls.setOCSPResponse(ocsp);
        tls.certCbDone();
      };
      tls.enableCertCb();
    }
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the handle
    tls.useUserBuffer(wires.reads.bytes);
    tls.receive(clear);
    this.resume();
  }

  write(piece: Piece): Room {
    if (this.isGone || this.ending || piece.length === 0) return 'more';
    const parts = buffersOf(piece);
    if (!this.busy && parts.length === 1 && piece.length <= SLICE) {
      this.encrypt(parts[0] as Buffer, null, piece.length);
      return this.unsent ? 'wait' : 'more';
    }
    piece.hold();
    const last = parts.length - 1;
    for (let i = 0; i <= last; i++)
      this.queue.push({ bytes: parts[i] as Buffer, piece: i === last ? piece : null });
    this.waitingBytes += piece.length;
    if (!this.busy) this.next();
    return this.isFull ? 'wait' : 'more';
  }

  flushed(callback: () => void): void {
    if (!this.isSending) {
      process.nextTick(() => {
        if (!this.isGone) callback();
      });
    } else if (this.waiting === null) this.waiting = [callback];
    else this.waiting.push(callback);
  }

  end(): void {
    if (this.isGone || this.ending) return;
    this.ending = true;
    if (!this.busy) this.shutdown();
  }

  /** With close_notify: a client may otherwise take a body that ends with the connection for one that was cut. */
  finish(): void {
    this.finishing = true;
    this.end();
  }

  destroy(): void {
    if (this.isGone) return;
    this.gone();
    this.handle.close(closed);
  }

  reset(): void {
    if (this.isGone) return;
    // The runtime refuses it for a connection that is ending.
    if (this.handle.reset?.(closed) !== 0) this.destroy();
    else this.gone();
  }

  read(): void {
    if (this.isGone) return;
    const { stream, reads } = this.wires;
    const length = stream.streamBaseState[stream.kReadBytesOrError] as number;
    if (length > 0) {
      (this.user as WireUser).receive(reads.bytes, 0, length);
      reads.turnOver(length);
    } else if (length === END_OF_INPUT) {
      if (this.inputEnded) return;
      this.inputEnded = true;
      (this.user as WireUser).receivedEnd();
      if (this.outputEnded) this.destroy();
    } else if (length < 0) this.broke(handleError(length));
  }

  written(status: number): void {
    this.busy = false;
    this.unsent = false;
    if (this.isGone) return;
    if (status !== 0) {
      this.broke(handleError(status));
      return;
    }
    if (this.queue.length > 0) this.next();
    if (this.busy && (this.unsent || this.queue.length > 0)) return;
    const { waiting } = this;
    if (waiting !== null) {
      this.waiting = null;
      for (const callback of waiting) callback();
    }
    if (this.ending && !this.busy && !this.isGone) this.shutdown();
  }

  handshaken(): void {
    const { tls, handshake } = this;
    if (tls === null || handshake === null || this.isGone) return;
    const raw = tls.getPeerCertificate(true)?.raw ?? null;
    const error = raw === null ? null : (tls.verifyError() ?? null);
    const alpn = tls.getALPNNegotiatedProtocol();
    handshake.secured({
      version: tls.getProtocol(),
      cipher: tls.getCipher().name,
      resumed: tls.isSessionReused(),
      alpn: alpn === false || alpn === '' ? null : alpn,
      clientCert: raw,
      clientCertError: error === null ? null : (error.code ?? error.message),
    });
  }

  failed(error: Error): void {
    if (this.isGone) return;
    this.error = systemError(error);
    this.handshake?.tlsFailed(error);
    this.destroy();
  }

  ended(): void {
    this.outputEnded = true;
    if (this.inputEnded || this.finishing) this.destroy();
  }

  lost(): void {
    this.tls?.destroySSL();
    this.user?.lost();
  }

  private gone(): void {
    this.isGone = true;
    this.waiting = null;
    for (const { piece } of this.queue) piece?.release();
    this.queue = [];
    this.waitingBytes = 0;
  }

  private broke(error: SystemError): void {
    this.error = error;
    this.destroy();
  }

  /** Sends close_notify and ends this side, once everything has left. */
  private shutdown(): void {
    const request = new this.wires.endRequest() as EndRequest;
    request.wire = this;
    request.oncomplete = ended;
    if (this.stream.shutdown(request) !== 0) this.ended();
  }

  /** Encrypts what waits next, a slice of it. */
  private next(): void {
    const { queue } = this;
    const parts: Buffer[] = [];
    let length = 0;
    const done: Piece[] = [];
    while (queue.length > 0 && length < SLICE) {
      const entry = queue[0] as (typeof queue)[0];
      const room = SLICE - length;
      if (entry.bytes.length > room) {
        parts.push(entry.bytes.subarray(0, room));
        entry.bytes = entry.bytes.subarray(room);
        length += room;
        break;
      }
      parts.push(entry.bytes);
      length += entry.bytes.length;
      if (entry.piece !== null) done.push(entry.piece);
      queue.shift();
    }
    this.waitingBytes -= length;
    if (parts.length === 1) this.encrypt(parts[0] as Buffer, null, length);
    else this.encrypt(null, parts, length);
    for (const piece of done) piece.release();
  }

  private encrypt(one: Buffer | null, many: readonly Buffer[] | null, length: number): void {
    const { stream } = this;
    // One of its own for each write: the runtime still uses it while it calls back.
    const request = this.wires.newRequest();
    // In clear, the runtime uses the bytes until it has written them.
    if (this.tls === null && one !== null) request.held = own(one);
    this.busy = true;
    // Earlier bytes that the handle still holds, such as tickets: until they are written it writes nothing else.
    const before = this.tls === null ? 0 : this.tls.writeQueueSize;
    const status = one !== null ? stream.writeBuffer(request, one) : stream.writev(request, many ?? [], true);
    if (status !== 0) {
      this.busy = false;
      this.broke(handleError(status));
      return;
    }
    const { streamBaseState, kLastWriteWasAsync } = this.wires.stream;
    this.busy = streamBaseState[kLastWriteWasAsync] !== 0;
    // A TLS handle completes later in any case; the kernel has it all when nothing is left below.
    this.unsent = length > ONE_CALL || before > 0 || this.handle.writeQueueSize > 0;
  }
}

interface EndRequest extends ShutdownRequest {
  wire: TlsHandleWire;
}

// The handle or request is their `this` or argument: a function for each of them instead of one for each connection.

function noop(): void {}

function onread(this: unknown): void {
  (this as WireHandle).wire.read();
}

function onhandshakedone(this: unknown): void {
  (this as TlsWireHandle).wire.handshaken();
}

function onerror(this: unknown, error: Error): void {
  (this as TlsWireHandle).wire.failed(error);
}

function written(status: number, handle: RuntimeHandle): void {
  (handle as WireHandle).wire.written(status);
}

function ended(this: unknown): void {
  (this as EndRequest).wire.ended();
}

function closed(this: unknown): void {
  (this as WireHandle).wire.lost();
}
