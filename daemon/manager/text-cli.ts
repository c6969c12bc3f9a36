// The text CLI protocol of varnish-cli(7) with its challenge, on -T (listening) and -M (connecting out).
//
// A connection is 107 and a challenge, `auth` with the answer, then one command at a time; with no secret (-S none)
// it begins with the banner. Never buffers more than one command; wrong answers close the connection after a pause.
// Awkward: help, ping and quit need no answer to the challenge, and any failure before it ends the connection.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { CommandLines, MAX_COMMAND, parseCommand, QuotingError } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import { newCliChallenge, type Secret } from './secret.ts';
import type { CliReply } from './supervisor.ts';

const RECONNECT_MS = 1000;
const WRONG_ANSWER_MS = 500;
const MAX_CLIENTS = 64;
/** Characters of a command of somebody unknown: more than one read brings, so that the answer to the challenge may
 * come with the first commands. */
const MAX_UNTRUSTED = 1 << 17;
/** What everybody may ask; auth with a wrong number of words is told so. */
const OPEN_COMMANDS: ReadonlySet<string> = new Set(['auth', 'help', 'ping', 'quit']);

interface ClientState {
  readonly socket: Socket;
  readonly challenge: string;
  trusted: boolean;
}

/** An answer as it travels: status, bytes of the body, the body, a newline. */
export function encodeReply({ status, body }: CliReply): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  const head = `${String(status).padEnd(3)} ${String(bytes.length).padEnd(8)}\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\n')]);
}

export class TextCli {
  private readonly run: (line: string) => Promise<CliReply>;
  private readonly secret: Secret;
  private readonly banner: string;
  private readonly servers: Server[] = [];
  private readonly clients = new Set<ClientState>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private closed = false;

  constructor(run: (line: string) => Promise<CliReply>, secret: Secret, banner: string) {
    this.run = run;
    this.secret = secret;
    this.banner = banner;
  }

  /** Resolves with the port. */
  async listen(host: string, port: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.servers.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Connects to a CLI client that waits, again and again; `failed` hears why nobody was there. */
  connectOut(host: string, port: number, failed: (why: string) => void = () => {}): void {
    if (this.closed) return;
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once('connect', () => this.serve(socket));
    let connected = false;
    socket.once('connect', () => {
      connected = true;
    });
    socket.on('error', (cause) => {
      if (!connected) failed(cause.message);
    });
    socket.once('close', () => {
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
    for (const { socket } of this.clients) socket.destroy();
  }

  private serve(socket: Socket): void {
    const client: ClientState = { socket, challenge: newCliChallenge(), trusted: this.secret.isNone };
    this.makeRoom();
    if (this.clients.size >= MAX_CLIENTS) {
      socket.destroy();
      return;
    }
    this.clients.add(client);
    socket.once('close', () => this.clients.delete(client));
    socket.on('error', () => {});
    socket.setEncoding('utf8');
    const lines = new CommandLines(client.trusted ? MAX_COMMAND : MAX_UNTRUSTED);
    let queue: Promise<void> = Promise.resolve();
    const answer = (reply: CliReply, last = reply.status === CLI.CLOSE): void => {
      if (socket.writable) socket.write(encodeReply(reply));
      if (last) socket.end();
    };
    answer(
      client.trusted ? { status: CLI.OK, body: this.banner } : { status: CLI.AUTH, body: request(client) },
    );
    const take = async (line: string): Promise<void> => {
      if (!socket.writable) return;
      if (client.trusted) {
        const reply = await this.run(line);
        // What comes behind a command that was too long would be taken for commands.
        answer(reply, reply.status === CLI.CLOSE || line.length > MAX_COMMAND);
        return;
      }
      const reply = await this.greet(client, line);
      answer(reply, reply.status !== CLI.OK);
      if (client.trusted) lines.limit = MAX_COMMAND;
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
        .then(() => taken(socket))
        .then(() => void socket.resume());
    });
    // Told even to a paused reader.
    socket.on('end', () => void queue.then(() => socket.end()));
  }

  /** Those who have not said who they are make way, the oldest first. */
  private makeRoom(): void {
    if (this.clients.size < MAX_CLIENTS) return;
    for (const client of this.clients) {
      if (client.trusted) continue;
      client.socket.destroy();
      this.clients.delete(client);
      return;
    }
  }

  /** What a client may say before it has answered the challenge; anything but success ends the connection. */
  private async greet(client: ClientState, line: string): Promise<CliReply> {
    const parsed = parseCommand(line);
    const words = parsed instanceof QuotingError ? [] : parsed;
    const [name] = words;
    if (name !== 'auth' || words.length !== 2) {
      // The answers of `help`, `ping` and `quit`, and those to what cannot be read, are the same for everyone.
      if (name === undefined || OPEN_COMMANDS.has(name)) return this.run(line);
      return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
    }
    if (this.secret.checkCliAnswer(client.challenge, words[1] as string)) {
      client.trusted = true;
      return { status: CLI.OK, body: this.banner };
    }
    await new Promise((resolve) => setTimeout(resolve, WRONG_ANSWER_MS));
    return { status: CLI.CLOSE, body: '' };
  }
}

function request(client: ClientState): string {
  return `${client.challenge}\n\nAuthentication required.\n`;
}

/** Resolves when the peer has taken what was written, as far as the socket wants that waited for, or is gone. */
function taken(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', () => resolve());
  });
}
