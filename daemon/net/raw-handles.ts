// The runtime's handles below its sockets, as far as connections are passed between threads. They are not in the
// published interface: a runtime without any of this gets null.

/** A connection, or what it came by. */
export interface RawHandle {
  readonly fd?: number;
  close(): void;
  unref?(): void;
}

/** A Unix socket; methods return 0 or a negative error number. */
export interface PipeHandle extends RawHandle {
  onconnection?: (status: number, connection: PipeHandle | undefined) => void;
  onread?: (bytes: ArrayBuffer | undefined) => void;
  /** A handle that came with the bytes that are being read. */
  pendingHandle?: RawHandle | null;
  bind(path: string): number;
  listen(backlog: number): number;
  open(fd: number): number | undefined;
  readStart(): number;
  connect(request: object, path: string): number | undefined;
  writeLatin1String(request: object, text: string, handle: RawHandle): number;
}

export interface RawHandles {
  pipeServer(): PipeHandle;
  /** One over which handles can be sent. */
  pipeChannel(): PipeHandle;
  connect(channel: PipeHandle, path: string, done: (status: number) => void): void;
  /** Sends a byte and a handle with it. */
  sendHandle(channel: PipeHandle, byte: number, handle: RawHandle, done: (status: number) => void): void;
}

interface Bindings {
  pipe_wrap: {
    Pipe: new (type: number) => PipeHandle;
    PipeConnectWrap: new () => { oncomplete?: (status: number) => void };
    constants: { SERVER: number; IPC: number };
  };
  stream_wrap: {
    WriteWrap: new () => { handle?: PipeHandle; oncomplete?: (status: number) => void };
    streamBaseState: Int32Array;
    kLastWriteWasAsync: number;
  };
}

export function rawHandles(): RawHandles | null {
  const bindings = bound();
  if (bindings === null) return null;
  const { pipe_wrap, stream_wrap } = bindings;
  return {
    pipeServer: () => new pipe_wrap.Pipe(pipe_wrap.constants.SERVER),
    pipeChannel: () => new pipe_wrap.Pipe(pipe_wrap.constants.IPC),
    connect: (channel, path, done) => {
      const request = new pipe_wrap.PipeConnectWrap();
      request.oncomplete = done;
      const status = channel.connect(request, path) ?? 0;
      if (status !== 0) setImmediate(done, status);
    },
    sendHandle: (channel, byte, handle, done) => {
      const request = new stream_wrap.WriteWrap();
      request.handle = channel;
      request.oncomplete = done;
      const status = channel.writeLatin1String(request, String.fromCharCode(byte), handle);
      const isUnderWay = status === 0 && stream_wrap.streamBaseState[stream_wrap.kLastWriteWasAsync] !== 0;
      if (!isUnderWay) setImmediate(done, status);
    },
  };
}

function bound(): Bindings | null {
  const { binding } = process as unknown as { binding?: (name: string) => unknown };
  if (binding === undefined) return null;
  try {
    const of = <K extends keyof Bindings>(name: K) => binding.call(process, name) as Bindings[K];
    const all = { pipe_wrap: of('pipe_wrap'), stream_wrap: of('stream_wrap') };
    const { Pipe } = all.pipe_wrap;
    const isWhole =
      typeof Pipe.prototype.writeLatin1String === 'function' &&
      typeof all.pipe_wrap.constants.IPC === 'number' &&
      typeof all.stream_wrap.kLastWriteWasAsync === 'number';
    return isWhole ? all : null;
  } catch {
    // Newer runtimes may refuse.
    return null;
  }
}
