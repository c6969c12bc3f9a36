// The text CLI protocol of varnish-cli(7) with its challenge, on -T (listening), -M (connecting out) and, with -d,
// standard input.
//
// A connection starts with status 107 and a challenge, answered with `auth`, then takes one command at a time; without a
// secret (-S none) it starts with the banner. Never buffers more than one command, and runs none before the client has
// read the previous reply; wrong answers close the connection after a pause. The peer of -M is trusted no more than a
// client of -T. Note: help, ping and quit need no authentication, and any failure before it ends the connection.

import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { CommandLines, MAX_COMMAND, parseCommand, QuotingError } from '../../../protocol/cli-quoting.ts';
import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import { turns } from '../../turns/turns.ts';
import { Attempts, newCliChallenge, type Secret, WRONG_ANSWER_MS } from './authentication.ts';
import { Door, type DoorLimits, type Guest, listen } from './listener.ts';
import { isLong, pieces } from './long-text.ts';

const RECONNECT_MS = 1000;
/** How long a connection that is over may stay: its answers but the last have been taken. */
const GOODBYE_MS = 2000;
/** Of one listener, and of each -M. The answer to a challenge may be made by hand, with sha256sum. */
const DEFAULT_LIMITS: DoorLimits = { unknown: 32, known: 64, greeting: 60_000 };
/** What somebody unknown may ask before the answer. */
const MAX_UNTRUSTED_COMMANDS = 32;
/** Characters of a command of somebody unknown: more than one read brings, so that the answer to the challenge may
 * come with the first commands. */
const MAX_UNTRUSTED = 1 << 17;
/** What everybody may ask; auth with a wrong number of words gets an error. */
const OPEN_COMMANDS: ReadonlySet<string> = new Set(['auth', 'help', 'ping', 'quit']);

class Client implements Guest {
  readonly address: string;
  readonly socket: Socket;
  readonly challenge = newCliChallenge();
  trusted = false;
  /** Commands before the answer to the challenge. */
  asked = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
  }

  drop(): void {
    this.socket.destroy();
  }
}

/** Writes an answer as it travels: status, bytes of the body, the body, a newline. Resolves when all of it is written, which
 * takes many turns of the event loop where it is long. */
export async function writeReply(output: Writable, { status, body }: CommandReply): Promise<void> {
  const head = `${String(status).padEnd(3)} ${String(Buffer.byteLength(body)).padEnd(8)}\n`;
  if (!isLong(body)) {
    output.write(`${head}${body}\n`);
    return;
  }
  output.write(head);
  for (const piece of pieces(body)) {
    if (!output.writable) return;
    output.write(piece);
    turns.tookLong();
    if (!turns.mayGoOn()) await turns.next();
  }
  if (output.writable) output.write('\n');
}

export class TextCli {
  private readonly run: (line: string) => Promise<CommandReply>;
  private readonly secret: Secret;
  private readonly banner: string;
  private readonly servers: Server[] = [];
  private readonly limits: DoorLimits;
  private readonly attempts = new Attempts();
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private closed = false;

  constructor(
    run: (line: string) => Promise<CommandReply>,
    secret: Secret,
    banner: string,
    limits: DoorLimits = DEFAULT_LIMITS,
  ) {
    this.limits = limits;
    this.run = run;
    this.secret = secret;
    this.banner = banner;
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    const door = new Door(this.limits);
    const server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket, door));
    this.servers.push(server);
    return listen(server, { host, port });
  }

  /** Connects to a CLI client that waits, again and again; `failed` hears why nobody was there. */
  connectOut(host: string, port: number, failed: (why: string) => void = () => {}): void {
    if (this.closed) return;
    const socket = connect({ host, port, allowHalfOpen: true });
    this.sockets.add(socket);
    // A host that swallows packets is tried again sooner than the system gives up.
    const late = setTimeout(() => socket.destroy(new Error('no connection in time')), this.limits.greeting);
    late.unref();
    let connected = false;
    socket.once('connect', () => {
      connected = true;
      clearTimeout(late);
      this.serve(socket, new Door(this.limits));
    });
    socket.on('error', (cause) => {
      if (!connected) failed(cause.message);
    });
    socket.once('close', () => {
      clearTimeout(late);
      this.sockets.delete(socket);
      if (this.closed) return;
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        this.connectOut(host, port, failed);
      }, RECONNECT_MS);
      this.timers.add(timer);
    });
  }

  close(): void {
    this.closed = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const server of this.servers) server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(socket: Socket, door: Door): void {
    const client = new Client(socket);
    this.sockets.add(socket);
    door.enter(client);
    socket.once('close', () => {
      this.sockets.delete(socket);
      door.leave(client);
    });
    socket.on('error', () => {});
    if (this.secret.isNone && !this.trust(client, door)) return;
    socket.setEncoding('utf8');
    const lines = new CommandLines(client.trusted ? MAX_COMMAND : MAX_UNTRUSTED);
    let queue: Promise<void> = Promise.resolve();
    const answer = async (reply: CommandReply, last = reply.status === CLI.CLOSE): Promise<void> => {
      if (socket.writable) await writeReply(socket, reply);
      if (last) endSoon(socket);
    };
    void answer(
      client.trusted ? { status: CLI.OK, body: this.banner } : { status: CLI.AUTH, body: request(client) },
    );
    const take = async (line: string): Promise<void> => {
      if (!socket.writable) return;
      if (client.trusted) {
        const reply = await this.run(line);
        // What comes behind a command that was too long would be taken for commands.
        await answer(reply, reply.status === CLI.CLOSE || line.length > MAX_COMMAND);
      } else {
        const reply = await this.greet(client, door, line);
        if (client.trusted) lines.limit = MAX_COMMAND;
        await answer(reply, reply.status !== CLI.OK);
      }
      await taken(socket);
    };
    socket.on('data', (text: string) => {
      // Nothing more is read until this is done and its answers are taken: a client that only sends costs no memory,
      // and one that ends its side behind its last command still gets all the answers.
      socket.pause();
      const commands = lines.push(text);
      queue = queue
        .then(async () => {
          for (const line of commands) await take(line);
        })
        .then(() => void socket.resume());
      queue.catch(() => socket.destroy());
    });
    // Told even to a paused reader.
    socket.on('end', () => void queue.then(() => socket.end()));
  }

  /** Lets a client in; one for whom there is no place is gone. */
  private trust(client: Client, door: Door): boolean {
    if (door.admit(client)) client.trusted = true;
    else client.socket.destroy();
    return client.trusted;
  }

  /** What a client may say before it has answered the challenge; anything but success ends the connection. */
  private async greet(client: Client, door: Door, line: string): Promise<CommandReply> {
    if (++client.asked > MAX_UNTRUSTED_COMMANDS) return { status: CLI.CLOSE, body: '' };
    const parsed = parseCommand(line);
    const words = parsed instanceof QuotingError ? [] : parsed;
    const [name] = words;
    if (name !== 'auth' || words.length !== 2) {
      // The answers of `help`, `ping` and `quit`, and those to what cannot be read, are the same for everyone.
      if (name === undefined || OPEN_COMMANDS.has(name)) return this.run(line);
      return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
    }
    const wait = this.attempts.wait(client.address);
    if (wait !== null && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    if (wait !== null && this.secret.checkCliAnswer(client.challenge, words[1] as string)) {
      return this.trust(client, door)
        ? { status: CLI.OK, body: this.banner }
        : { status: CLI.CLOSE, body: '' };
    }
    if (wait !== null) this.attempts.failed(client.address);
    await new Promise((resolve) => setTimeout(resolve, WRONG_ANSWER_MS));
    return { status: CLI.CLOSE, body: '' };
  }
}

function request(client: Client): string {
  return `${client.challenge}\n\nAuthentication required.\n`;
}

/** Ends a connection whose peer need not take part: it may neither read nor end its own side. */
function endSoon(socket: Socket): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), GOODBYE_MS);
  socket.once('close', () => clearTimeout(late));
}

/** Resolves when the peer has taken what was written, as far as the socket wants that waited for, or is gone. */
function taken(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

/** Serves until the input ends or `quit`; resolves then, when all commands read so far are answered. */
export function serveStdin(
  input: Readable,
  output: Writable,
  banner: string,
  run: (line: string) => Promise<CommandReply>,
): Promise<void> {
  const lines = new CommandLines();
  // Nobody may read the answers any more; the commands still count.
  output.on('error', () => {});
  void writeReply(output, { status: CLI.OK, body: `${banner}Type 'start' to launch worker process.\n` });
  let queue: Promise<void> = Promise.resolve();
  return new Promise((resolve) => {
    const take = (commands: string[]): void => {
      for (const line of commands) {
        queue = queue.then(async () => {
          const reply = await run(line);
          await writeReply(output, reply);
          if (reply.status === CLI.CLOSE) resolve();
        });
      }
    };
    const end = (): void => {
      take(lines.end());
      void queue.then(resolve);
    };
    input.setEncoding('utf8');
    input.on('data', (text: string) => take(lines.push(text)));
    input.once('end', end);
    input.once('close', end);
    input.once('error', end);
  });
}
