// One connection of the console protocol: greeting, challenge, then commands and subscriptions.
//
// Validates every frame (protocol/codec.ts) and limits the output that the client has requested but not read. A fault
// while serving a connection closes that connection and is reported to the host; nothing is thrown into the event loop.
// Note: clients that send without reading. The next command waits until the previous reply has been read, pings are
// answered only while the client reads, and beyond a limit the connection is dropped.

import type { WebSocket } from 'ws';
import { decodeClientMessage, LIMITS } from '../../../protocol/codec.ts';
import { CLI, PROTOCOL_ERRORS, ProtocolError } from '../../../protocol/errors.ts';
import {
  type ClientMessage,
  type CommandReply,
  type CounterSubscription,
  type ErrorCode,
  HISTORY_VERSION,
  type HistoryRequest,
  type LogSubscription,
  PROTOCOL_VERSION,
  type ServerMessage,
} from '../../../protocol/messages.ts';
import { changingCommand, refusedChange } from '../../../protocol/reading.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import { encodeLong, isLong } from './long-text.ts';
import type { ListSink, Stream, StreamError, StreamSink } from './streams/stream.ts';

/** The daemon as a connection sees it. */
export interface ControlHost {
  identity(): string;
  version: string;
  state(): 'running' | 'stopped';
  /** @param from the client, as events name it */
  command(line: string, from: string): Promise<CommandReply>;
  openLog(id: number, sub: LogSubscription, sink: StreamSink): Promise<Stream | StreamError>;
  openCounters(id: number, sub: CounterSubscription, sink: ListSink): Promise<Stream | StreamError>;
  openHistory(id: number, request: HistoryRequest, sink: ListSink): Promise<Stream | StreamError>;
  /** Reports an internal fault, met while serving a connection, which has been closed. */
  fault(cause: unknown): void;
}

/** The policy of the listener that accepted a connection. */
export interface ConnectionPolicy {
  /** Null if access to the socket is sufficient authorization. */
  readonly challenge: string | null;
  /** The client, as events name it. */
  readonly from: string;
  /** Allows only subscriptions and read-only commands. */
  readonly readonly: boolean;
  /** Null if the answer is correct, else the error message; delayed for a wrong answer. */
  check(mac: string, to: string): Promise<string | null>;
  /** Takes an authenticated slot; false if none is free. */
  admit(): boolean;
  /** Unread bytes of all connections together. */
  unreadByAll(): number;
}

/** Unread bytes after which a connection is dropped at the next message. */
const MAX_UNREAD = 16 << 20;
/** Unread bytes of all connections after which those with more than a share receive nothing more. */
const MAX_UNREAD_BY_ALL = 64 << 20;
const SHARE = 1 << 20;
/** Unread bytes after which pings are not answered. */
const READING = 64 << 10;

export class ControlConnection {
  welcomed = false;
  private readonly ws: WebSocket;
  private readonly host: ControlHost;
  private readonly policy: ConnectionPolicy;
  private readonly streams = new Map<number, Stream | null>();
  private helloReceived = false;
  private answered = false;
  private closed = false;
  /** The client asked for a read-only connection. */
  private readOnly = false;
  /** Commands without a reply, and their length in characters. */
  private running = 0;
  private waiting = 0;
  /** Bytes of lists that the client has not read completely. */
  private listed = 0;
  /** Runs the commands of this connection one after another. */
  private queue: Promise<void> = Promise.resolve();

  constructor(ws: WebSocket, host: ControlHost, policy: ConnectionPolicy) {
    this.ws = ws;
    this.host = host;
    this.policy = policy;
    ws.on('message', (data: Buffer, binary: boolean) => {
      if (binary) this.fail('bad-message', 'clients send text frames only');
      else this.guard(() => this.receive(data.toString('utf8')));
    });
    ws.on('ping', (data: Buffer) => {
      if (ws.bufferedAmount < READING && ws.readyState === ws.OPEN) ws.pong(data);
    });
    ws.on('error', () => ws.terminate());
    ws.on('close', () => this.end());
  }

  get unread(): number {
    return this.ws.bufferedAmount;
  }

  greet(): void {
    const { challenge } = this.policy;
    const hello: ServerMessage = {
      t: 'hello',
      v: PROTOCOL_VERSION,
      server: 'proxyd',
      version: this.host.version,
      identity: this.host.identity(),
      auth: challenge === null ? 'none' : 'hmac-sha256',
    };
    void this.json(challenge === null ? hello : { ...hello, challenge });
  }

  /** Resolves when the client has read it or is gone. A long reply is encoded closed several turns; messages sent
   * meanwhile precede it. */
  async json(message: ServerMessage): Promise<void> {
    if (message.t !== 'reply' || !isLong(message.body)) return this.send(JSON.stringify(message));
    const frame = await encodeLong(message, () => this.mayWrite());
    if (frame !== null) await this.send(frame);
  }

  /** Sends a list, which may be larger than the limit of unread bytes: its unread part does not count. */
  private async list(message: Buffer): Promise<void> {
    const sent = this.send(message);
    this.listed += message.length;
    await sent;
    this.listed -= message.length;
  }

  private mayWrite(): boolean {
    return !this.closed && this.ws.readyState === this.ws.OPEN;
  }

  private send(message: string | Buffer): Promise<void> {
    if (!this.mayWrite()) return Promise.resolve();
    const { unread } = this;
    const exceeds = unread - this.listed > MAX_UNREAD;
    if (exceeds || (unread > SHARE && this.policy.unreadByAll() > MAX_UNREAD_BY_ALL)) {
      this.ws.terminate();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.ws.send(message, { binary: false }, () => resolve()));
  }

  goAway(): void {
    this.ws.close(1001);
    setTimeout(() => this.ws.terminate(), 200).unref();
  }

  /** The connection was not authenticated in time. */
  timedOut(): void {
    this.fail('auth-required', 'no hello or no answer in time');
  }

  drop(): void {
    this.ws.terminate();
  }

  /** Runs a step for this connection: a fault in it closes this connection and no other. */
  private guard(step: () => void): void {
    try {
      step();
    } catch (cause) {
      this.host.fault(cause);
      this.fail('internal', 'internal error; see the log of the daemon');
    }
  }

  private receive(frame: string): void {
    if (this.closed) return;
    const m = decodeClientMessage(frame);
    if (m instanceof ProtocolError) {
      this.fail(m.code, m.message);
      return;
    }
    if (!this.welcomed) {
      this.beforeWelcome(m);
      return;
    }
    switch (m.t) {
      case 'hello':
      case 'auth':
        this.fail('bad-message', `${m.t} after the welcome`);
        return;
      case 'cmd':
        this.command(m.id, m.line);
        return;
      case 'log':
        void this.subscribe(m.id, (sink) => this.host.openLog(m.id, m.log, sink));
        return;
      case 'stat':
        void this.subscribe(m.id, (sink) => this.host.openCounters(m.id, m.stat, sink));
        return;
      case 'history':
        void this.subscribe(m.id, (sink) => this.host.openHistory(m.id, m.history, sink));
        return;
      case 'flush':
        this.streams.get(m.id)?.flush?.();
        return;
      case 'end': {
        const stream = this.streams.get(m.id);
        if (stream === undefined) return;
        this.streams.delete(m.id);
        stream?.close();
        void this.json({ t: 'end', id: m.id });
        return;
      }
    }
  }

  private beforeWelcome(m: ClientMessage): void {
    if (m.t === 'hello') {
      if (this.helloReceived) {
        this.fail('bad-message', 'a second hello');
        return;
      }
      if (m.v !== PROTOCOL_VERSION) {
        this.fail('bad-version', `this is version ${PROTOCOL_VERSION} of the protocol, not ${m.v}`);
        return;
      }
      this.helloReceived = true;
      this.readOnly = m.readonly === true;
      if (this.policy.challenge === null) this.admit();
      return;
    }
    if (m.t !== 'auth' || !this.helloReceived || this.policy.challenge === null) {
      this.fail('auth-required', 'send hello and answer the challenge first');
      return;
    }
    if (this.answered) {
      this.fail('auth-failed', 'only one answer per connection');
      return;
    }
    this.answered = true;
    void this.policy.check(m.mac, m.to).then((wrong) => {
      if (this.closed) return;
      if (wrong === null) this.admit();
      else this.fail('auth-failed', wrong);
    });
  }

  private admit(): void {
    if (!this.policy.admit()) {
      this.fail('too-many', 'too many connections: close one, or retry later');
      return;
    }
    this.welcomed = true;
    void this.json({ t: 'welcome', state: this.host.state(), history: HISTORY_VERSION });
  }

  private command(id: number, line: string): void {
    const most = this.running > 0 && this.waiting + line.length > LIMITS.waiting;
    if (this.running >= LIMITS.commands || most) {
      this.refuse(id, 'too-many', 'too many commands without a reply');
      return;
    }
    this.running++;
    this.waiting += line.length;
    this.queue = this.queue.then(async () => {
      if (this.closed) return;
      const { status, body } = this.forbidden(line) ?? (await this.host.command(line, this.policy.from));
      this.running--;
      this.waiting -= line.length;
      await this.json({ t: 'reply', id, status, body });
      if (status === 500) this.ws.close(1000);
    });
    this.queue.catch((cause) =>
      this.guard(() => {
        throw cause;
      }),
    );
  }

  /** Error for write commands on a read-only connection; null if the command is allowed. */
  private forbidden(line: string): CommandReply | null {
    if (!this.policy.readonly && !this.readOnly) return null;
    const name = changingCommand(line);
    if (name === null) return null;
    if (!this.policy.readonly) return refusedChange(name);
    const body = `${name} needs ${WORKDIR_FILES.socket}: this connection is read-only.\n`;
    return { status: CLI.CANT, body };
  }

  private async subscribe(
    id: number,
    open: (sink: ListSink) => Promise<Stream | StreamError>,
  ): Promise<void> {
    if (this.streams.has(id)) {
      this.refuse(id, 'bad-message', `id ${id} is in use`);
      return;
    }
    if (this.streams.size >= LIMITS.subscriptions) {
      this.refuse(id, 'too-many', 'too many subscriptions on one connection');
      return;
    }
    this.streams.set(id, null);
    let early: (() => void)[] | null = [];
    const sink: ListSink = {
      send: (frame) => {
        if (!this.closed && this.streams.has(id)) this.ws.send(frame);
      },
      json: (message) => {
        if (early !== null) {
          early.push(() => sink.json(message));
          return;
        }
        if (!this.streams.has(id)) return;
        if (message.t === 'end') this.streams.delete(id);
        void this.json(message);
      },
      text: async (message) => {
        if (early !== null)
          await new Promise<void>((resolve) => early?.push(() => void sink.text(message).then(resolve)));
        else if (this.streams.has(id)) await this.list(message);
      },
      buffered: () => this.buffered(),
      run: (step) => this.guard(step),
    };
    const stream = await open(sink).catch((cause: Error): StreamError => {
      this.host.fault(cause);
      return { error: { code: 'internal', message: cause.message } };
    });
    if ('error' in stream) {
      this.streams.delete(id);
      const { code, message, detail } = stream.error;
      void this.json({ t: 'error', id, code, message, ...(detail === undefined ? {} : { detail }) });
      return;
    }
    if (this.closed || !this.streams.has(id)) {
      stream.close();
      return;
    }
    this.streams.set(id, stream);
    const { mark } = stream;
    void this.json(mark === undefined ? { t: 'ok', id } : { t: 'ok', id, at: mark });
    const held = early;
    early = null;
    for (const send of held) send();
  }

  /** Unread bytes; infinite if this connection exceeds its share while all together exceed the limit. */
  private buffered(): number {
    const { unread } = this;
    return unread > SHARE && this.policy.unreadByAll() > MAX_UNREAD_BY_ALL / 2
      ? Number.POSITIVE_INFINITY
      : unread;
  }

  private refuse(id: number, code: ErrorCode, message: string): void {
    void this.json({ t: 'error', id, code, message });
  }

  /** Closes the connection with an error: first the message, then the close frame with its code. */
  private fail(code: ErrorCode, message: string): void {
    if (this.closed) return;
    void this.json({ t: 'error', code, message });
    this.end();
    this.ws.close(PROTOCOL_ERRORS[code].close ?? 1011, code);
    setTimeout(() => this.ws.terminate(), 1000).unref();
  }

  private end(): void {
    this.closed = true;
    for (const stream of this.streams.values()) stream?.close();
    this.streams.clear();
  }
}
