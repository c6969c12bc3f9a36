// The console protocol's server: WebSocket on a Unix socket of the working directory, and on TCP if asked.
//
// Validates every frame (protocol/codec.ts), bounds clients, commands and subscriptions, and hands over to
// the dispatcher and the streams. Never speaks to the worker itself. Awkward: on the Unix socket possession is
// the right, so there is no challenge; over TCP wrong answers are delayed and counted.

import { chmodSync, lchownSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { parseCommand } from '../../protocol/cli-quoting.ts';
import { decodeClientMessage, LIMITS } from '../../protocol/codec.ts';
import { CLI, PROTOCOL_ERRORS, ProtocolError } from '../../protocol/errors.ts';
import {
  type ClientMessage,
  type CounterSubscription,
  type ErrorCode,
  type LogSubscription,
  PROTOCOL_VERSION,
  type ServerMessage,
} from '../../protocol/messages.ts';
import { commandRow } from '../../protocol/tables/commands.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { newChallenge, type Secret } from './secret.ts';
import type { Stream, StreamError, StreamSink } from './streams/sink.ts';
import type { CliReply } from './supervisor.ts';
import { removeFile } from './working-directory.ts';

// Required, not imported: Node parses CommonJS for its exports before it imports it, which is slow.
const { WebSocketServer: Sockets } = createRequire(import.meta.url)('ws') as typeof import('ws');

/** What a connection may reach. */
export interface ControlHost {
  identity(): string;
  version: string;
  state(): 'running' | 'stopped';
  command(line: string): Promise<CliReply>;
  openLog(id: number, sub: LogSubscription, sink: StreamSink): Promise<Stream | StreamError>;
  openCounters(id: number, sub: CounterSubscription, sink: StreamSink): Promise<Stream | StreamError>;
}

export interface ControlLimits {
  /** Connections at a time. */
  clients: number;
  /** Wrong answers per minute (all addresses together) before connections are refused. */
  failures: number;
  /** Milliseconds until a connection must have said hello and answered its challenge. */
  greeting: number;
}

const DEFAULT_LIMITS: ControlLimits = { clients: 128, failures: 20, greeting: 10_000 };
const FAILURE_DELAY_MS = 500;
/** A connection that leaves so many bytes of control messages unread is dropped. */
const MAX_UNREAD = 64 << 20;

export class ControlServer {
  private readonly host: ControlHost;
  private readonly secret: Secret;
  private readonly origins: ReadonlySet<string>;
  private readonly limits: ControlLimits;
  private readonly servers: Server[] = [];
  private readonly paths: string[] = [];
  private readonly sockets: WebSocketServer;
  private readonly connections = new Set<Connection>();
  private failures: number[] = [];
  private readers = 0;

  constructor(
    host: ControlHost,
    secret: Secret,
    origins: readonly string[] = [],
    limits: ControlLimits = DEFAULT_LIMITS,
  ) {
    this.host = host;
    this.secret = secret;
    this.origins = new Set(origins);
    this.limits = limits;
    this.sockets = new Sockets({
      noServer: true,
      maxPayload: LIMITS.frame,
      perMessageDeflate: false,
      clientTracking: false,
    });
  }

  /** Listens on a Unix socket that only this user may use, or a group that may only read. */
  async listenPath(path: string, readers: number | null = null): Promise<void> {
    removeFile(path);
    const server = this.makeServer({ challenge: false, readonly: readers !== null });
    const mask = process.umask(0o177);
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
    } finally {
      process.umask(mask);
    }
    if (readers !== null) lchownSync(path, -1, readers);
    chmodSync(path, readers === null ? 0o600 : 0o660);
    this.paths.push(path);
  }

  /** Listens on TCP, where clients must answer a challenge; resolves with the port. */
  async listenTcp(host: string, port: number): Promise<number> {
    const server = this.makeServer({ challenge: true, readonly: false });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Tells every console. */
  broadcast(event: (ServerMessage & { t: 'event' })['event'], text: string): void {
    for (const c of this.connections) if (c.welcomed) c.json({ t: 'event', event, text });
  }

  /** Closes all connections and stops listening. */
  async close(): Promise<void> {
    for (const c of this.connections) c.goAway();
    await Promise.all(
      this.servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
            setTimeout(resolve, 300).unref();
          }),
      ),
    );
    for (const path of this.paths) removeFile(path);
  }

  private makeServer({ challenge, readonly }: DoorKind): Server {
    const server = createServer((_req, res) => {
      res.writeHead(426, { 'Content-Type': 'text/plain', Connection: 'close' });
      res.end('This is the console protocol of proxyd: connect with WebSocket.\n');
    });
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      const refused = this.refuse(req, { challenge, readonly });
      if (refused !== null) {
        socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.sockets.handleUpgrade(req, socket, head, (ws) => this.welcome(ws, { challenge, readonly }));
    });
    server.on('clientError', (_e, socket) => socket.destroy());
    this.servers.push(server);
    return server;
  }

  private refuse(req: IncomingMessage, { challenge, readonly }: DoorKind): string | null {
    const { origin } = req.headers;
    if (origin !== undefined && !this.origins.has(origin)) return '403 Forbidden';
    if (this.connections.size >= this.limits.clients) return '503 Service Unavailable';
    // Those who may only read never keep out those who may do more.
    if (readonly && this.readers >= this.limits.clients / 2) return '503 Service Unavailable';
    if (challenge && this.tooManyFailures()) return '429 Too Many Requests';
    return null;
  }

  private tooManyFailures(): boolean {
    const since = Date.now() - 60_000;
    this.failures = this.failures.filter((at) => at > since);
    return this.failures.length >= this.limits.failures;
  }

  private welcome(ws: WebSocket, { challenge, readonly }: DoorKind): void {
    const connection = new Connection(ws, this.host, this.limits.greeting, {
      challenge: challenge ? newChallenge() : null,
      readonly,
      check: (text, mac) => {
        if (this.secret.checkMac(text, mac)) return true;
        this.failures.push(Date.now());
        return false;
      },
      gone: () => {
        this.connections.delete(connection);
        if (readonly) this.readers--;
      },
    });
    this.connections.add(connection);
    if (readonly) this.readers++;
    connection.greet();
  }
}

/** Ways in differ in what they ask for and in what they give. */
interface DoorKind {
  challenge: boolean;
  /** Subscriptions, and commands that change nothing. */
  readonly: boolean;
}

interface Door {
  challenge: string | null;
  readonly: boolean;
  check(challenge: string, mac: string): boolean;
  gone(): void;
}

class Connection {
  welcomed = false;
  private readonly ws: WebSocket;
  private readonly host: ControlHost;
  private readonly door: Door;
  private readonly greeting: NodeJS.Timeout;
  private readonly streams = new Map<number, Stream | null>();
  private saidHello = false;
  private answered = false;
  private running = 0;
  private over = false;
  /** Commands of one connection run one after the other. */
  private queue: Promise<void> = Promise.resolve();

  constructor(ws: WebSocket, host: ControlHost, greetingMs: number, door: Door) {
    this.ws = ws;
    this.host = host;
    this.door = door;
    this.greeting = setTimeout(() => this.fail('auth-required', 'no hello or no answer in time'), greetingMs);
    this.greeting.unref();
    ws.on('message', (data: Buffer, binary: boolean) => {
      if (binary) this.fail('bad-message', 'clients send text frames only');
      else this.receive(data.toString('utf8'));
    });
    ws.on('error', () => this.ws.terminate());
    ws.on('close', () => this.end());
  }

  greet(): void {
    const { challenge } = this.door;
    const hello: ServerMessage = {
      t: 'hello',
      v: PROTOCOL_VERSION,
      server: 'proxyd',
      version: this.host.version,
      identity: this.host.identity(),
      auth: challenge === null ? 'none' : 'hmac-sha256',
    };
    this.json(challenge === null ? hello : { ...hello, challenge });
  }

  json(message: ServerMessage): void {
    if (this.over || this.ws.readyState !== this.ws.OPEN) return;
    if (this.ws.bufferedAmount > MAX_UNREAD) {
      this.ws.terminate();
      return;
    }
    this.ws.send(JSON.stringify(message));
  }

  goAway(): void {
    this.ws.close(1001);
    setTimeout(() => this.ws.terminate(), 200).unref();
  }

  private receive(frame: string): void {
    if (this.over) return;
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
      case 'flush':
        this.streams.get(m.id)?.flush?.();
        return;
      case 'end': {
        const stream = this.streams.get(m.id);
        if (stream === undefined) return;
        this.streams.delete(m.id);
        stream?.close();
        this.json({ t: 'end', id: m.id });
        return;
      }
    }
  }

  private beforeWelcome(m: ClientMessage): void {
    if (m.t === 'hello') {
      if (this.saidHello) {
        this.fail('bad-message', 'a second hello');
        return;
      }
      if (m.v !== PROTOCOL_VERSION) {
        this.fail('bad-version', `this is version ${PROTOCOL_VERSION} of the protocol, not ${m.v}`);
        return;
      }
      this.saidHello = true;
      if (this.door.challenge === null) this.admit();
      return;
    }
    if (m.t !== 'auth' || !this.saidHello || this.door.challenge === null) {
      this.fail('auth-required', 'say hello and answer the challenge first');
      return;
    }
    if (this.answered) {
      this.fail('auth-failed', 'one answer a connection');
      return;
    }
    this.answered = true;
    if (this.door.check(this.door.challenge, m.mac)) this.admit();
    else
      setTimeout(() => this.fail('auth-failed', 'wrong answer to the challenge'), FAILURE_DELAY_MS).unref();
  }

  private admit(): void {
    clearTimeout(this.greeting);
    this.welcomed = true;
    this.json({ t: 'welcome', state: this.host.state() });
  }

  private command(id: number, line: string): void {
    if (this.running >= LIMITS.commands) {
      this.refuse(id, 'too-many', 'too many commands without a reply');
      return;
    }
    this.running++;
    this.queue = this.queue.then(async () => {
      if (this.over) return;
      const { status, body } = this.forbidden(line) ?? (await this.host.command(line));
      this.running--;
      this.json({ t: 'reply', id, status, body });
      if (status === 500) this.ws.close(1000);
    });
  }

  /** What a reader is told who wants to change something. A line that cannot be read changes nothing either. */
  private forbidden(line: string): CliReply | null {
    if (!this.door.readonly) return null;
    const words = parseCommand(line);
    if (!Array.isArray(words) || words.length === 0) return null;
    const name = words[0] as string;
    const row = commandRow(name);
    if (row === undefined || row.reads === true) return null;
    const body = `${name} is for those who may use ${WORKDIR_FILES.socket}: this connection may only read.\n`;
    return { status: CLI.CANT, body };
  }

  private async subscribe(
    id: number,
    open: (sink: StreamSink) => Promise<Stream | StreamError>,
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
    let early: ServerMessage[] | null = [];
    const sink: StreamSink = {
      send: (frame) => {
        if (!this.over && this.streams.has(id)) this.ws.send(frame);
      },
      json: (message) => {
        if (early !== null) {
          early.push(message);
          return;
        }
        if (!this.streams.has(id)) return;
        if (message.t === 'end') this.streams.delete(id);
        this.json(message);
      },
      buffered: () => this.ws.bufferedAmount,
    };
    const stream = await open(sink).catch(
      (cause: Error): StreamError => ({ error: { code: 'internal', message: cause.message } }),
    );
    if ('error' in stream) {
      this.streams.delete(id);
      const { code, message, detail } = stream.error;
      this.json({ t: 'error', id, code, message, ...(detail === undefined ? {} : { detail }) });
      return;
    }
    if (this.over || !this.streams.has(id)) {
      stream.close();
      return;
    }
    this.streams.set(id, stream);
    this.json({ t: 'ok', id });
    const held = early;
    early = null;
    for (const message of held) sink.json(message);
  }

  private refuse(id: number, code: ErrorCode, message: string): void {
    this.json({ t: 'error', id, code, message });
  }

  /** An error that ends the connection in order: message first, then the close with its code. */
  private fail(code: ErrorCode, message: string): void {
    if (this.over) return;
    this.json({ t: 'error', code, message });
    this.over = true;
    this.ws.close(PROTOCOL_ERRORS[code].close ?? 1011, code);
    setTimeout(() => this.ws.terminate(), 1000).unref();
  }

  private end(): void {
    this.over = true;
    clearTimeout(this.greeting);
    for (const stream of this.streams.values()) stream?.close();
    this.streams.clear();
    this.door.gone();
  }
}
