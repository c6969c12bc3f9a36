// Bodies over HTTP/2, frame by frame: uploads that nobody takes yet, answers that come before an upload has ended, what is
// cut on the way, and trailers.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fieldOf, hpackLiterals } from '../harness/hpack-text.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME, frame, type Http2Request, requestFrame } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-http2-bodies');
const WINDOW = 65_535;
const PIECE = Buffer.alloc(16_384, 'abcdefg');
const POST: Http2Request = { method: 'POST', body: '' };
let origin: Origin;
let proxy: RunningProxy;
let client: Http2Client;

/** Takes nothing of a connection until take() is called; then counts what came, which a chunk of no bytes ends. */
let take = (): void => {};
const slow = createServer({ pauseOnConnect: true }, (socket) => {
  let received = 0;
  let last = Buffer.alloc(0);
  take = () => socket.resume();
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    received += bytes.length;
    last = Buffer.concat([last, bytes]).subarray(-5);
    if (last.toString() !== '0\r\n\r\n') return;
    const text = String(received);
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  });
});

/** Answers as soon as it has a head. */
const early = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly'));
});

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'fine'));
  for (const server of [slow, early]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const backend = (name: string, server: Server): string =>
    `backend ${name} { .host = "127.0.0.1"; .port = "${(server.address() as AddressInfo).port}"; }\n`;
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `${backend('slow', slow)}${backend('early', early)}
sub vcl_recv {
  if (req.url ~ "^/slow") { set req.backend_hint = slow; }
  if (req.url ~ "^/early") { set req.backend_hint = early; }
  if (req.url ~ "^/synth") { return (synth(200, "Fine")); }
  return (pass);
}`,
    ),
    params: { feature: '+http2' },
  });
});
beforeEach(async () => {
  client = await Http2Client.connect(proxy.port);
});
afterEach(() => client.close());
afterAll(async () => {
  await box.dispose();
  await origin.close();
  for (const server of [slow, early]) server.close();
});

/** Opens a stream whose body is still to come. */
function open(stream: number, path: string, request: Http2Request = {}): void {
  client.send(requestFrame(stream, path, { ...POST, ...request }));
}

/** Bytes that the client may still send in a stream after having sent `sent` bytes. */
function windowOf(stream: number, sent: number): number {
  let window = WINDOW - sent;
  for (const { type, stream: id, payload } of client.frames)
    if (type === FRAME.WINDOW_UPDATE && id === stream) window += payload.readUInt32BE(0);
  return window;
}

const resets = (stream: number): number[] =>
  client.frames
    .filter(({ type, stream: id }) => type === FRAME.RST_STREAM && id === stream)
    .map(({ payload }) => payload.readUInt32BE(0));

const dataOf = (stream: number) =>
  client.frames.filter(({ type, stream: id }) => type === FRAME.DATA && id === stream);

describe('an upload', () => {
  it('is not read beyond its window while the origin takes nothing, and resumes when it does', async () => {
    open(1, '/slow');
    let sent = 0;
    const send = (): boolean => {
      let any = false;
      while (windowOf(1, sent) >= PIECE.length && sent < 20_000_000) {
        client.send(frame(FRAME.DATA, 0, 1, PIECE));
        sent += PIECE.length;
        any = true;
      }
      return any;
    };
    // As long as anything goes on, buffers of the kernel fill up.
    for (let idle = 0; idle < 20; ) {
      idle = send() ? 0 : idle + 1;
      await delay(25);
    }
    const stuck = sent;
    expect(stuck).toBeLessThan(20_000_000);
    // Others are served meanwhile.
    client.send(requestFrame(3, '/other'));
    expect((await client.response(3)).status).toBe(200);
    take();
    await until('the window to open', async () => send() || null);
    while (sent < 20_000_000) {
      send();
      await delay(5);
    }
    client.send(frame(FRAME.DATA, FLAG.END_STREAM, 1));
    const answer = await client.response(1);
    expect(answer).toMatchObject({ status: 200, complete: true, reset: null });
    expect(Number(answer.body.toString())).toBeGreaterThan(sent);
  });

  it.each([
    ['the program', '/synth/early'],
    ['the origin', '/early'],
  ])('is ended without an error when %s has answered already', async (_who, path) => {
    open(1, path, { fields: [['content-length', '10000000']] });
    client.send(frame(FRAME.DATA, 0, 1, PIECE));
    const answer = await client.response(1);
    expect([answer.status, answer.complete]).toEqual([200, true]);
    await client.until(() => resets(1).length > 0, 'RST_STREAM');
    expect(resets(1)).toEqual([0]);
    // Bytes that are still on their way are no error.
    client.send(frame(FRAME.DATA, 0, 1, PIECE), requestFrame(3, '/synth'));
    expect((await client.response(3)).status).toBe(200);
  });

  it.each([
    ['more', '3', 'hello'],
    ['less', '9', 'hello'],
  ])('with %s than its length is reset, and reaches no origin as whole', async (_what, length, body) => {
    const path = `/length/${length}`;
    origin.on(path, respond('200 OK', {}, 'wrong'));
    const stream = client.begin(path, { method: 'POST', fields: [['content-length', length]], body });
    const answer = await client.response(stream);
    expect([answer.status, answer.reset]).toEqual([0, 1]);
    expect(origin.seen(path).filter(({ complete }) => complete)).toEqual([]);
    expect((await client.get('/synth')).status).toBe(200);
  });

  it('is asked for with 100 once, before its body has come', async () => {
    origin.on('/continue', ({ body }) => respond('200 OK', {}, body));
    open(1, '/continue', {
      fields: [
        ['expect', '100-continue'],
        ['content-length', '5'],
      ],
    });
    await client.until(() => client.soFar(1).interim.length > 0, '100');
    client.send(frame(FRAME.DATA, FLAG.END_STREAM, 1, 'hello'));
    const answer = await client.response(1);
    expect([answer.interim, answer.status, answer.body.toString()]).toEqual([[100], 200, 'hello']);
  });
});

describe('trailers', () => {
  it('of a client end its upload, and go no further', async () => {
    origin.on('/trailers', ({ body, head }) =>
      respond(
        '200 OK',
        { 'X-Sent': String(/x-checksum/i.test(head)), 'X-TE': /^te: .*/im.exec(head)?.[0] ?? 'none' },
        body,
      ),
    );
    const before = (await proxy.counters())['MAIN.h2_trailers'] ?? 0;
    open(1, '/trailers', { fields: [['te', 'trailers']] });
    client.send(frame(FRAME.DATA, 0, 1, 'hello'));
    client.send(
      frame(FRAME.HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, 1, hpackLiterals([['x-checksum', '1']])),
    );
    const answer = await client.response(1);
    expect([answer.status, answer.body.toString(), fieldOf(answer, 'x-sent')]).toEqual([
      200,
      'hello',
      'false',
    ]);
    await proxy.counterReaches('MAIN.h2_trailers', before + 1);
  });

  it('of an origin do not break the answer', async () => {
    origin.on('/grpc', [
      {
        send:
          'HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTrailer: grpc-status\r\nTransfer-Encoding: chunked\r\n\r\n' +
          '5\r\nhello\r\n0\r\ngrpc-status: 0\r\ngrpc-message: fine\r\n\r\n',
      },
    ]);
    for (let i = 0; i < 3; i++) {
      const answer = await client.get('/grpc');
      expect(answer).toMatchObject({ status: 200, complete: true, reset: null });
      expect(answer.body.toString()).toBe('hello');
    }
  });
});

describe('an answer', () => {
  it.each([
    ['a length', 'Content-Length: 100', 'half'],
    ['chunks', 'Transfer-Encoding: chunked', '4\r\nhalf\r\n'],
  ])('with %s that its origin cuts is reset, never ended', async (_how, framing, body) => {
    const path = `/cut/${framing.length}`;
    origin.on(path, [
      { send: `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}` },
      { wait: 50 },
      { reset: true },
    ]);
    const stream = client.begin(path);
    const answer = await client.response(stream);
    expect([answer.status, answer.body.toString(), answer.complete, answer.reset]).toEqual([
      200,
      'half',
      false,
      2,
    ]);
    expect((await client.get('/synth')).status).toBe(200);
  });

  it('ends with its last bytes', async () => {
    origin.on('/once', respond('200 OK', {}, 'once'));
    const stream = client.begin('/once');
    await client.response(stream);
    expect(dataOf(stream).at(-1)?.flags).toBe(FLAG.END_STREAM);
  });
});
