// All that is used of the runtime beyond its published interface, each with its probe: handles of TCP and Unix
// connections without streams, events and timers in front of them, the handle under a socket, a listener's handle for
// several threads, and a socket's write without the queue before it. Every user has another way where the probe fails;
// missingInterfaces() names the cost.
//
// PROXYD_PRIVATE_INTERFACES=off makes every probe fail, so that tests can play the other ways.

import net, { type Server, type Socket } from 'node:net';

/** Methods return 0 or a negative error number of the system. */
export interface RuntimeHandle {
  readonly fd?: number;
  /** Bytes written that the kernel has not taken. */
  readonly writeQueueSize: number;
  /** Called after each read, with the handle as `this`; its length, or error, is in `streamBaseState`. */
  onread: () => void;
  useUserBuffer(bytes: Uint8Array): void;
  readStart(): number;
  readStop(): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
  /** `allBuffers`: each of the chunks is bytes. */
  writev(request: WriteRequest, chunks: readonly Uint8Array[], allBuffers: true): number;
  shutdown(request: ShutdownRequest): number;
  close(closed?: () => void): void;
  connect(request: ConnectRequest, address: string, port?: number): number | undefined;
  connect6?(request: ConnectRequest, address: string, port: number): number;
  // Those of TCP alone.
  getsockname?(into: HandleAddress): number;
  getpeername?(into: HandleAddress): number;
  setNoDelay?(on: boolean): number;
  setKeepAlive?(on: boolean, seconds: number): number;
  reset?(closed: () => void): number;
}

export interface HandleAddress {
  address?: string;
  port?: number;
}

export interface ConnectRequest {
  oncomplete(status: number, handle: RuntimeHandle): void;
}

export interface WriteRequest {
  /** Held while the runtime sends them. */
  held: { release(): void } | null;
  oncomplete(status: number, handle: RuntimeHandle): void;
}

export interface ShutdownRequest {
  /** Its `this` is the request. */
  oncomplete(status: number): void;
}

export interface RuntimeHandles {
  readonly tcp_wrap: {
    TCP: new (type: number) => RuntimeHandle;
    TCPConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  readonly pipe_wrap: {
    Pipe: new (type: number) => RuntimeHandle;
    PipeConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  readonly stream_wrap: {
    WriteWrap: new () => WriteRequest;
    ShutdownWrap: new () => ShutdownRequest;
    /** Results of the last call, by place. */
    streamBaseState: Int32Array;
    kReadBytesOrError: number;
    /** 0 when a write was over as it returned: then the runtime has not used its request. */
    kLastWriteWasAsync: number;
  };
}

/** The runtime reports the end of the other side as this error (libuv's UV_EOF). */
export const END_OF_INPUT = -4095;

const METHODS = ['useUserBuffer', 'readStart', 'readStop', 'writeBuffer', 'writev', 'shutdown', 'close'];

const SWITCHED_OFF = process.env.PROXYD_PRIVATE_INTERFACES === 'off';

/** Null where the runtime has no such handles. */
export function runtimeHandles(): RuntimeHandles | null {
  if (SWITCHED_OFF) return null;
  const { binding } = process as unknown as { binding?: (name: string) => unknown };
  if (binding === undefined) return null;
  try {
    const of = <K extends keyof RuntimeHandles>(name: K) => binding.call(process, name) as RuntimeHandles[K];
    const all = { tcp_wrap: of('tcp_wrap'), pipe_wrap: of('pipe_wrap'), stream_wrap: of('stream_wrap') };
    const { tcp_wrap, pipe_wrap, stream_wrap } = all;
    const classes = [
      ...[tcp_wrap.TCP, tcp_wrap.TCPConnectWrap, pipe_wrap.Pipe, pipe_wrap.PipeConnectWrap],
      ...[stream_wrap.WriteWrap, stream_wrap.ShutdownWrap],
    ];
    const whole =
      classes.every((each) => typeof each === 'function') &&
      [tcp_wrap.TCP, pipe_wrap.Pipe].every(hasMethods) &&
      typeof stream_wrap.kReadBytesOrError === 'number' &&
      typeof stream_wrap.kLastWriteWasAsync === 'number';
    return whole ? all : null;
  } catch {
    // Newer runtimes may refuse.
    return null;
  }
}

function hasMethods({ prototype }: { prototype: object }): boolean {
  return METHODS.every((name) => typeof (prototype as Record<string, unknown>)[name] === 'function');
}

/** The handle under a connected socket. */
export interface SocketHandle {
  readonly fd?: number;
  readonly writeQueueSize?: number;
}

/** Null for a closed socket, and where the runtime does not have it. */
export function handleOf(socket: Socket): SocketHandle | null {
  if (SWITCHED_OFF) return null;
  return (socket as unknown as { _handle?: SocketHandle | null })._handle ?? null;
}

/** The handle of a server that listens. `status` is 0 or an error of the system. */
export interface ListenHandle extends RuntimeHandle {
  onconnection?: (status: number, connection: RuntimeHandle | undefined) => void;
}

/** Null where connections cannot be taken from it. */
export function listenHandleOf(server: Server): ListenHandle | null {
  if (SWITCHED_OFF) return null;
  const { _handle: handle } = server as unknown as { _handle?: ListenHandle | null };
  return handle?.onconnection === undefined ? null : handle;
}

/** A bound socket that does not listen yet. */
export interface BoundHandle {
  readonly fd?: number;
  close(): void;
  getsockname?(out: { address?: string; port?: number }): number;
}
/** Returns a negative error number of the system where it cannot bind. */
export type HandleFactory = (
  address: string | null,
  port: number,
  family: number,
  fd: number | undefined,
  flags: number,
) => BoundHandle | number;

/** Null where the runtime makes no such handles. */
export function handleFactory(): HandleFactory | null {
  const { _createServerHandle: factory } = net as unknown as { _createServerHandle?: HandleFactory };
  return SWITCHED_OFF || typeof factory !== 'function' ? null : factory;
}

const BYTES = 'buffer' as BufferEncoding;
const WRITES_AT_ONCE = !SWITCHED_OFF && typeof net.Socket.prototype._write === 'function';

/**
 * Writes to a socket whose queue is empty, without a turn through that queue where the runtime allows it.
 * @param written called when the runtime is done with the bytes, before the return if the kernel took them at once
 */
export function writeAtOnce(
  socket: Socket,
  bytes: Uint8Array,
  written: (error?: Error | null) => void,
): void {
  if (WRITES_AT_ONCE) socket._write(bytes, BYTES, written);
  else socket.write(bytes, written);
}

/** A line for each private interface that this runtime lacks: its loss, for the operator. */
export function missingInterfaces(): string[] {
  const missing: string[] = [];
  const lacks = (name: string, loss: string): void => {
    missing.push(`Node ${process.version} has no ${name}: ${loss}`);
  };
  if (runtimeHandles() === null)
    lacks('connection handles', 'client connections are sockets, which cost more processor time a request');
  if (SWITCHED_OFF || !('_handle' in new net.Socket()))
    lacks(
      'socket handles',
      'a reset of a connection may be taken for its end, and log records have no descriptors',
    );
  if (handleFactory() === null)
    lacks('listener handles', 'one thread serves, and the worker itself must be allowed to bind its ports');
  if (!WRITES_AT_ONCE) lacks('direct socket writes', 'a request to a backend takes one turn more');
  return missing;
}
