// The runtime's connections below its sockets: handles of TCP and Unix connections, without streams, events and timers
// in front of them. They are not in the published interface: a runtime that has none of this shape gives null, and
// whoever wanted them uses sockets.

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
  held: Uint8Array | readonly Uint8Array[] | null;
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

/** Null where the runtime has no such handles. */
export function runtimeHandles(): RuntimeHandles | null {
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
