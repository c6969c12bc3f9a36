// The text CLI protocol of varnish-cli(7) with its challenge, on -T (listening) and -M (connecting out).
//
// A connection is 107 and a challenge, `auth` with the answer, then one command at a time. Never buffers more
// than one oversized command; wrong answers close the connection after a pause.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { CommandLines, parseCommand, QuotingError } from '../../protocol/cli-quoting.ts';
import { LIMITS } from '../../protocol/codec.ts';
import { CLI } from '../../protocol/errors.ts';
import { newCliChallenge, type Secret } from './secret.ts';
import type { CliReply } from './supervisor.ts';

const RECONNECT_MS = 2000;
const WRONG_ANSWER_MS = 500;
const MAX_CLIENTS = 64;

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
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private closed = false;

  constructor(run: (line: string) => Promise<CliReply>, secret: Secret, banner: string) {
    this.run = run;
    this.secret = secret;
    this.banner = banner;
  }

  /** Resolves with the port. */
  async listen(host: string, port: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      if (this.sockets.size >= MAX_CLIENTS) socket.destroy();
      else this.serve(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.servers.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Connects to a CLI client that waits, again and again. */
  connectOut(host: string, port: number): void {
    if (this.closed) return;
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once('connect', () => this.serve(socket));
    socket.on('error', () => {});
    socket.once('close', () => {
      if (this.closed) return;
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        this.connectOut(host, port);
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

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    socket.setEncoding('utf8');
    const challenge = newCliChallenge();
    const lines = new CommandLines(LIMITS.line);
    let trusted = false;
    let queue: Promise<void> = Promise.resolve();
    const answer = (reply: CliReply): void => {
      if (socket.writable) socket.write(encodeReply(reply));
      if (reply.status === CLI.CLOSE) socket.end();
    };
    answer({ status: CLI.AUTH, body: `${challenge}\n\nAuthentication required.\n` });
    socket.on('data', (text: string) => {
      // Nothing more is read until this is done and its answers are taken: a client that only sends costs no memory,
      // and one that ends its side behind its last command still gets all the answers.
      socket.pause();
      for (const line of lines.push(text)) {
        queue = queue.then(async () => {
          if (!socket.writable) return;
          if (trusted) {
            answer(await this.run(line));
            return;
          }
          const reply = await this.authenticate(line, challenge);
          if (reply.status === CLI.OK) trusted = true;
          answer(reply);
        });
      }
      queue = queue.then(() => taken(socket)).then(() => void socket.resume());
    });
    // Told even to a paused reader.
    socket.on('end', () => void queue.then(() => socket.end()));
  }

  private async authenticate(line: string, challenge: string): Promise<CliReply> {
    const words = parseCommand(line);
    if (words instanceof QuotingError || words.length === 0) {
      return { status: CLI.AUTH, body: `${challenge}\n\nAuthentication required.\n` };
    }
    if (words[0] === 'quit') return { status: CLI.CLOSE, body: 'Closing CLI connection' };
    if (words[0] === 'auth' && words.length === 2) {
      if (this.secret.checkCliAnswer(challenge, words[1] as string))
        return { status: CLI.OK, body: this.banner };
      await new Promise((resolve) => setTimeout(resolve, WRONG_ANSWER_MS));
      return { status: CLI.CLOSE, body: 'Authentication failed.' };
    }
    return { status: CLI.AUTH, body: `${challenge}\n\nAuthentication required.\n` };
  }
}

/** Resolves when the peer has taken what was written, as far as the socket wants that waited for, or is gone. */
function taken(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', () => resolve());
  });
}
