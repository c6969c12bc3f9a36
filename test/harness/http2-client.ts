// A raw HTTP/2 client: it sends exactly the frames it is given, reads what comes into frames, and keeps the responses by
// stream. Beside that it acknowledges SETTINGS, answers PING and gives windows back, unless it is passive.
// Special case: a peer that sends bytes that are not a frame; they stay in `rest`.

import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type Field, HpackReader } from './hpack-text.ts';
import {
  FLAG,
  FRAME,
  type Frame,
  frame,
  HEADER_LENGTH,
  type Http2Request,
  PREFACE,
  requestFrame,
  settingsFrame,
  windowUpdate,
} from './http2-frames.ts';
import { PATIENCE } from './processes.ts';

export interface Http2Response {
  readonly status: number;
  /** As received, pseudo-headers left out. */
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly trailers: readonly Field[];
  /** Statuses of the 1xx responses before it. */
  readonly interim: readonly number[];
  /** END_STREAM has come. */
  readonly complete: boolean;
  /** Code of RST_STREAM; null without one. */
  readonly reset: number | null;
}

export interface Http2Options {
  /** Settings to send first, by id; null sends neither the preface nor SETTINGS. */
  readonly settings?: readonly (readonly [id: number, value: number])[] | null;
  /** Sends nothing by itself but the preface. */
  readonly isPassive?: boolean;
  /** A TLS connection, with ALPN h2 by default. */
  readonly tls?: ConnectionOptions;
}

class Stream {
  fields: Field[] = [];
  readonly interim: number[] = [];
  readonly body: Buffer[] = [];
  trailers: Field[] = [];
  complete = false;
  reset: number | null = null;

  response(): Http2Response {
    const { interim, trailers, complete, reset } = this;
    return {
      status: statusOf(this.fields),
      fields: this.fields.filter(([name]) => !name.startsWith(':')),
      ...{ body: Buffer.concat(this.body), trailers, interim, complete, reset },
    };
  }
}

function statusOf(fields: readonly Field[]): number {
  return Number(fields.find(([name]) => name === ':status')?.[1] ?? 0);
}

export class Http2Client {
  readonly socket: Socket;
  /** Every frame so far. */
  readonly frames: Frame[] = [];
  /** Whether the peer has ended the connection. */
  ended = false;
  /** Bytes of an incomplete frame. */
  rest: Buffer = Buffer.alloc(0);
  private readonly isPassive: boolean;
  private readonly reader = new HpackReader();
  private readonly streams = new Map<number, Stream>();
  private block: { stream: number; flags: number; pieces: Buffer[] } | null = null;
  private nextStream = 1;
  private pings = 0;
  private wake: (() => void)[] = [];
  /** The error of a header block that cannot be read. */
  private fault: unknown = null;

  private constructor(socket: Socket, isPassive: boolean) {
    this.socket = socket;
    this.isPassive = isPassive;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      try {
        this.receive(bytes);
      } catch (error) {
        this.fault ??= error;
      }
      this.awaken();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.ended = true;
        this.awaken();
      });
    }
  }

  static async connect(port: number, options: Http2Options = {}): Promise<Http2Client> {
    const { settings = [], isPassive = false, tls } = options;
    const host = '127.0.0.1';
    const secured = { port, host, ALPNProtocols: ['h2'], rejectUnauthorized: false, servername: 'a.example' };
    const socket = tls === undefined ? connect(port, host) : connectTls({ ...secured, ...tls });
    const client = new Http2Client(socket, isPassive);
    await new Promise<void>((resolve, reject) => {
      socket.once(tls === undefined ? 'connect' : 'secureConnect', () => resolve());
      socket.once('error', reject);
    });
    if (settings !== null) client.send(PREFACE, settingsFrame(settings));
    return client;
  }

  /** In one write. */
  send(...bytes: readonly Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(bytes));
  }

  /** Each piece in a packet of its own, as far as the kernel goes along. */
  async sendPieces(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.send(piece);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Sends a request on the next stream; returns the stream. */
  begin(path: string, request: Http2Request = {}): number {
    const stream = this.nextStream;
    this.nextStream += 2;
    const head = requestFrame(stream, path, request);
    const { body } = request;
    if (body === undefined) this.send(head);
    else this.send(head, frame(FRAME.DATA, FLAG.END_STREAM, stream, body));
    return stream;
  }

  request(path: string, request: Http2Request = {}): Promise<Http2Response> {
    return this.response(this.begin(path, request));
  }

  get(path: string, fields: readonly Field[] = []): Promise<Http2Response> {
    return this.request(path, { fields });
  }

  /** The response once it has ended, by END_STREAM, RST_STREAM or the end of the connection. */
  async response(stream: number): Promise<Http2Response> {
    const found = this.stream(stream);
    await this.until(
      () => found.complete || found.reset !== null || this.ended,
      `the end of stream ${stream}`,
    );
    return found.response();
  }

  /** Resolves when the peer has worked on everything sent before. */
  async ping(): Promise<void> {
    const mark = uint64(++this.pings);
    this.send(frame(FRAME.PING, 0, 0, mark));
    await this.until(
      () =>
        this.frames.some(
          ({ type, flags, payload }) => type === FRAME.PING && flags === FLAG.ACK && payload.equals(mark),
        ),
      'the echo of PING',
    );
  }

  /** As much of a response as has come. */
  soFar(stream: number): Http2Response {
    return this.stream(stream).response();
  }

  /** The first frame of a type (and a stream), received before or not. */
  async frame(type: number, stream?: number): Promise<Frame> {
    const find = (): Frame | undefined =>
      this.frames.find((each) => each.type === type && (stream === undefined || each.stream === stream));
    await this.until(() => find() !== undefined, `a frame of type ${type}`);
    return find() as Frame;
  }

  /** Waits for the peer's end of the connection; resolves with the code of its GOAWAY, or null without one. */
  async end(): Promise<number | null> {
    await this.until(() => this.ended, 'the end');
    return this.frames.findLast(({ type }) => type === FRAME.GOAWAY)?.payload.readUInt32BE(4) ?? null;
  }

  close(): void {
    this.socket.destroy();
  }

  /** Resolves once `holds`, which is asked after everything that comes. */
  async until(holds: () => boolean, name: string): Promise<void> {
    const late = Date.now() + PATIENCE;
    while (!holds()) {
      if (this.fault !== null) throw this.fault;
      const left = late - Date.now();
      if (left <= 0 || (this.ended && !holds())) throw new Error(`${name} did not come; ${this.reported()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** The frames so far in short, for messages. */
  reported(): string {
    const frames = this.frames.map(
      ({ type, flags, stream, payload }) => `${type}/${flags}@${stream}[${payload.length}]`,
    );
    return `${frames.join(' ')}${this.ended ? ' end' : ''}`;
  }

  private stream(id: number): Stream {
    const known = this.streams.get(id) ?? new Stream();
    this.streams.set(id, known);
    return known;
  }

  private awaken(): void {
    for (const wake of this.wake.splice(0)) wake();
  }

  private receive(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= HEADER_LENGTH) {
      const end = HEADER_LENGTH + this.rest.readUIntBE(0, 3);
      if (this.rest.length < end) break;
      const [, , , type = 0, flags = 0] = this.rest;
      const stream = this.rest.readUInt32BE(5);
      const received = { type, flags, stream, payload: this.rest.subarray(HEADER_LENGTH, end) };
      this.rest = this.rest.subarray(end);
      this.frames.push(received);
      this.take(received);
    }
  }

  private take({ type, flags, stream, payload }: Frame): void {
    if (type === FRAME.DATA) {
      const found = this.stream(stream);
      found.body.push(unpadded(flags, payload));
      if ((flags & FLAG.END_STREAM) !== 0) found.complete = true;
      if (payload.length > 0)
        this.reply(windowUpdate(0, payload.length), windowUpdate(stream, payload.length));
    } else if (type === FRAME.HEADERS) {
      const own = unpadded(flags, payload).subarray((flags & FLAG.PRIORITY) === 0 ? 0 : 5);
      this.block = { stream, flags, pieces: [own] };
      if ((flags & FLAG.END_HEADERS) !== 0) this.takeBlock();
    } else if (type === FRAME.CONTINUATION) {
      this.block?.pieces.push(payload);
      if ((flags & FLAG.END_HEADERS) !== 0) this.takeBlock();
    } else if (type === FRAME.RST_STREAM) this.stream(stream).reset = payload.readUInt32BE(0);
    else if ((flags & FLAG.ACK) !== 0) return;
    else if (type === FRAME.SETTINGS) this.reply(frame(FRAME.SETTINGS, FLAG.ACK, 0));
    else if (type === FRAME.PING) this.reply(frame(FRAME.PING, FLAG.ACK, 0, payload));
  }

  private reply(...frames: readonly Buffer[]): void {
    if (!this.isPassive) this.send(...frames);
  }

  private takeBlock(): void {
    if (this.block === null) return;
    const { stream, flags, pieces } = this.block;
    this.block = null;
    const found = this.stream(stream);
    const fields = this.reader.read(Buffer.concat(pieces));
    const status = statusOf(fields);
    if (status >= 100 && status < 200) found.interim.push(status);
    else if (status === 0) found.trailers = fields;
    else found.fields = fields;
    if ((flags & FLAG.END_STREAM) !== 0) found.complete = true;
  }
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function unpadded(flags: number, payload: Buffer): Buffer {
  if ((flags & FLAG.PADDED) === 0) return payload;
  return payload.subarray(1, payload.length - (payload[0] ?? 0));
}

/**
 * Sends bytes on connections of their own, whole and cut in two at each place, and resolves with what `judge` has made
 * of each: the same text for all, or the peer depends on how bytes arrive.
 * @param bytes all that is sent, from the preface on
 * @param every distance between the places
 */
export async function atEverySplit(
  port: number,
  bytes: Buffer,
  judge: (client: Http2Client) => Promise<string>,
  options: { readonly tls?: ConnectionOptions; readonly every?: number } = {},
): Promise<Map<number, string>> {
  const { tls, every = 1 } = options;
  const verdicts = new Map<number, string>();
  for (let at = 0; at < bytes.length; at += every) {
    const client = await Http2Client.connect(port, { settings: null, isPassive: true, ...(tls && { tls }) });
    await client.sendPieces(at === 0 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)]);
    verdicts.set(at, await judge(client));
    client.close();
  }
  return verdicts;
}
