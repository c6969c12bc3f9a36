// The connection of a poll over a bare handle of the runtime, without the streams of a socket: half the CPU of a poll,
// which is all there is to a thousand probes (test/bench/growth/probes.js). The handles are not in the published
// interface: a runtime that has none of this shape gets null here, and its polls go over sockets.

import { getSystemErrorName } from 'node:util';
import type { OriginAddress } from './address.ts';
import type { ReadBuffer } from './connect.ts';
import type { OpenWire, ProbeWire, WireUser } from './probe-wire.ts';

/** A TCP or Unix socket; methods return 0 or a negative error number. */
interface Handle {
  onread: (this: Handle) => void;
  wire: HandleWire;
  useUserBuffer(bytes: Buffer): void;
  connect(request: object, address: string, port?: number): number | undefined;
  connect6?(request: object, address: string, port: number): number;
  getsockname?(into: { address?: string; port?: number }): number;
  readStart(): number;
  writeBuffer(request: object, bytes: Buffer): number;
  close(): void;
}

interface ConnectRequest {
  oncomplete(status: number, handle: Handle): void;
}

interface WriteRequest {
  handle: Handle;
  /** Held while the runtime sends them. */
  bytes: Buffer;
  oncomplete(status: number): void;
}

interface Bindings {
  tcp_wrap: {
    TCP: new (type: number) => Handle;
    TCPConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  pipe_wrap: {
    Pipe: new (type: number) => Handle;
    PipeConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  stream_wrap: {
    WriteWrap: new () => WriteRequest;
    /** Results of the last call, by place. */
    streamBaseState: Int32Array;
    kReadBytesOrError: number;
  };
}

/** Null where the runtime has no such handles. */
export function handleWires(readBuffer: ReadBuffer): OpenWire | null {
  const runtime = bindings();
  return runtime === null ? null : (at, user) => new HandleWire(runtime, at, user, readBuffer);
}

function bindings(): Bindings | null {
  const { binding } = process as unknown as { binding?: (name: string) => unknown };
  if (binding === undefined) return null;
  try {
    const of = <K extends keyof Bindings>(name: K) => binding.call(process, name) as Bindings[K];
    const all = {
      tcp_wrap: of('tcp_wrap'),
      pipe_wrap: of('pipe_wrap'),
      stream_wrap: of('stream_wrap'),
    };
    const { TCP } = all.tcp_wrap;
    const whole =
      typeof TCP.prototype.useUserBuffer === 'function' &&
      typeof TCP.prototype.writeBuffer === 'function' &&
      typeof all.tcp_wrap.TCPConnectWrap === 'function' &&
      typeof all.pipe_wrap.PipeConnectWrap === 'function' &&
      typeof all.stream_wrap.WriteWrap === 'function' &&
      typeof all.stream_wrap.kReadBytesOrError === 'number';
    return whole ? all : null;
  } catch {
    // Newer runtimes may refuse.
    return null;
  }
}

/** The runtime reports the end of the other side as this error (libuv's UV_EOF). */
const END = -4095;

class HandleWire implements ProbeWire {
  readonly user: WireUser;
  private readonly runtime: Bindings;
  private readonly readBuffer: ReadBuffer;
  private readonly handle: Handle;
  private open = true;

  constructor(runtime: Bindings, at: OriginAddress, user: WireUser, readBuffer: ReadBuffer) {
    this.runtime = runtime;
    this.user = user;
    this.readBuffer = readBuffer;
    const { tcp_wrap, pipe_wrap } = runtime;
    const tcp = at.kind === 'tcp';
    this.handle = tcp
      ? new tcp_wrap.TCP(tcp_wrap.constants.SOCKET)
      : new pipe_wrap.Pipe(pipe_wrap.constants.SOCKET);
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
    const name: { address?: string; port?: number } = {};
    if (this.handle.getsockname === undefined || this.handle.getsockname(name) !== 0) return null;
    return { address: name.address ?? '', port: name.port ?? 0 };
  }

  write(bytes: Buffer): void {
    const request = new this.runtime.stream_wrap.WriteWrap();
    request.handle = this.handle;
    request.bytes = bytes;
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
    // Some versions return nothing for a path, and report its errors as the result.
    if (at.kind === 'unix') return handle.connect(request, at.path) ?? 0;
    const { address, port } = at;
    const six = address.includes(':') && handle.connect6 !== undefined;
    return (six ? handle.connect6?.(request, address, port) : handle.connect(request, address, port)) ?? 0;
  }

  connected(status: number): void {
    if (!this.open) return;
    if (status !== 0) {
      this.user.failed(systemError(status), 'connect');
      return;
    }
    this.user.connected();
    if (this.open) this.handle.readStart();
  }

  written(status: number): void {
    if (status !== 0 && this.open) this.user.failed(systemError(status), 'write');
  }

  read(): void {
    if (!this.open) return;
    const { stream_wrap } = this.runtime;
    const length = stream_wrap.streamBaseState[stream_wrap.kReadBytesOrError] as number;
    if (length > 0) {
      this.user.received(this.readBuffer.bytes, 0, length);
      this.readBuffer.turnOver(length);
    } else if (length === END) this.user.ended();
    else if (length < 0) this.user.failed(systemError(length), 'read');
  }
}

// The handle is their `this` or argument: a function for each of them instead of one for each connection.

function onread(this: Handle): void {
  this.wire.read();
}

function connected(status: number, handle: Handle): void {
  handle.wire.connected(status);
}

function written(this: WriteRequest, status: number): void {
  this.handle.wire.written(status);
}

function systemError(status: number): { code: string; errno: number } {
  return { code: getSystemErrorName(status), errno: -status };
}
