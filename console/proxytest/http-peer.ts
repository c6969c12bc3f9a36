// One connection of a scripted client or server: its state, and the reading of heads, bodies and chunks. The commands are in
// http-commands.ts.

import type { Socket } from 'node:net';
import { Actor, type Commands, type Stage } from './actor.ts';
import { countOf, fieldOf, type Head, headLength, splitHead } from './http-head.ts';
import { readInteger } from './script.ts';
import type { TlsSettings } from './scripted-tls.ts';
import { Wire } from './wire.ts';

const READ = 65_536;

export interface Remote {
  readonly ip: string;
  readonly port: string;
  /** Null unless it is a Unix socket. */
  readonly path: string | null;
}

/** A protocol over the connection that has waits of its own. */
export interface Layer {
  /** Waits for its streams to end; afterwards the script reads and writes plain bytes again. */
  finish(): Promise<void>;
  abort(): void;
}

export interface PeerSetting {
  readonly isServer: boolean;
  /** Of a Unix socket; null for none. */
  readonly path: string | null;
  readonly commands: Commands<HttpPeer>;
  /** The next connection of a server. */
  accept(): Promise<Socket>;
}

export class HttpPeer extends Actor {
  readonly setting: PeerSetting;
  readonly remote: Remote;
  wire: Wire;
  /** Seconds a receive may wait. */
  timeout: number;
  /** Whether a failure of the connection ends the test. */
  isFatal = true;
  req: Head | null = null;
  resp: Head | null = null;
  body: Buffer = Buffer.alloc(0);
  hasBody = false;
  bodyLength = '';
  chunkLength = '';
  /** The last request sent was a HEAD. */
  wasHead = false;
  gzipLevel = 0;
  http2: Layer | null = null;
  tls: TlsSettings | null = null;

  constructor(stage: Stage, who: string, parent: AbortSignal, socket: Socket, setting: PeerSetting) {
    super(stage, who, parent);
    this.setting = setting;
    this.wire = new Wire(this, socket);
    this.timeout = stage.seconds / 2;
    const { path } = setting;
    this.remote =
      path === null
        ? { ip: socket.remoteAddress ?? '', port: String(socket.remotePort ?? ''), path: null }
        : { ip: '0.0.0.0', port: '0', path };
  }

  get isServer(): boolean {
    return this.setting.isServer;
  }

  /** Replaces this connection by the server's next one. */
  async acceptNext(): Promise<void> {
    this.wire = new Wire(this, await this.setting.accept());
  }

  /** A failure that the script may have declared harmless. */
  soft(message: string): void {
    if (this.isFatal) this.fail(message);
    this.log(4, `(non_fatal) ${message}`);
  }

  only(isServer: boolean, name: string): void {
    if (isServer !== this.isServer)
      this.fail(`"${name}" is only possible in a ${isServer ? 'server' : 'client'}`);
  }

  async send(data: string | Uint8Array, what: string): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
    this.dump(what, bytes);
    await this.sendQuietly(bytes);
  }

  async sendQuietly(bytes: Uint8Array): Promise<void> {
    const problem = await this.wire.write(bytes);
    if (problem !== null) this.soft(`Write failed: ${problem}`);
  }

  /** Some bytes; null at the end or after an error, which then was a soft failure. */
  async some(most = READ): Promise<Buffer | null> {
    for (;;) {
      const data = await this.wire.read(most, this.timeout);
      if (typeof data !== 'string') return data;
      if (data === 'end') return null;
      if (data === 'error') {
        this.soft(`HTTP rx failed (${this.wire.error?.message ?? 'error'})`);
        return null;
      }
      this.soft(`HTTP rx timeout (${this.timeout.toFixed(3)} s)`);
    }
  }

  /** Exactly this many bytes; null if the connection ends before. */
  async exactly(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let left = length;
    while (left > 0) {
      const data = await this.some(Math.min(left, READ));
      if (data === null) {
        this.soft(`HTTP rx EOF, ${left} bytes short`);
        this.wire.unread(Buffer.concat(parts));
        return null;
      }
      parts.push(data);
      left -= data.length;
    }
    return Buffer.concat(parts);
  }

  async receiveHead(): Promise<Head | null> {
    this.body = Buffer.alloc(0);
    this.hasBody = false;
    this.bodyLength = '<undef>';
    let data: Buffer = Buffer.alloc(0);
    let end = -1;
    while (end < 0) {
      const more = await this.some();
      if (more === null) break;
      data = Buffer.concat([data, more]);
      end = headLength(data);
    }
    const head = end < 0 ? data : data.subarray(0, end);
    if (end >= 0) this.wire.unread(data.subarray(end));
    this.dump('rxhdr', head);
    if (end < 0) this.soft('HTTP header is incomplete');
    this.hasBody = true;
    if (head.length === 0) return null;
    const split = splitHead(head.toString('latin1'));
    if (split === null) this.fail('malformed first line');
    if (countOf(split, 'content-length') > 1) this.fail('Multiple Content-Length headers');
    return split;
  }

  /** Length of the chunk, which is added to the body; -1 for none. */
  async receiveChunk(): Promise<number> {
    let line = '';
    while (!line.endsWith('\n')) {
      const data = await this.some(1);
      if (data === null) {
        this.soft('HTTP rx EOF in chunk header');
        return -1;
      }
      line += data.toString('latin1');
    }
    const digits = /^\s*(?:0[xX])?([0-9a-fA-F]+)(?=\s|$)/.exec(line);
    if (digits === null) {
      this.soft(`Chunklen fail (${JSON.stringify(line)})`);
      return -1;
    }
    const length = Number.parseInt(digits[1] as string, 16);
    this.chunkLength = String(length);
    const data = await this.exactly(length);
    if (data === null) return -1;
    this.dump('chunk', data);
    this.body = Buffer.concat([this.body, data]);
    const end = await this.exactly(2);
    if (end === null) return -1;
    if (end.toString('latin1') !== '\r\n') {
      this.soft('Chunklen without CRLF');
      return -1;
    }
    return length;
  }

  /**
   * @param untilEnd a body without a length goes to the end of the connection
   * @param most bytes of this call; 0 for all
   */
  async receiveBody(head: Head | null, untilEnd: boolean, most: number): Promise<void> {
    const had = this.body.length;
    const coding = fieldOf(head, 'transfer-encoding');
    const length = fieldOf(head, 'content-length');
    let how: string;
    if (coding?.toLowerCase() === 'chunked') {
      if (length !== null) {
        this.soft('Both Transfer-Encoding: chunked and Content-Length');
        return;
      }
      how = 'chunked';
      while ((await this.receiveChunk()) > 0) if (most > 0 && this.body.length - had >= most) break;
    } else if (length !== null) {
      how = 'c-l';
      const all = readInteger(length, 10) - had;
      const data = await this.exactly(most > 0 && all > most ? most : Math.max(0, all));
      if (data === null) return;
      this.body = Buffer.concat([this.body, data]);
    } else if (untilEnd) {
      how = 'eof';
      await this.#untilEnd(most);
    } else {
      this.bodyLength = '0';
      return;
    }
    this.dump(how, this.body.subarray(had));
    this.bodyLength = String(this.body.length);
  }

  async #untilEnd(most: number): Promise<void> {
    const parts = [this.body];
    let got = 0;
    while (most === 0 || got < most) {
      const data = await this.some(most === 0 ? READ : Math.min(READ, most - got));
      if (data === null) break;
      parts.push(data);
      got += data.length;
    }
    this.body = Buffer.concat(parts);
  }

  /** The value of a variable of `expect`, null if it is unset; any other word as it is. */
  resolve(word: string): string | null {
    switch (word) {
      case 'remote.ip':
        return this.remote.ip;
      case 'remote.port':
        return this.remote.port;
      case 'remote.path':
        return this.remote.path;
      case 'resp.chunklen':
        return this.chunkLength;
      case 'h2.state':
        return String(this.http2 !== null);
    }
    const [, side, name] = /^(req|resp)\.(.+)$/s.exec(word) ?? [];
    if (side === undefined || name === undefined) return this.tlsVariable(word) ?? word;
    const head = side === 'req' ? this.req : this.resp;
    const place = (side === 'req' ? REQUEST_LINE : STATUS_LINE).indexOf(name);
    if (place >= 0) return head?.first[place] ?? null;
    if (name === 'bodylen') return this.bodyLength;
    if (name === 'body') return this.hasBody ? this.body.toString('latin1') : word;
    return name.startsWith('http.') ? fieldOf(head, name.slice(5)) : word;
  }

  /** Null if the word names none. */
  private tlsVariable(word: string): string | null {
    return word.startsWith('tls.') && this.tls !== null
      ? this.tls.variable(word.slice(4), this.wire.socket)
      : null;
  }
}

const REQUEST_LINE = ['method', 'url', 'proto'];
const STATUS_LINE = ['proto', 'status', 'reason'];
