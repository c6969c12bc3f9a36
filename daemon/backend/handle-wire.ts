// A poll's connection over a bare handle of the runtime, without the streams of a socket: half the CPU of a poll, which
// is the main cost of a thousand probes (test/bench/growth/probes.js). A runtime without such handles returns null
// here, and polls use sockets.

import { own } from '../flow/piece.ts';
import {
  type ConnectRequest,
  END_OF_INPUT,
  type HandleAddress,
  type RuntimeHandle,
  type RuntimeHandles,
  runtimeHandles,
} from '../runtime-handles.ts';
import { errorAtEnd, handleError } from '../system-error.ts';
import type { OriginAddress } from './address.ts';
import type { ReadBuffer } from './exchange-roles.ts';
import type { OpenWire, ProbeWire, WireUser } from './probe-wire.ts';

interface ProbeHandle extends RuntimeHandle {
  wire: HandleWire;
}

/** Null where the runtime has no such handles. */
export function handleWires(readBuffer: ReadBuffer): OpenWire | null {
  const runtime = runtimeHandles();
  return runtime === null ? null : (at, user) => new HandleWire(runtime, at, user, readBuffer);
}

class HandleWire implements ProbeWire {
  readonly user: WireUser;
  private readonly runtime: RuntimeHandles;
  private readonly readBuffer: ReadBuffer;
  private readonly handle: ProbeHandle;
  private open = true;

  constructor(runtime: RuntimeHandles, at: OriginAddress, user: WireUser, readBuffer: ReadBuffer) {
    this.runtime = runtime;
    this.user = user;
    this.readBuffer = readBuffer;
    const { tcp_wrap, pipe_wrap } = runtime;
    const tcp = at.kind === 'tcp';
    this.handle = (
      tcp ? new tcp_wrap.TCP(tcp_wrap.constants.SOCKET) : new pipe_wrap.Pipe(pipe_wrap.constants.SOCKET)
    ) as ProbeHandle;
    this.handle.wire = this;
    this.handle.onread = onread;
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the handle
    this.handle.useUserBuffer(readBuffer.bytes);
    const request = tcp ? new tcp_wrap.TCPConnectWrap() : new pipe_wrap.PipeConnectWrap();
    request.oncomplete = connected;
    const status = this.connect(at, request);
    if (status !== 0) setImmediate(() => this.connected(status));
  }

  get local(): { address: string; port: number } | null {
    const name: HandleAddress = {};
    if (this.handle.getsockname === undefined || this.handle.getsockname(name) !== 0) return null;
    return { address: name.address ?? '', port: name.port ?? 0 };
  }

  write(bytes: Buffer): void {
    const request = new this.runtime.stream_wrap.WriteWrap();
    request.held = own(bytes);
    request.oncomplete = written;
    const status = this.handle.writeBuffer(request, bytes);
    if (status !== 0) setImmediate(() => this.written(status));
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    this.handle.close();
  }

  private connect(at: OriginAddress, request: ConnectRequest): number {
    const { handle } = this;
    // Some versions return nothing for a path, and report errors as the result.
    if (at.kind === 'unix') return handle.connect(request, at.path) ?? 0;
    const { address, port } = at;
    const six = address.includes(':') && handle.connect6 !== undefined;
    return (six ? handle.connect6?.(request, address, port) : handle.connect(request, address, port)) ?? 0;
  }

  connected(status: number): void {
    if (!this.open) return;
    if (status !== 0) {
      this.user.failed(handleError(status), 'connect');
      return;
    }
    this.user.connected();
    if (this.open) this.handle.readStart();
  }

  written(status: number): void {
    if (status !== 0 && this.open) this.user.failed(handleError(status), 'write');
  }

  read(): void {
    if (!this.open) return;
    const { stream_wrap } = this.runtime;
    const length = stream_wrap.streamBaseState[stream_wrap.kReadBytesOrError] as number;
    if (length > 0) {
      this.user.received(this.readBuffer.bytes, 0, length);
      this.readBuffer.turnOver(length);
    } else if (length < 0) {
      const error = length === END_OF_INPUT ? errorAtEnd(this.handle.fd ?? -1) : handleError(length);
      if (error.code === '') this.user.ended();
      else this.user.failed(error, 'read');
    }
  }
}

// Shared functions instead of closures per connection: the handle is `this` or an argument.

function onread(this: unknown): void {
  (this as ProbeHandle).wire.read();
}

function connected(status: number, handle: RuntimeHandle): void {
  (handle as ProbeHandle).wire.connected(status);
}

function written(status: number, handle: RuntimeHandle): void {
  (handle as ProbeHandle).wire.written(status);
}
