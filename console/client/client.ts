// A connection to a daemon's manager: hello, challenge, commands, log and counter subscriptions. One Client is one
// connection; it never reconnects (live-source.ts does). Caution: a Unix socket is reached through its directory's
// descriptor when its path is longer than the kernel takes, and the loss of the connection fails every command in
// flight and ends every subscription exactly once.

import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { connect as netConnect, type Socket } from 'node:net';
import WebSocket from 'ws';
import { decodeServerMessage } from '../../protocol/codec.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import {
  type CommandReply,
  type CounterInfo,
  type CounterSubscription,
  type ErrorCode,
  HISTORY_VERSION,
  type HistoryRequest,
  type LogSubscription,
  type PastSample,
  PROTOCOL_VERSION,
  type ServerMessage,
} from '../../protocol/messages.ts';
import { addressText, proofText } from '../../protocol/proof.ts';
import { systemText } from '../../protocol/system-text.ts';
import { readSecret } from './client-secret.ts';
import { findDaemon } from './find-daemon.ts';
import type { Subscription } from './source.ts';

export interface ConnectOptions {
  /** Working directory of the daemon, as -n gives it; the default one when neither it nor address is given. */
  dir?: string | undefined;
  /** host:port of a --console listener, instead of dir. */
  address?: string | undefined;
  /** File with the secret of `address`. */
  secretFile?: string | undefined;
  /** Seconds until the connection must be up and welcomed; 5 when absent. */
  timeout?: number | undefined;
  /** Name of the program, for the daemon's log. */
  name?: string | undefined;
  /** The daemon refuses changes on this connection. */
  readonly?: boolean | undefined;
  /** Handle one message per turn of the event loop, so that keys and timers do not wait for a backlog of log. */
  interactive?: boolean | undefined;
}

export interface SubscriptionError {
  code: ErrorCode;
  message: string;
  detail?: string | undefined;
}

export interface FrameHandlers {
  /** A binary frame of transactions, for protocol/log-frame.ts. */
  frame(data: Uint8Array): void;
  /** The subscription is in place; with the mark of its beginning if there is an older log. */
  ready?(mark?: string): void;
  /** Of one with `before`: all complete groups have arrived. */
  reached?(): void;
  /** Records this subscriber will not see. */
  lost?(records: number, reason: 'overrun' | 'backpressure' | 'rate'): void;
  /** The end. Without an error when it was requested, or the log was read to its end. */
  end?(error: SubscriptionError | null): void;
}

export interface StatHandlers {
  /** Describes the values that follow; comes again when the set of counters changes. */
  counters(info: CounterInfo[]): void;
  /** `at` is epoch seconds; values are decimal texts in the order of the last counters(). */
  values(at: number, values: string[]): void;
  ready?(): void;
  end?(error: SubscriptionError | null): void;
}

export interface HistoryHandlers {
  /** Describes the samples that follow, and all values are 0. */
  counters(info: CounterInfo[]): void;
  past(samples: PastSample[]): void;
  end?(error: SubscriptionError | null): void;
}

/** After close(), `end` of its handlers follows once. */
export interface ClientSubscription extends Subscription {
  readonly id: number;
  /** Of a log: has incomplete groups sent. */
  flush(): void;
}

export type DaemonEvent = Extract<ServerMessage, { t: 'event' }>;

/** Why a connection could not be made or was lost. */
export class ConnectError extends Error {
  /** `unreachable`: no answer; `auth`: refused; `protocol`: not a daemon of this version. */
  readonly kind: 'unreachable' | 'auth' | 'protocol' | 'closed';
  constructor(kind: ConnectError['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
    this.kind = kind;
  }
}

const LOST: SubscriptionError = { code: 'internal', message: 'connection lost' };

/** Why a connection ended, by the code of the WebSocket's close (RFC 6455 section 7.4.1). */
const CLOSED: Readonly<Record<number, string>> = {
  1001: 'the daemon shut down',
  1006: 'closed unexpectedly',
};

export class Client {
  readonly server: string;
  readonly version: string;
  readonly identity: string;
  /** State of the worker at the welcome. */
  readonly state: 'running' | 'stopped';
  /** Whether the daemon has a history of its counters. */
  readonly keepsHistory: boolean;
  /** Worker started, stopped, died; program changed. */
  onEvent: ((event: DaemonEvent) => void) | null = null;
  /** The connection is gone: null after close(), an error otherwise. Called once. */
  onClose: ((error: ConnectError | null) => void) | null = null;
  closed = false;
  private readonly ws: WebSocket;
  private readonly commands = new Map<
    number,
    { resolve: (reply: CommandReply) => void; reject: (error: Error) => void }
  >();
  private readonly logs = new Map<number, FrameHandlers>();
  private readonly stats = new Map<number, StatHandlers>();
  private readonly histories = new Map<number, HistoryHandlers>();
  private nextId = 1;
  private closing = false;

  constructor(
    ws: WebSocket,
    hello: ServerMessage & { t: 'hello' },
    welcome: ServerMessage & { t: 'welcome' },
  ) {
    this.ws = ws;
    this.server = hello.server;
    this.version = hello.version;
    this.identity = hello.identity;
    this.state = welcome.state;
    this.keepsHistory = welcome.history === HISTORY_VERSION;
    ws.on('message', (data: Buffer, binary: boolean) => this.receive(data, binary));
    ws.on('error', () => {});
    ws.on('close', (code: number) => this.lose(code));
  }

  /** Runs one CLI line; rejects only when the connection is lost. */
  command(line: string): Promise<CommandReply> {
    if (this.closed) return Promise.reject(new ConnectError('closed', 'connection is closed'));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.commands.set(id, { resolve, reject });
      this.send({ t: 'cmd', id, line });
    });
  }

  /** Subscribes to the log; transactions come as binary frames. */
  log(sub: LogSubscription, handlers: FrameHandlers): ClientSubscription {
    const id = this.nextId++;
    this.logs.set(id, handlers);
    this.send({ t: 'log', id, log: sub });
    return this.subscription(id);
  }

  /** Subscribes to counters. */
  stat(sub: CounterSubscription, handlers: StatHandlers): ClientSubscription {
    const id = this.nextId++;
    this.stats.set(id, handlers);
    this.send({ t: 'stat', id, stat: sub });
    return this.subscription(id);
  }

  /** The history of the counters; it ends by itself. */
  history(request: HistoryRequest, handlers: HistoryHandlers): void {
    const id = this.nextId++;
    this.histories.set(id, handlers);
    this.send({ t: 'history', id, history: request });
  }

  /** Stops reading from the connection, so that backpressure reaches the daemon, until resume(). */
  pause(): void {
    this.ws.pause();
  }

  resume(): void {
    this.ws.resume();
  }

  close(): void {
    if (this.closed) return;
    this.closing = true;
    this.ws.close(1000);
    // A peer that never answers the close must not keep the program alive.
    setTimeout(() => this.ws.terminate(), 500).unref();
  }

  private subscription(id: number): ClientSubscription {
    return {
      id,
      close: () => this.endSubscription(id),
      flush: () => {
        if (this.logs.has(id)) this.send({ t: 'flush', id });
      },
    };
  }

  private endSubscription(id: number): void {
    if (this.logs.has(id) || this.stats.has(id)) this.send({ t: 'end', id });
  }

  private send(message: unknown): void {
    if (!this.closed) this.ws.send(JSON.stringify(message));
  }

  private receive(data: Buffer, binary: boolean): void {
    if (binary) {
      // The first four bytes of a log frame are its subscription (protocol/README.md).
      if (data.length >= 4) this.logs.get(data.readUInt32LE(0))?.frame(data);
      return;
    }
    const m = decodeServerMessage(data.toString('utf8'));
    if (m instanceof ProtocolError) {
      this.ws.close(1002);
      return;
    }
    switch (m.t) {
      case 'reply': {
        const waiting = this.commands.get(m.id);
        this.commands.delete(m.id);
        waiting?.resolve({ status: m.status, body: m.body });
        return;
      }
      case 'ok':
        this.logs.get(m.id)?.ready?.(m.at);
        this.stats.get(m.id)?.ready?.();
        return;
      case 'reached':
        this.logs.get(m.id)?.reached?.();
        return;
      case 'lost':
        this.logs.get(m.id)?.lost?.(m.records, m.reason);
        return;
      case 'counters':
        (this.stats.get(m.id) ?? this.histories.get(m.id))?.counters(m.info);
        return;
      case 'values':
        this.stats.get(m.id)?.values(m.at, m.values);
        return;
      case 'past':
        this.histories.get(m.id)?.past(m.samples);
        return;
      case 'end':
        this.finish(m.id, null);
        return;
      case 'event':
        this.onEvent?.(m);
        return;
      case 'error':
        if (m.id !== undefined) this.finish(m.id, { code: m.code, message: m.message, detail: m.detail });
        return;
      default:
        return;
    }
  }

  private finish(id: number, error: SubscriptionError | null): void {
    const waiting = this.commands.get(id);
    if (waiting !== undefined) {
      this.commands.delete(id);
      waiting.reject(new Error(error?.message ?? 'no reply'));
      return;
    }
    const handlers = this.logs.get(id) ?? this.stats.get(id) ?? this.histories.get(id);
    this.logs.delete(id);
    this.stats.delete(id);
    this.histories.delete(id);
    handlers?.end?.(error);
  }

  private lose(code: number): void {
    if (this.closed) return;
    this.closed = true;
    const error = this.closing
      ? null
      : new ConnectError('closed', CLOSED[code] ?? `the daemon closed the connection (${code})`);
    for (const { reject } of this.commands.values()) {
      reject(error ?? new ConnectError('closed', 'connection is closed'));
    }
    this.commands.clear();
    const open = [...this.logs.values(), ...this.stats.values(), ...this.histories.values()];
    this.logs.clear();
    this.stats.clear();
    this.histories.clear();
    for (const handlers of open) handlers.end?.(error === null ? null : LOST);
    this.onClose?.(error);
  }
}

/** host:port, [v6]:port or :port. Throws ConnectError for anything else. */
export function parseAddress(address: string): { host: string; port: number } {
  const m = /^(?:\[([^\]]+)\]|([^:\s]*))[:\s](\d+)$/.exec(address);
  if (m === null) throw new ConnectError('unreachable', `"${address}" is not host:port`);
  return { host: (m[1] ?? m[2]) || 'localhost', port: Number(m[3]) };
}

function openSocket(o: ConnectOptions): Socket {
  if (o.address !== undefined) return netConnect(parseAddress(o.address));
  return netConnect(findDaemon(o.dir).socket);
}

/** The directory, or all that were tried. */
function placeText(name: string | undefined): string {
  const { dir, socket, places } = findDaemon(name);
  return places.length === 1 || existsSync(socket) ? dir : `looked in ${places.join(', ')}`;
}

/** Connects, answers the challenge and waits for the welcome. Rejects with a ConnectError. */
export function connect(o: ConnectOptions = {}): Promise<Client> {
  return new Promise((resolve, reject) => {
    const where = o.address ?? placeText(o.dir);
    let hello: (ServerMessage & { t: 'hello' }) | null = null;
    let ws: WebSocket;
    let socket: Socket;
    const fail = (error: ConnectError): void => {
      clearTimeout(timer);
      ws?.removeAllListeners('message').removeAllListeners('close');
      ws?.terminate();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new ConnectError('unreachable', `${where}: no answer in time`)),
      (o.timeout ?? 5) * 1000,
    );
    try {
      ws = new WebSocket('ws://localhost/', {
        createConnection: () => {
          socket = openSocket(o);
          return socket;
        },
        perMessageDeflate: false,
        allowSynchronousEvents: o.interactive !== true,
        maxPayload: 64 << 20,
        skipUTF8Validation: false,
      });
    } catch (cause) {
      clearTimeout(timer);
      reject(cause instanceof ConnectError ? cause : new ConnectError('unreachable', String(cause), cause));
      return;
    }
    ws.on('error', (cause: NodeJS.ErrnoException) => {
      const isHttp = typeof cause.code === 'string' && cause.code.startsWith('HPE_');
      const what = isHttp
        ? `no console is served there; that is the address of --console, not of -T`
        : systemText(cause);
      fail(new ConnectError(isHttp ? 'protocol' : 'unreachable', `${where}: ${what}`, cause));
    });
    ws.on('close', (code: number) =>
      fail(new ConnectError('protocol', `${where}: the daemon closed the connection (${code})`)),
    );
    ws.on('message', (data: Buffer) => {
      const m = decodeServerMessage(data.toString('utf8'));
      if (m instanceof ProtocolError) return fail(new ConnectError('protocol', `${where}: ${m.message}`));
      if (m.t === 'error') {
        const kind = m.code === 'auth-failed' || m.code === 'auth-required' ? 'auth' : 'protocol';
        return fail(new ConnectError(kind, `${where}: ${m.message}`));
      }
      if (m.t === 'hello' && hello === null) {
        hello = m;
        if (m.v !== PROTOCOL_VERSION) {
          return fail(new ConnectError('protocol', `${where}: the daemon speaks protocol version ${m.v}`));
        }
        const greeting = { t: 'hello', v: PROTOCOL_VERSION, client: o.name ?? 'proxyd-client' };
        ws.send(JSON.stringify(o.readonly === true ? { ...greeting, readonly: true } : greeting));
        if (m.auth === 'hmac-sha256') {
          const to = addressText(socket.remoteAddress ?? '', socket.remotePort ?? 0);
          const mac = answer(o.secretFile, m.challenge ?? '', to);
          if (mac instanceof ConnectError) return fail(mac);
          ws.send(JSON.stringify({ t: 'auth', mac, to }));
        }
        return;
      }
      if (m.t === 'welcome' && hello !== null) {
        clearTimeout(timer);
        ws.removeAllListeners('message').removeAllListeners('close').removeAllListeners('error');
        resolve(new Client(ws, hello, m));
      }
    });
  });
}

function answer(secretFile: string | undefined, challenge: string, to: string): string | ConnectError {
  if (secretFile === undefined) return new ConnectError('auth', 'the daemon requires a secret: give -S FILE');
  try {
    return createHmac('sha256', readSecret(secretFile)).update(proofText(challenge, to)).digest('hex');
  } catch (cause) {
    return new ConnectError('auth', (cause as Error).message, cause);
  }
}
