// The console protocol's server: WebSocket on a Unix socket of the working directory, and on TCP if asked.
//
// Listens, turns away what is no upgrade or comes from a web page, and gives each listener a door of its own
// (door.ts); what a connection may say is control-connection.ts. Never speaks to the worker itself. Caution: on the
// Unix socket possession is the right, so there is no challenge; over TCP an answer counts only for the address that
// the client has connected to.

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
import { Door, type DoorLimits, type Guest, listen } from './listener.ts';

/** What else is let in: web pages by their Origin, and names or addresses that lead here through a tunnel. */
export interface Allowed {
  origins: readonly string[];
  /** `host` or `host:port`. */
  hosts: readonly string[];
}

/** Of one listener. */
const DEFAULT_LIMITS: DoorLimits = { unknown: 32, known: 128, greeting: 10_000 };
/** Bytes that somebody may send before the welcome: an upgrade, a hello and an answer take less than one. */
const MAX_UNKNOWN_BYTES = 16 << 10;
/** How long one who was turned away has for reading why. */
const TURNED_AWAY_MS = 500;

/** Ways in differ in what they ask for and in what they give. */
interface DoorKind {
  challenge: boolean;
  /** Subscriptions, and commands that change nothing. */
  readonly: boolean;
}

/** A socket from its first moment on. */
class Visitor implements Guest {
  readonly address: string;
  readonly socket: Socket;
  connection: ControlConnection | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
  }

  drop(why: 'late' | 'room'): void {
    if (why === 'late' && this.connection !== null) this.connection.late();
    else this.socket.destroy();
  }
}

export class ControlServer {
  private readonly host: ControlHost;
  private readonly secret: Secret;
  private readonly origins: ReadonlySet<string>;
  private readonly hosts: ReadonlySet<string>;
  private readonly limits: DoorLimits;
  private readonly attempts = new Attempts();
  private readonly servers: Server[] = [];
  private readonly paths: string[] = [];
  private readonly sockets: WebSocketServer;
  private readonly connections = new Set<ControlConnection>();

  constructor(
    host: ControlHost,
    secret: Secret,
    allowed: Allowed = { origins: [], hosts: [] },
    limits: DoorLimits = DEFAULT_LIMITS,
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

  /** Listens on a Unix socket that only this user may use, or a group that may only read. */
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

  /** Tells every console. */
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

  private listen(where: ListenOptions, kind: DoorKind): Promise<number> {
    const { known } = this.limits;
    const door = new Door({ ...this.limits, known: kind.readonly ? Math.ceil(known / 2) : known });
    const visitors = new WeakMap<Socket, Visitor>();
    const server = createServer((_req, res) => {
      res.writeHead(426, { 'Content-Type': 'text/plain', Connection: 'close' });
      res.end('This is the console protocol of proxyd: connect with WebSocket.\n');
    });
    server.on('connection', (socket) => {
      const visitor = new Visitor(socket);
      visitors.set(socket, visitor);
      door.enter(visitor);
      // For as long as it lives: between the upgrade and the WebSocket nobody else listens for it.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => door.leave(visitor));
    });
    server.on('upgrade', (req: IncomingMessage, _duplex, head: Buffer) => {
      const { socket } = req;
      const visitor = visitors.get(socket);
      const { origin } = req.headers;
      if (visitor === undefined) socket.destroy();
      else if (origin !== undefined && !this.origins.has(origin)) turnAway(socket, '403 Forbidden');
      else if (door.isFull) turnAway(socket, '503 Service Unavailable');
      else
        this.sockets.handleUpgrade(req, socket, head, (ws) => {
          const connection = new ControlConnection(ws, this.host, this.doorOf(door, visitor, kind));
          visitor.connection = connection;
          this.connections.add(connection);
          socket.once('close', () => this.connections.delete(connection));
          limitUnknown(socket, connection);
          connection.greet();
        });
    });
    server.on('clientError', (_e, socket) => socket.destroy());
    this.servers.push(server);
    return listen(server, where);
  }

  /** The door as one connection sees it. */
  private doorOf(door: Door, visitor: Visitor, kind: DoorKind) {
    const challenge = kind.challenge ? newChallenge() : null;
    return {
      challenge,
      readonly: kind.readonly,
      admit: () => door.admit(visitor),
      check: (mac: string, to: string) => this.check(visitor, challenge ?? '', mac, to),
      unreadByAll: () => {
        let sum = 0;
        for (const c of this.connections) sum += c.unread;
        return sum;
      },
    };
  }

  private async check(visitor: Visitor, challenge: string, mac: string, to: string): Promise<string | null> {
    const { address, socket } = visitor;
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
    return `the answer is meant for ${to}, and this is ${here}: if a tunnel leads from there to here, start proxyd with --allow-host ${to}`;
  }
}

/** An answer, and the end; whoever does not read it has had the time. */
function turnAway(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.resume();
  setTimeout(() => socket.destroy(), TURNED_AWAY_MS).unref();
}

/** Drops a connection that sends more than a greeting takes before it is welcomed. */
function limitUnknown(socket: Socket, connection: ControlConnection): void {
  let bytes = 0;
  // After the WebSocket's own listener, which has read what came by then.
  const count = (data: Buffer): void => {
    bytes += data.length;
    if (connection.welcomed) socket.off('data', count);
    else if (bytes > MAX_UNKNOWN_BYTES) connection.drop();
  };
  socket.on('data', count);
}
