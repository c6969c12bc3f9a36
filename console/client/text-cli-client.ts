// A client of the text CLI protocol of varnish-cli(7), with its challenge: for `-T` addresses of this project's or
// another VCL proxy. One command at a time; no subscriptions.

import { createHash } from 'node:crypto';
import { connect as netConnect, type Socket } from 'node:net';
import type { CommandReply } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { ConnectError, parseAddress } from './client.ts';
import { readSecret } from './client-secret.ts';

/** Status 107: the other side asks for an answer to its challenge. */
const AUTH = 107;
const MAX_BODY = 64 << 20;

export class TextCliClient {
  /** The greeting of the other side. */
  banner = '';
  private readonly socket: Socket;
  private buffer: Buffer = Buffer.alloc(0);
  private waiting: { resolve(reply: CommandReply): void; reject(error: Error): void } | null = null;
  private broken: ConnectError | null = null;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (data: Buffer) => {
      this.buffer = this.buffer.length === 0 ? data : Buffer.concat([this.buffer, data]);
      this.take();
    });
    socket.on('error', (cause) => this.lose(new ConnectError('unreachable', systemText(cause), cause)));
    socket.on('close', () => this.lose(new ConnectError('closed', 'connection closed')));
  }

  /** Connects and answers the challenge. Rejects with a ConnectError. */
  static async connect(
    address: string,
    secretFile: string | undefined,
    timeout: number,
  ): Promise<TextCliClient> {
    const client = new TextCliClient(netConnect(parseAddress(address)));
    const timer = setTimeout(() => {
      client.lose(new ConnectError('unreachable', `${address}: no answer in time`));
      client.close();
    }, timeout * 1000);
    try {
      let reply = await client.next();
      if (reply.status === AUTH) reply = await client.authenticate(reply.body.slice(0, 32), secretFile);
      if (reply.status !== 200)
        throw new ConnectError('auth', `${address}: Rejected ${reply.status} ${reply.body}`.trim());
      client.banner = reply.body;
      return client;
    } catch (cause) {
      client.close();
      throw cause;
    } finally {
      clearTimeout(timer);
    }
  }

  command(line: string): Promise<CommandReply> {
    const reply = this.next();
    this.socket.write(`${line}\n`);
    return reply;
  }

  close(): void {
    this.socket.destroy();
  }

  private authenticate(challenge: string, secretFile: string | undefined): Promise<CommandReply> {
    if (secretFile === undefined) throw new ConnectError('auth', 'authentication required: give -S FILE');
    let secret: Buffer;
    try {
      secret = readSecret(secretFile);
    } catch (cause) {
      throw new ConnectError('auth', (cause as Error).message, cause);
    }
    const hash = createHash('sha256').update(`${challenge}\n`).update(secret).update(`${challenge}\n`);
    return this.command(`auth ${hash.digest('hex')}`);
  }

  private next(): Promise<CommandReply> {
    return new Promise((resolve, reject) => {
      if (this.broken !== null) {
        reject(this.broken);
        return;
      }
      this.waiting = { resolve, reject };
      this.take();
    });
  }

  /** One answer is a line of 13 bytes (status, length), the body and a newline. */
  private take(): void {
    if (this.waiting === null || this.buffer.length < 13) return;
    const head = this.buffer.toString('latin1', 0, 13);
    const m = /^(\d{3}) (\d{1,8}) *\n$/.exec(head);
    const length = Number(m?.[2] ?? MAX_BODY + 1);
    if (m === null || length > MAX_BODY) {
      this.lose(new ConnectError('protocol', 'this is not the CLI of a VCL proxy'));
      this.close();
      return;
    }
    if (this.buffer.length < 13 + length + 1) return;
    const body = this.buffer.toString('utf8', 13, 13 + length);
    this.buffer = this.buffer.subarray(13 + length + 1);
    const { resolve } = this.waiting;
    this.waiting = null;
    resolve({ status: Number(m[1]), body });
  }

  private lose(error: ConnectError): void {
    this.broken ??= error;
    this.waiting?.reject(this.broken);
    this.waiting = null;
  }
}
