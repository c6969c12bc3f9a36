// A raw HTTP/1 client: it sends exactly the bytes it is given and reads responses by their own framing.
// It never repairs anything: an unexpected end is reported as `complete: false`, and surplus bytes stay
// in the buffer for the next response. The special case is HEAD, whose framing the caller must announce.
import { connect, type Socket } from 'node:net';
import { PATIENCE } from './processes.ts';

export interface Response {
  proto: string;
  status: number;
  reason: string;
  /** Field lines in order, as [name, value], spelled as received. */
  fields: [string, string][];
  /** The head as received, final blank line included. */
  head: string;
  body: Buffer;
  framing: 'none' | 'length' | 'chunked' | 'eof';
  /** False if the connection ended before the framing did. */
  complete: boolean;
  /** The 1xx responses that came before, as their heads. */
  interim: string[];
}

/** First value of a field, or undefined. */
export function field(response: Response, name: string): string | undefined {
  return response.fields.find(([n]) => n.toLowerCase() === name.toLowerCase())?.[1];
}

export class ClientConnection {
  readonly socket: Socket;
  /** Received and unread data: joined when read, not with every packet of a long body. */
  #pieces: Buffer[] = [];
  #length = 0;
  #ended = false;
  #error: Error | null = null;
  #wake: (() => void) | null = null;
  #finished = false;
  #patience: number;
  /** Port of this side of the connection. */
  localPort = 0;

  private constructor(socket: Socket, patience: number) {
    this.socket = socket;
    this.#patience = patience;
    this.localPort = socket.localPort ?? 0;
    socket.setNoDelay(true);
    socket.on('data', (d: Buffer) => {
      this.#pieces.push(d);
      this.#length += d.length;
      this.#notify();
    });
    socket.on('end', () => {
      // A reset that comes together with bytes is reported as an orderly end.
      const handle = (socket as unknown as { _handle?: { getpeername?(out: object): number } | null })
        ._handle;
      if (!this.#finished && typeof handle?.getpeername === 'function' && handle.getpeername({}) !== 0) {
        this.#error ??= new Error('connection reset');
      }
      this.#ended = true;
      this.#notify();
    });
    socket.on('error', (error) => {
      this.#error = error;
      this.#ended = true;
      this.#notify();
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#notify();
    });
  }

  /** Connects to a port of 127.0.0.1 (or a Unix socket path). `patience`: milliseconds any read may take. */
  static open(to: number | string, patience = PATIENCE): Promise<ClientConnection> {
    return new Promise((resolve, reject) => {
      const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new ClientConnection(socket, patience));
      });
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** Waits for news from the socket; throws when none comes. */
  #news(what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#wake = null;
        const sample = this.#joined().subarray(0, 200).toString('latin1');
        reject(new Error(`no ${what} within ${this.#patience} ms; so far ${JSON.stringify(sample)}`));
      }, this.#patience);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Half-closes: no more bytes from this side. */
  finish(): void {
    this.#finished = true;
    this.socket.end();
  }

  /** Stops reading, so that the peer's writes back up. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  get ended(): boolean {
    return this.#ended;
  }

  get error(): Error | null {
    return this.#error;
  }

  /** Everything up to and including `mark`, or all that came when the peer ended first. */
  async #through(mark: string): Promise<Buffer> {
    let from = 0;
    for (;;) {
      const at = this.#joined().indexOf(mark, from, 'latin1');
      if (at >= 0) return this.#take(at + mark.length);
      if (this.#ended) return this.#take(this.#length);
      from = Math.max(0, this.#length - mark.length);
      await this.#news(JSON.stringify(mark));
    }
  }

  async #exactly(n: number): Promise<Buffer> {
    while (this.#length < n && !this.#ended) await this.#news(`${n} bytes`);
    return this.#take(Math.min(n, this.#length));
  }

  #joined(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] as Buffer;
  }

  #take(n: number): Buffer {
    const all = this.#joined();
    this.#pieces = n === all.length ? [] : [all.subarray(n)];
    this.#length -= n;
    return all.subarray(0, n);
  }

  /** All bytes until the peer ends the connection. */
  async rest(): Promise<Buffer> {
    while (!this.#ended) await this.#news('end of the connection');
    return this.#take(this.#length);
  }

  /** True once the peer has closed and nothing is left to read; throws when it does not close. */
  async closedByPeer(): Promise<boolean> {
    const left = await this.rest();
    return left.length === 0;
  }

  /** Bytes that have arrived and were not read. */
  get pending(): number {
    return this.#length;
  }

  /** The next final response. `method` decides the framing: a response to HEAD has no body. */
  async response(method = 'GET'): Promise<Response> {
    const interim: string[] = [];
    for (;;) {
      const head = (await this.#through('\r\n\r\n')).toString('latin1');
      const parsed = parseHead(head);
      if (parsed === null) {
        throw new Error(
          `no response head but ${JSON.stringify(head.slice(0, 300))}${this.#error === null ? '' : ` (${this.#error.message})`}`,
        );
      }
      if (parsed.status >= 100 && parsed.status < 200 && parsed.status !== 101) {
        interim.push(head);
        continue;
      }
      const body = await this.#body(parsed, method);
      return { ...parsed, head, ...body, interim };
    }
  }

  async #body(
    head: ParsedHead,
    method: string,
  ): Promise<{ body: Buffer; framing: Response['framing']; complete: boolean }> {
    const get = (name: string) => head.fields.find(([n]) => n.toLowerCase() === name)?.[1];
    if (method === 'HEAD' || head.status === 204 || head.status === 304 || head.status < 200) {
      return { body: Buffer.alloc(0), framing: 'none', complete: true };
    }
    if (get('transfer-encoding')?.toLowerCase() === 'chunked') {
      const parts: Buffer[] = [];
      for (;;) {
        const line = (await this.#through('\r\n')).toString('latin1');
        const size = /^([0-9a-fA-F]+)(?:;[^\r]*)?\r\n$/.exec(line)?.[1];
        if (size === undefined) return { body: Buffer.concat(parts), framing: 'chunked', complete: false };
        const n = Number.parseInt(size, 16);
        if (n === 0) {
          const tail = await this.#trailer();
          return { body: Buffer.concat(parts), framing: 'chunked', complete: tail };
        }
        const data = await this.#exactly(n + 2);
        parts.push(data.subarray(0, Math.min(n, data.length)));
        if (data.length !== n + 2 || data.toString('latin1', n) !== '\r\n') {
          return { body: Buffer.concat(parts), framing: 'chunked', complete: false };
        }
      }
    }
    const length = get('content-length');
    if (length !== undefined) {
      const n = Number(length);
      const body = await this.#exactly(n);
      return { body, framing: 'length', complete: body.length === n };
    }
    return { body: await this.rest(), framing: 'eof', complete: this.#error === null };
  }

  async #trailer(): Promise<boolean> {
    for (;;) {
      const line = (await this.#through('\r\n')).toString('latin1');
      if (line === '\r\n') return true;
      if (!line.endsWith('\r\n')) return false;
    }
  }
}

interface ParsedHead {
  proto: string;
  status: number;
  reason: string;
  fields: [string, string][];
}

function parseHead(head: string): ParsedHead | null {
  if (!head.endsWith('\r\n\r\n')) return null;
  const lines = head.slice(0, -4).split('\r\n');
  const start = /^(\S+) (\d{3})(?: (.*))?$/.exec(lines[0] ?? '');
  if (start === null) return null;
  const fields: [string, string][] = [];
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) return null;
    fields.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
  return { proto: start[1] ?? '', status: Number(start[2]), reason: start[3] ?? '', fields };
}

/** One request on a connection of its own; the connection is closed afterwards. */
export async function fetchOnce(
  port: number,
  path: string,
  options: {
    method?: string;
    host?: string;
    fields?: Record<string, string>;
    body?: string;
    patience?: number;
  } = {},
): Promise<Response> {
  const connection = await ClientConnection.open(port, options.patience);
  try {
    connection.send(requestText(path, options));
    return await connection.response(options.method ?? 'GET');
  } finally {
    connection.close();
  }
}

/** The text of a request with a Host field, the given fields and, with a body, its Content-Length. */
export function requestText(
  path: string,
  options: { method?: string; host?: string; fields?: Record<string, string>; body?: string } = {},
): string {
  let text = `${options.method ?? 'GET'} ${path} HTTP/1.1\r\nHost: ${options.host ?? 'example.test'}\r\n`;
  for (const [name, value] of Object.entries(options.fields ?? {})) text += `${name}: ${value}\r\n`;
  if (options.body !== undefined) text += `Content-Length: ${Buffer.byteLength(options.body, 'latin1')}\r\n`;
  return `${text}\r\n${options.body ?? ''}`;
}
