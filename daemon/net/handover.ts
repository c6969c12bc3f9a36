// Hands connections that one thread has accepted to another one that has fewer. All threads listen on the same sockets,
// and the thread that is awake takes all that wait there: without this, one thread would have most of them.
//
// How many connections each thread has is in shared memory. A connection goes over as its descriptor, through a Unix
// socket in the worker's directory, as it would to another process (SCM_RIGHTS): the runtime has no other way to let go
// of one. Where its handles are not to be had, each thread keeps what it accepts. Caution: a connection counts for its
// new thread from the moment it is given away, so that many that come at once are spread.

import { unlinkSync } from 'node:fs';
import { type RuntimeHandle, type RuntimeHandles, runtimeHandles } from '../runtime-handles.ts';
import { threadSocket } from '../threads/thread-socket.ts';

/** More connections than the thread that has the fewest, from which on new ones are given away: this many, or an eighth
 * of what that thread has (chosen; the spread is to stay within half of a thread's share). */
const SLACK = 2;
const SLACK_SHIFT = 3;
/** Connections under way to another thread that have no answer yet (chosen): more stay where they are. */
const MOST_WAITING = 1024;

/** Threads up to which the ways between all of them are opened at once (chosen: a hundred descriptors). */
const MOST_OPENED = 8;

export interface HandoverOptions {
  readonly thread: number;
  /** Connections of each thread, in shared memory. */
  readonly loads: Int32Array;
  /** Takes a connection that another thread gave, or that could not be given; `listener` is its index. */
  take(listener: number, connection: RuntimeHandle, counted: boolean): void;
  /** A connection that was given to this thread has not arrived: no descriptor was free for it. */
  lost(): void;
}

export class Handover {
  private readonly options: HandoverOptions;
  private readonly channels: HandleChannels | null;
  private readonly ways: (Way | undefined)[] = [];
  /** Before, a way to a thread that does not listen yet would be taken for broken. */
  private allListen = false;
  /** Held open: its descriptor is the channel's. */
  private readonly held: PipeHandle[] = [];

  constructor(options: HandoverOptions, channels = handleChannels()) {
    this.options = options;
    this.channels = channels;
    if (this.channels !== null) this.listen(this.channels);
  }

  /** Opens the ways to all other threads, where there are few: each takes two descriptors, and is there when it is needed.
   * To be called when all threads listen. */
  openWays(): void {
    this.allListen = true;
    const { loads, thread } = this.options;
    if (this.channels === null || loads.length > MOST_OPENED) return;
    for (let i = 0; i < loads.length; i++) if (i !== thread) this.wayTo(i, this.channels);
  }

  /** A connection of this thread has begun, or ended. */
  opened(): void {
    Atomics.add(this.options.loads, this.options.thread, 1);
  }

  closed(): void {
    Atomics.sub(this.options.loads, this.options.thread, 1);
  }

  /** Gives a connection away if another thread has fewer; false when it is to stay. */
  giveAway(listener: number, connection: RuntimeHandle): boolean {
    if (this.channels === null || !this.allListen) return false;
    const { loads, thread } = this.options;
    let least = thread;
    for (let i = 0; i < loads.length; i++) if ((loads[i] as number) < (loads[least] as number)) least = i;
    const few = loads[least] as number;
    if ((loads[thread] as number) < few + Math.max(SLACK, few >> SLACK_SHIFT)) return false;
    const way = this.wayTo(least, this.channels);
    if (way === null || way.waiting >= MOST_WAITING) return false;
    Atomics.add(loads, least, 1);
    way.give(listener, connection);
    return true;
  }

  private wayTo(thread: number, channels: HandleChannels): Way | null {
    const known = this.ways[thread];
    if (known !== undefined) return known.isBroken ? null : known;
    const way = new Way(channels, threadSocket(thread), (listener, connection) => {
      Atomics.sub(this.options.loads, thread, 1);
      this.options.take(listener, connection, false);
    });
    this.ways[thread] = way;
    return way;
  }

  private listen(channels: HandleChannels): void {
    const name = threadSocket(this.options.thread);
    try {
      unlinkSync(name);
    } catch {
      // A worker before this one may have left it.
    }
    const server = channels.server();
    if (server.bind(name) !== 0) return;
    server.onconnection = (status, accepted) => {
      if (status === 0 && accepted !== undefined) this.onChannel(channels, accepted);
    };
    server.listen(16);
    server.unref();
    this.held.push(server);
  }

  private onChannel(channels: HandleChannels, accepted: PipeHandle): void {
    const channel = channels.channel();
    const fd = accepted.fd ?? -1;
    if (fd < 0 || (channel.open(fd) ?? 0) !== 0) {
      accepted.close();
      return;
    }
    this.held.push(accepted, channel);
    channel.onread = (bytes) => {
      const connection = channel.pendingHandle ?? null;
      channel.pendingHandle = null;
      if (bytes === undefined) return;
      if (connection !== null) {
        this.options.take(new Uint8Array(bytes)[0] as number, connection, true);
        return;
      }
      // The kernel has dropped it: only its byte came.
      this.closed();
      this.options.lost();
    };
    channel.readStart();
    channel.unref();
  }
}

/** The way to another thread. */
class Way {
  isBroken = false;
  /** Connections that have not gone over yet. */
  waiting = 0;
  private readonly channels: HandleChannels;
  private readonly channel: PipeHandle;
  private readonly failed: (listener: number, connection: RuntimeHandle) => void;
  /** Handles that wait for the channel to open; null once it has. */
  private queue: { listener: number; connection: RuntimeHandle }[] | null = [];

  constructor(
    channels: HandleChannels,
    name: string,
    failed: (listener: number, connection: RuntimeHandle) => void,
  ) {
    this.channels = channels;
    this.failed = failed;
    this.channel = channels.channel();
    channels.connect(this.channel, name, (status) => this.opened(status));
    this.channel.unref();
  }

  give(listener: number, connection: RuntimeHandle): void {
    this.waiting++;
    if (this.queue !== null) this.queue.push({ listener, connection });
    else this.send(listener, connection);
  }

  private opened(status: number): void {
    const queue = this.queue ?? [];
    this.queue = null;
    this.isBroken = status !== 0;
    for (const { listener, connection } of queue) this.send(listener, connection);
  }

  private send(listener: number, connection: RuntimeHandle): void {
    const done = (status: number): void => {
      this.waiting--;
      if (status === 0) {
        connection.close();
        return;
      }
      this.isBroken = true;
      this.failed(listener, connection);
    };
    if (this.isBroken) done(-1);
    else this.channels.send(this.channel, listener, connection, done);
  }
}

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

function handleChannels(runtime: RuntimeHandles | null = runtimeHandles()): HandleChannels | null {
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
