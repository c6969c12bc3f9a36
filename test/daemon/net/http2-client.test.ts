// The raw HTTP/2 client of the tests, with the runtime's server as its peer: what others conclude from its frames is only
// as good as its own reading.
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Field, fieldOf, HpackReader, hpackInteger, hpackLiterals } from '../../harness/hpack-text.ts';
import { atEverySplit, Http2Client } from '../../harness/http2-client.ts';
import {
  FLAG,
  FRAME,
  frame,
  PREFACE,
  requestFrame,
  settingsFrame,
  uint32,
  windowUpdate,
} from '../../harness/http2-frames.ts';

let server: Http2Server;
let port: number;
const sessions: ServerHttp2Session[] = [];
const LARGE = 300_000;

beforeAll(async () => {
  server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, head) => {
    stream.on('error', () => undefined);
    const path = String(head[':path']);
    const pieces: Buffer[] = [];
    stream.on('data', (d: Buffer) => pieces.push(d));
    stream.on('end', () => {
      if (path === '/reset') return stream.close(11);
      if (path === '/early') stream.additionalHeaders({ ':status': 103, link: '</a>' });
      if (path === '/large') {
        stream.respond({ ':status': 200 });
        return stream.end(Buffer.alloc(LARGE, 'x'));
      }
      stream.respond(
        { ':status': 201, 'x-seen': `${head[':method']} ${path}`, 'x-twice': 'ü' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
      return stream.end(Buffer.concat(pieces));
    });
  });
  port = await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
});
afterAll(() => {
  for (const session of sessions) session.destroy();
  server.close();
});

describe('the raw client', () => {
  it('reads responses by stream: fields, body, trailers, and what came before', async () => {
    const client = await Http2Client.connect(port);
    const [first, second, third] = await Promise.all([
      client.request('/a', { method: 'POST', body: 'hello', fields: [['x-own', '1']] }),
      client.get('/early'),
      client.get('/reset'),
    ]);
    expect(first).toMatchObject({ status: 201, interim: [], complete: true, reset: null });
    expect(first.body.toString()).toBe('hello');
    expect(fieldOf(first, 'x-seen')).toBe('POST /a');
    expect(first.trailers).toEqual([['x-sum', '1']]);
    expect(second.interim).toEqual([103]);
    expect(third).toMatchObject({ status: 0, reset: 11 });
    // The second time the fields come by the table.
    expect(fieldOf(await client.get('/b'), 'x-seen')).toBe('GET /b');
    client.close();
  });

  it('gives windows back, unless it is passive', async () => {
    const client = await Http2Client.connect(port);
    expect((await client.get('/large')).body.length).toBe(LARGE);
    client.close();
    const passive = await Http2Client.connect(port, { isPassive: true });
    const stream = passive.begin('/large');
    await passive.until(() => passive.soFar(stream).body.length === 65535, 'a window');
    passive.send(windowUpdate(0, LARGE), windowUpdate(stream, LARGE));
    expect((await passive.response(stream)).body.length).toBe(LARGE);
    passive.close();
  });

  it('shows how a connection has ended, and the frames received instead of an expected one', async () => {
    const client = await Http2Client.connect(port);
    client.send(frame(FRAME.PING, FLAG.ACK, 0, 'too long'), frame(FRAME.DATA, 0, 1, 'x'));
    await client.frame(FRAME.GOAWAY);
    expect(await client.end()).toBeGreaterThan(0);
    await expect(client.frame(FRAME.PUSH_PROMISE)).rejects.toThrow(/type 5 did not come; 4\/0@0.* end$/);
    client.close();
  });

  it('sends bytes cut at every place', async () => {
    const ping = frame(FRAME.PING, 0, 0, 'abcdefgh');
    const bytes = Buffer.concat([PREFACE, settingsFrame([[4, 100_000]]), requestFrame(1, '/x'), ping]);
    const verdicts = await atEverySplit(
      port,
      bytes,
      async (client) => {
        const pong = await client.frame(FRAME.PING);
        const { status, body } = await client.response(1);
        return `${pong.flags} ${pong.payload} ${status} ${body.length}`;
      },
      { every: 7 },
    );
    expect(verdicts.size).toBe(Math.ceil(bytes.length / 7));
    expect(new Set(verdicts.values())).toEqual(new Set(['1 abcdefgh 201 0']));
  });
});

describe('its reader of header blocks', () => {
  const read = (hex: string, reader = new HpackReader()): readonly Field[] =>
    reader.read(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

  it('reads the requests and responses of RFC 7541, appendix C, also by the table and packed', () => {
    const reader = new HpackReader();
    read('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', reader);
    read('8286 84be 5886 a8eb 1064 9cbf', reader);
    expect(read('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', reader)).toEqual([
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ]);
  });

  it('reads back what is written', () => {
    const fields: Field[] = [
      ['a', ''],
      ['x-long', 'ü'.repeat(300)],
    ];
    expect(new HpackReader().read(hpackLiterals(fields))).toEqual(fields);
    expect(hpackInteger(1337, 5)).toEqual(Buffer.from([31, 154, 10]));
    expect(uint32(258)).toEqual(Buffer.from([0, 0, 1, 2]));
  });

  it.each([
    ['80', 'no entry 0'],
    ['be', 'no entry 62'],
    ['0084 ffffffff', 'Huffman'],
    ['00', 'ends in the middle'],
    ['0005 61', 'beyond its block'],
    ['8220', 'table size'],
  ])('refuses %s', (hex, words) => {
    expect(() => read(hex)).toThrow(words);
  });
});
