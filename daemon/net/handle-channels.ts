// Unix sockets over which the runtime sends its handles: to another thread as to another process, by descriptor. Null where
// the runtime does not have them.

import { type RuntimeHandle, type RuntimeHandles, runtimeHandles } from '../runtime-handles.ts';

/** A Unix socket; methods return 0 or a negative error number. */
export interface PipeHandle extends Omit<RuntimeHandle, 'onread'> {
  onconnection?: (status: number, connection: PipeHandle | undefined) => void;
  onread?: (bytes: ArrayBuffer | undefined) => void;
  /** A handle that came with the bytes that are being read. */
  pendingHandle?: RuntimeHandle | null;
  bind(path: string): number;
  listen(backlog: number): number;
  open(fd: number): number | undefined;
  unref(): void;
  writeLatin1String(request: object, text: string, handle: RuntimeHandle): number;
}

export interface HandleChannels {
  server(): PipeHandle;
  /** One over which handles can be sent. */
  channel(): PipeHandle;
  connect(channel: PipeHandle, path: string, done: (status: number) => void): void;
  /** Sends a byte and a handle with it. */
  send(channel: PipeHandle, byte: number, handle: RuntimeHandle, done: (status: number) => void): void;
}

export function handleChannels(runtime: RuntimeHandles | null = runtimeHandles()): HandleChannels | null {
  if (runtime === null) return null;
  const { pipe_wrap, stream_wrap } = runtime;
  const { SERVER, IPC } = pipe_wrap.constants as { SERVER?: number; IPC?: number };
  const Pipe = pipe_wrap.Pipe as unknown as new (type: number) => PipeHandle;
  if (SERVER === undefined || IPC === undefined || Pipe.prototype.writeLatin1String === undefined)
    return null;
  return {
    server: () => new Pipe(SERVER),
    channel: () => new Pipe(IPC),
    connect: (channel, path, done) => {
      const request = new pipe_wrap.PipeConnectWrap();
      request.oncomplete = done;
      const status = channel.connect(request, path) ?? 0;
      if (status !== 0) setImmediate(done, status);
    },
    send: (channel, byte, handle, done) => {
      const request = new stream_wrap.WriteWrap();
      request.oncomplete = done;
      const status = channel.writeLatin1String(request, String.fromCharCode(byte), handle);
      const isUnderWay = status === 0 && stream_wrap.streamBaseState[stream_wrap.kLastWriteWasAsync] !== 0;
      if (!isUnderWay) setImmediate(done, status);
    },
  };
}
