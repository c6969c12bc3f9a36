// A connection of HTTP/2 that takes the requests of scenarios as they are written, as text of HTTP/1, and plays each as a
// stream. What only HTTP/1 can say has no meaning here, and is refused: such a scenario is left out.

import type { Field } from '../harness/hpack-text.ts';
import type { ClientConnection, Response } from '../harness/http-client.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME, frame, requestFrame } from '../harness/http2-frames.ts';

/** All that scenarios do with a connection, whatever it speaks. */
export type PlayedConnection = Pick<
  ClientConnection,
  'localPort' | 'ended' | 'send' | 'response' | 'finish' | 'close' | 'rest' | 'closedByPeer'
>;

/** Begins the failure of a case that is played over HTTP/1 alone. */
export const ONLY_HTTP1 = 'of HTTP/1 alone: ';

function onlyHttp1(why: string): Error {
  return new Error(`${ONLY_HTTP1}${why}`);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Fields about a connection of HTTP/1 (RFC 9113 section 8.2.2), and those with a syntax that is to be broken. */
const OF_HTTP1 = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'http2-settings',
]);
const FRAME_SIZE = 16_384;
/** Sent without waiting for room in the window. */
const LARGEST_BODY = FRAME_SIZE * 3;

interface Told {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly fields: Field[];
  /** Of the body; -1 without one. */
  readonly length: number;
  readonly body: Buffer;
}

function reported(text: string): Told {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) throw onlyHttp1('a head in pieces');
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, method = '', path = ''] = /^(\S+) (\S+) HTTP\/1\.1$/.exec(line) ?? [];
  if (!TOKEN.test(method) || !/^[/*]/.test(path)) throw onlyHttp1('its first line');
  const fields: Field[] = [];
  let authority = '';
  let length = -1;
  for (const each of lines) {
    const colon = each.indexOf(':');
    const name = each.slice(0, colon).toLowerCase();
    const value = each.slice(colon + 1).replace(/^ | $/g, '');
    if (!TOKEN.test(name) || value !== value.trim() || /[\0-\x1f\x7f]/.test(value))
      throw onlyHttp1('a field that is none');
    if (OF_HTTP1.has(name)) throw onlyHttp1(name);
    if (name === 'host') {
      if (authority !== '' || !/^[\w.:[\]-]+$/.test(value)) throw onlyHttp1('its host');
      authority = value;
      continue;
    }
    if (name === 'content-length') {
      if (length >= 0 || !/^\d{1,12}$/.test(value)) throw onlyHttp1('its length');
      length = Number(value);
    }
    fields.push([name, value]);
  }
  if (authority === '') throw onlyHttp1('no host');
  const body = Buffer.from(text.slice(end + 4), 'latin1');
  if (body.length > Math.max(0, length)) throw onlyHttp1('several requests at once');
  return { method, path, authority, fields, length, body };
}

export class RequestsOverHttp2 implements PlayedConnection {
  readonly localPort: number;
  private readonly client: Http2Client;
  private readonly asked: number[] = [];
  private next = 1;
  /** Bytes of the last request's body that are still to come. */
  private awaited = 0;

  private constructor(client: Http2Client) {
    this.client = client;
    this.localPort = client.socket.localPort ?? 0;
  }

  static async open(port: number): Promise<RequestsOverHttp2> {
    return new RequestsOverHttp2(await Http2Client.connect(port));
  }

  get ended(): boolean {
    return this.client.ended;
  }

  send(bytes: string | Buffer): void {
    const text = bytes.toString('latin1');
    if (this.awaited > 0) {
      this.client.send(...this.bodyFrames(Buffer.from(text, 'latin1')));
      return;
    }
    const { method, path, authority, fields, length, body } = reported(text);
    // Before its head is sent: an upload that breaks off would reach the origin during the next case.
    if (body.length > LARGEST_BODY) throw onlyHttp1('an upload larger than a window');
    const stream = this.next;
    this.next += 2;
    this.asked.push(stream);
    this.awaited = Math.max(0, length);
    // In one write, as a request over HTTP/1 is: an answer that came before the body would have another log.
    this.client.send(
      requestFrame(stream, path, { method, authority, fields, ...(length > 0 && { body: '' }) }),
      ...this.bodyFrames(body),
    );
  }

  /** The next piece of the last request's body. */
  private bodyFrames(body: Buffer): Uint8Array[] {
    const stream = this.next - 2;
    if (body.length > this.awaited) throw onlyHttp1('more than its length');
    if (body.length > LARGEST_BODY) throw onlyHttp1('an upload larger than a window');
    const frames: Uint8Array[] = [];
    for (let at = 0; at < body.length; at += FRAME_SIZE) {
      const piece = body.subarray(at, at + FRAME_SIZE);
      this.awaited -= piece.length;
      frames.push(frame(FRAME.DATA, this.awaited === 0 ? FLAG.END_STREAM : 0, stream, piece));
    }
    return frames;
  }

  async response(): Promise<Response> {
    const stream = this.asked.shift();
    if (stream === undefined) throw onlyHttp1('an answer to no request');
    const { status, fields, body, complete, interim, reset } = await this.client.response(stream);
    return {
      proto: 'HTTP/2.0',
      status,
      reason: complete ? '' : `reset ${reset}`,
      fields: fields.map(([name, value]) => [name, value]),
      head: '',
      body,
      framing: 'none',
      complete,
      interim: interim.map((each) => `HTTP/2.0 ${each}`),
    };
  }

  finish(): void {
    throw onlyHttp1('half of a connection');
  }

  rest(): Promise<Buffer> {
    throw onlyHttp1('bytes without a frame');
  }

  closedByPeer(): Promise<boolean> {
    throw onlyHttp1('the end of its connection');
  }

  close(): void {
    this.client.close();
  }
}
