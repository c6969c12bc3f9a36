// HPACK beside that of the runtime (nghttp2): its client's heads are read, and it reads ours, over one connection whose
// tables change their sizes.
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { HpackDecoder } from '../../../daemon/http2/hpack-decoder.ts';
import { HpackEncoder, nameOf } from '../../../daemon/http2/hpack-encoder.ts';
import { ResponseFields } from '../../../daemon/http2/response-field.ts';

const PREFACE = 24;
const FRAME_HEAD = 9;
const HEADERS = 1;
const SETTINGS = 4;
const ACK = 1;
const END_STREAM_AND_HEADERS = 5;
const TABLE_SIZE = 1;
const AGE = nameOf('age');

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function tableSize(size: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(TABLE_SIZE, 0);
  payload.writeUInt32BE(size, 2);
  return frame(SETTINGS, 0, 0, payload);
}

type Answer = readonly (readonly [name: string, value: string])[];

/** The server's end of one connection: reads heads, and sends the answer that is next. */
class Peer {
  readonly heads: string[][] = [];
  readonly faults: string[] = [];
  readonly answers: Answer[] = [];
  private readonly decoder = new HpackDecoder(4096);
  private readonly encoder = new HpackEncoder();
  private readonly fields = new ResponseFields();
  /** Sizes that the client has not acknowledged yet. */
  private readonly announced: number[] = [];
  private readonly socket: Socket;
  private bytes = Buffer.alloc(0);
  private hasPreface = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => this.read(bytes));
    socket.on('error', () => {});
    this.announce(4096);
  }

  announce(size: number): void {
    this.announced.push(size);
    this.socket.write(tableSize(size));
  }

  private read(bytes: Buffer): void {
    this.bytes = Buffer.concat([this.bytes, bytes]);
    if (!this.hasPreface) {
      if (this.bytes.length < PREFACE) return;
      this.hasPreface = true;
      this.bytes = this.bytes.subarray(PREFACE);
    }
    while (this.bytes.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + this.bytes.readUIntBE(0, 3);
      if (this.bytes.length < end) return;
      this.frame(this.bytes[3] ?? 0, this.bytes[4] ?? 0, this.bytes.readUInt32BE(5), end);
      this.bytes = this.bytes.subarray(end);
    }
  }

  private frame(type: number, flags: number, stream: number, end: number): void {
    if (type === SETTINGS && (flags & ACK) !== 0) {
      this.decoder.limit(this.announced.shift() ?? 4096);
    } else if (type === SETTINGS) {
      for (let at = FRAME_HEAD; at < end; at += 6) {
        if (this.bytes.readUInt16BE(at) === TABLE_SIZE) this.encoder.limit(this.bytes.readUInt32BE(at + 2));
      }
      this.socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    } else if (type === HEADERS) {
      // This client pads nothing; a priority takes five octets.
      const start = FRAME_HEAD + ((flags & 0x20) === 0 ? 0 : 5);
      const head: string[] = [];
      const wrong = this.decoder.decode(this.bytes, start, end, 65_536, (field) => {
        expect(field.fault).toBe(0);
        head.push(`${field.name}: ${field.value}`);
      });
      if (wrong !== null) this.faults.push(wrong);
      this.heads.push(head);
      this.answer(stream);
    }
  }

  private answer(stream: number): void {
    const out = Buffer.alloc(16_384);
    let at = this.encoder.status(out, this.encoder.begin(out, 0), 200 + this.heads.length);
    for (const [name, value] of this.answers[this.heads.length - 1] ?? []) {
      at = this.encoder.field(out, at, this.fields.of(name.toLowerCase(), `${name}: ${value}`));
    }
    at = this.encoder.value(out, at, AGE, String(this.heads.length));
    this.socket.write(frame(HEADERS, END_STREAM_AND_HEADERS, stream, out.subarray(0, at)));
  }
}

let server: Server | undefined;
let session: ClientHttp2Session | undefined;
afterEach(() => {
  session?.destroy();
  server?.close();
});

async function pair(headerTableSize?: number): Promise<{ client: ClientHttp2Session; peer: Peer }> {
  const peers: Peer[] = [];
  server = createServer((socket) => peers.push(new Peer(socket))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = headerTableSize === undefined ? {} : { headerTableSize };
  session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  await once(session, 'remoteSettings');
  return { client: session, peer: peers[0] as Peer };
}

const NAMES = [
  'accept',
  'user-agent',
  'cookie',
  'x-request-id',
  'sec-ch-ua',
  'priority',
  'x-empty',
  'referer',
];
const VALUES = [
  '',
  'a',
  '*/*',
  '"Chromium";v="128", "Not A"',
  'x'.repeat(300),
  '\xe4\xf6\xfc~|{}^`',
  '0123456789',
];

function fieldsOf(i: number, names: readonly string[]): (readonly [string, string])[] {
  const some = names.filter((_, k) => ((i * 7 + k * 5) % 8) % 3 !== 0);
  return some.map((name, k) => [
    name,
    k % 3 === 0 ? `${name} ${i}` : (VALUES[(i + k * k) % VALUES.length] ?? ''),
  ]);
}

it.each([undefined, 0, 100, 65_536])(
  'heads are read and written as the runtime does, with a table of %s',
  async (size) => {
    const { client, peer } = await pair(size);
    for (let i = 0; i < 60; i++) {
      if (i % 20 === 15) peer.announce([100, 4096, 0][Math.floor(i / 20)] ?? 0);
      const fields = fieldsOf(i, NAMES);
      const answer = fieldsOf(i, [
        'Server',
        'Vary',
        'X-Cache',
        'Cache-Control',
        'ETag',
        'Content-Type',
        'Via',
        'Link',
      ]);
      peer.answers.push(answer);
      const path = `/${'p/'.repeat(i)}?q=${i}`;
      const request = client.request({ ':path': path, ...Object.fromEntries(fields) });
      const [headers] = (await once(request.resume(), 'response')) as [IncomingHttpHeaders];
      const head = peer.heads[i] ?? [];
      expect(peer.faults).toEqual([]);
      expect(head.filter((line) => line.startsWith(':path'))).toEqual([`:path: ${path}`]);
      expect(head.filter((line) => !line.startsWith(':')).toSorted()).toEqual(
        fields.map(([name, value]) => `${name}: ${value}`).toSorted(),
      );
      const { ':status': status, age, ...rest } = Object.fromEntries(Object.entries(headers));
      expect([status, age]).toEqual([200 + i + 1, String(i + 1)]);
      expect(rest).toEqual(Object.fromEntries(answer.map(([name, value]) => [name.toLowerCase(), value])));
    }
  },
);
