// The server of the console protocol: WebSocket on a Unix socket in the working directory and, if configured, on TCP.
//
// Accepts connections, rejects requests that are no upgrade or come from a web page, and has separate connection limits
// for each listener (listener.ts); control-connection.ts serves the connections. Never talks to the worker itself.
// Note: access to the Unix socket is the authorization, so that it has no challenge; over TCP an answer is valid only
// for the address that the client connected to.

import { chmodSync, lchownSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { ListenOptions, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { LIMITS } from '../../../protocol/codec.ts';
import type { ServerMessage } from '../../../protocol/messages.ts';
import { addressText } from '../../../protocol/proof.ts';
import type { NotedEvent } from '../../../protocol/tables/events.ts';
import { removeFile } from '../process/working-directory.ts';
import { Attempts, newChallenge, type Secret, WRONG_ANSWER_MS } from './authentication.ts';
import { ControlConnection, type ControlHost } from './control-connection.ts';
import { type Client, Listener, type ListenerLimits, listen } from './listener.ts';

/** Additional permissions: web pages by their Origin, and names or addresses that lead here through a tunnel. */
export interface Allowed {
  origins: readonly string[];
  /** `host` or `host:port`. */
  hosts: readonly string[];
}

/** Limits of one listener. */
const DEFAULT_LIMITS: ListenerLimits = { pending: 32, admitted: 128, greeting: 10_000 };
/** Bytes that a client may send before it is authenticated: upgrade, hello and answer take less than 1 KiB. */
const MAX_GREETING_BYTES = 16 << 10;
/** Milliseconds that a rejected client has to read the response. */
const REJECT_MS = 500;

/** The policy of a listener. */
interface ListenerPolicy {
  challenge: boolean;
  /** Allows only subscriptions and read-only commands. */
  readonly: boolean;
}

/** A client, from the moment its socket was accepted. */
class ControlClient implements Client {
  readonly address: string;
  readonly socket: Socket;
  connection: ControlConnection | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
  }

  drop(why: 'late' | 'room'): void {
    if (why === 'late' && this.connection !== null) this.connection.timedOut();
    else this.socket.destroy();
  }
}

export class ControlServer {
  private readonly host: ControlHost;
  private readonly secret: Secret;
  private readonly origins: ReadonlySet<string>;
  private readonly hosts: ReadonlySet<string>;
  private readonly limits: ListenerLimits;
  private readonly attempts = new Attempts();
  private readonly servers: Server[] = [];
  private readonly paths: string[] = [];
  private readonly sockets: WebSocketServer;
  private readonly connections = new Set<ControlConnection>();

  constructor(
    host: ControlHost,
    secret: Secret,
    allowed: Allowed = { origins: [], hosts: [] },
    limits: ListenerLimits = DEFAULT_LIMITS,
  ) {
    this.host = host;
    this.secret = secret;
    this.origins = new Set(allowed.origins);
    this.hosts = new Set(allowed.hosts);
    this.limits = limits;
    this.sockets = new WebSocketServer({
      noServer: true,
      maxPayload: LIMITS.frame,
      perMessageDeflate: false,
      clientTracking: false,
      autoPong: false,
    });
  }

  /** Listens on a Unix socket that only this user may open, or a group that may only read. */
  async listenPath(path: string, readers: number | null = null): Promise<void> {
    removeFile(path);
    const mask = process.umask(0o177);
    try {
      await this.listen({ path }, { challenge: false, readonly: readers !== null });
    } finally {
      process.umask(mask);
    }
    if (readers !== null) lchownSync(path, -1, readers);
    chmodSync(path, readers === null ? 0o600 : 0o660);
    this.paths.push(path);
  }

  /** Listens on TCP, where clients must answer a challenge; resolves with the port. */
  listenTcp(host: string, port: number): Promise<number> {
    return this.listen({ host, port }, { challenge: true, readonly: false });
  }

  /** Sends an event to every console. */
  broadcast(event: (ServerMessage & { t: 'event' })['event'], noted: NotedEvent): void {
    for (const c of this.connections) if (c.welcomed) void c.json({ t: 'event', event, ...noted });
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

  private listen(where: ListenOptions, policy: ListenerPolicy): Promise<number> {
    const { admitted } = this.limits;
    const listener = new Listener({
      ...this.limits,
      admitted: policy.readonly ? Math.ceil(admitted / 2) : admitted,
    });
    const clients = new WeakMap<Socket, ControlClient>();
    const server = createServer((_req, res) => {
      res.writeHead(426, { 'Content-Type': 'text/plain', Connection: 'close' });
      res.end('This is the console protocol of proxyd: connect with WebSocket.\n');
    });
    server.on('connection', (socket) => {
      const client = new ControlClient(socket);
      clients.set(socket, client);
      listener.add(client);
      // For the whole lifetime: between the upgrade and the WebSocket no other handler is attached.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => listener.remove(client));
    });
    server.on('upgrade', (req: IncomingMessage, _duplex, head: Buffer) => {
      const { socket } = req;
      const client = clients.get(socket);
      const { origin } = req.headers;
      if (client === undefined) socket.destroy();
      else if (origin !== undefined && !this.origins.has(origin)) reject(socket, '403 Forbidden');
      else if (listener.isFull) reject(socket, '503 Service Unavailable');
      else
        this.sockets.handleUpgrade(req, socket, head, (ws) => {
          const connection = new ControlConnection(ws, this.host, this.policyOf(listener, client, policy));
          client.connection = connection;
          this.connections.add(connection);
          socket.once('close', () => this.connections.delete(connection));
          limitGreeting(socket, connection);
          connection.greet();
        });
    });
    server.on('clientError', (_e, socket) => socket.destroy());
    this.servers.push(server);
    return listen(server, where);
  }

  /** The policy of the listener as one connection sees it. */
  private policyOf(listener: Listener, client: ControlClient, policy: ListenerPolicy) {
    const challenge = policy.challenge ? newChallenge() : null;
    return {
      challenge,
      from: client.address === '' ? 'an operator on this host' : `an operator at ${client.address}`,
      readonly: policy.readonly,
      admit: () => listener.admit(client),
      check: (mac: string, to: string) => this.check(client, challenge ?? '', mac, to),
      unreadByAll: () => {
        let sum = 0;
        for (const c of this.connections) sum += c.unread;
        return sum;
      },
    };
  }

  private async check(
    client: ControlClient,
    challenge: string,
    mac: string,
    to: string,
  ): Promise<string | null> {
    const { address, socket } = client;
    const wait = this.attempts.wait(address);
    if (wait === null) {
      return 'too many wrong answers from this address: try again in a minute, or use the Unix socket';
    }
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    if (!this.secret.checkMac(challenge, to, mac)) {
      this.attempts.failed(address);
      await new Promise((resolve) => setTimeout(resolve, WRONG_ANSWER_MS));
      return 'wrong answer to the challenge';
    }
    const here = addressText(socket.localAddress ?? '', socket.localPort ?? 0);
    if (to === here || this.hosts.has(to) || this.hosts.has(to.replace(/:\d+$/, ''))) return null;
    return `the answer is for ${to}, but this is ${here}: if a tunnel leads from there to here, start proxyd with --allow-host ${to}`;
  }
}

/** Responds and closes; a client that does not read is cut off after a while. */
function reject(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.resume();
  setTimeout(() => socket.destroy(), REJECT_MS).unref();
}

/** Drops a connection that sends more than a greeting before it is authenticated. */
function limitGreeting(socket: Socket, connection: ControlConnection): void {
  let bytes = 0;
  // Runs after the WebSocket's own listener, which has parsed the data by then.
  const count = (data: Buffer): void => {
    bytes += data.length;
    if (connection.welcomed) socket.off('data', count);
    else if (bytes > MAX_GREETING_BYTES) connection.drop();
  };
  socket.on('data', count);
}
