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
import { type Client, Listener, type ListenerLimits, listen } from './listener.ts';
import { isLong, pieces } from './long-text.ts';

const RECONNECT_MS = 1000;
/** Milliseconds that a finished connection may stay open; all replies but the last have been read. */
const GOODBYE_MS = 2000;
/** Limits of one listener, and of each -M. Operators may compute the answer to a challenge by hand, with sha256sum. */
const DEFAULT_LIMITS: ListenerLimits = { pending: 32, admitted: 64, greeting: 60_000 };
/** Commands allowed before authentication. */
const MAX_UNTRUSTED_COMMANDS = 32;
/** Characters of a command before authentication: more than one read delivers, so that the answer to the challenge
 * may arrive together with the first commands. */
const MAX_UNTRUSTED = 1 << 17;
/** Commands that need no authentication; auth with a wrong number of words gets an error. */
const OPEN_COMMANDS: ReadonlySet<string> = new Set(['auth', 'help', 'ping', 'quit']);

class CliClient implements Client {
  readonly address: string;
  readonly socket: Socket;
  readonly challenge = newCliChallenge();
  trusted = false;
  /** Commands received before authentication. */
  asked = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
  }

  /** As events name it. */
  get from(): string {
    return `the CLI client at ${this.address}`;
  }

  drop(): void {
    this.socket.destroy();
  }
}

/** Writes a reply in wire format: status, length of the body, body, newline. Resolves when all of it is written; a
 * long one takes several turns of the event loop. */
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
    if (!turns.mayContinue()) await turns.next();
  }
  if (output.writable) output.write('\n');
}

export class TextCli {
  private readonly run: (line: string, from: string) => Promise<CommandReply>;
  private readonly secret: Secret;
  private readonly banner: string;
  private readonly servers: Server[] = [];
  private readonly limits: ListenerLimits;
  private readonly attempts = new Attempts();
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private closed = false;

  constructor(
    run: (line: string, from: string) => Promise<CommandReply>,
    secret: Secret,
    banner: string,
    limits: ListenerLimits = DEFAULT_LIMITS,
  ) {
    this.limits = limits;
    this.run = run;
    this.secret = secret;
    this.banner = banner;
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    const listener = new Listener(this.limits);
    const server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket, listener));
    this.servers.push(server);
    return listen(server, { host, port });
  }

  /** Connects to a listening CLI client, and reconnects for ever; `failed` receives the reason of a failed attempt. */
  connectOut(host: string, port: number, failed: (why: string) => void = () => {}): void {
    if (this.closed) return;
    const socket = connect({ host, port, allowHalfOpen: true });
    this.sockets.add(socket);
    // A host that drops packets is retried before the system's own timeout.
    const late = setTimeout(() => socket.destroy(new Error('no connection in time')), this.limits.greeting);
    late.unref();
    let connected = false;
    socket.once('connect', () => {
      connected = true;
      clearTimeout(late);
      this.serve(socket, new Listener(this.limits));
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

  private serve(socket: Socket, listener: Listener): void {
    const client = new CliClient(socket);
    this.sockets.add(socket);
    listener.add(client);
    socket.once('close', () => {
      this.sockets.delete(socket);
      listener.remove(client);
    });
    socket.on('error', () => {});
    if (this.secret.isNone && !this.trust(client, listener)) return;
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
        const reply = await this.run(line, client.from);
        // The rest of an oversized command would be taken for commands.
        await answer(reply, reply.status === CLI.CLOSE || line.length > MAX_COMMAND);
      } else {
        const reply = await this.greet(client, listener, line);
        if (client.trusted) lines.limit = MAX_COMMAND;
        await answer(reply, reply.status !== CLI.OK);
      }
      await taken(socket);
    };
    socket.on('data', (text: string) => {
      // Reads nothing more until the commands are done and their replies are read: a client that only sends uses no
      // memory, and one that closes its side after the last command still receives all replies.
      socket.pause();
      const commands = lines.push(text);
      queue = queue
        .then(async () => {
          for (const line of commands) await take(line);
        })
        .then(() => void socket.resume());
      queue.catch(() => socket.destroy());
    });
    // Emitted even while reading is paused.
    socket.on('end', () => void queue.then(() => socket.end()));
  }

  /** Authenticates a client; closes it if there is no free slot. */
  private trust(client: CliClient, listener: Listener): boolean {
    if (listener.admit(client)) client.trusted = true;
    else client.socket.destroy();
    return client.trusted;
  }

  /** Handles a command before authentication; any status but success closes the connection. */
  private async greet(client: CliClient, listener: Listener, line: string): Promise<CommandReply> {
    if (++client.asked > MAX_UNTRUSTED_COMMANDS) return { status: CLI.CLOSE, body: '' };
    const parsed = parseCommand(line);
    const words = parsed instanceof QuotingError ? [] : parsed;
    const [name] = words;
    if (name !== 'auth' || words.length !== 2) {
      // The replies of `help`, `ping` and `quit`, and to unparsable input, are the same for everyone.
      if (name === undefined || OPEN_COMMANDS.has(name)) return this.run(line, client.from);
      return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
    }
    const wait = this.attempts.wait(client.address);
    if (wait !== null && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    if (wait !== null && this.secret.checkCliAnswer(client.challenge, words[1] as string)) {
      return this.trust(client, listener)
        ? { status: CLI.OK, body: this.banner }
        : { status: CLI.CLOSE, body: '' };
    }
    if (wait !== null) this.attempts.failed(client.address);
    await new Promise((resolve) => setTimeout(resolve, WRONG_ANSWER_MS));
    return { status: CLI.CLOSE, body: '' };
  }
}

function request(client: CliClient): string {
  return `${client.challenge}\n\nAuthentication required.\n`;
}

/** Ends a connection whether the client cooperates or not: it may neither read nor close its side. */
function endSoon(socket: Socket): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), GOODBYE_MS);
  socket.once('close', () => clearTimeout(late));
}

/** Resolves when the client has read enough of the output, or is gone. */
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

/** Serves until the input ends or `quit`; resolves after all commands read so far have been answered. */
export function serveStdin(
  input: Readable,
  output: Writable,
  banner: string,
  run: (line: string) => Promise<CommandReply>,
): Promise<void> {
  const lines = new CommandLines();
  // The output may be closed; the commands are still executed.
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
