// Connections of HTTP/2 as a whole: how they begin on each kind of listener, what they share with HTTP/1 and with each
// other, and how they end.
import { writeFileSync } from 'node:fs';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issue } from '../harness/certificates.ts';
import { fieldOf } from '../harness/hpack-text.ts';
import { fetchOnce } from '../harness/http-client.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME, frame, PREFACE, requestFrame, settingsFrame } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { tlsRequest } from '../harness/tls-client.ts';
import { pemFile, ports } from '../harness/tls-proxy.ts';

const box = new Sandbox('proxyd-http2-connections');
const FRESH = { 'Cache-Control': 'max-age=100' };
const SOCKET = box.path('listener');
const LARGE = Buffer.alloc(2_000_000, 'large ');
let origin: Origin;
let proxy: RunningProxy;
let certificate: string;
let port: Record<string, number>;

const PROGRAM = `
import std;
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") { std.ban("obj.http.x-tag == " + req.http.x-tag); return (synth(202)); }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/facts") { return (synth(200)); }
}
sub vcl_synth { set resp.http.facts = req.proto + " " + client.ip + " " + local.socket + " " + req.http.scheme; }
sub vcl_backend_response {
  if (bereq.url ~ "^/grace") { set beresp.ttl = 0.1s; set beresp.grace = 100s; }
}
`;

beforeAll(async () => {
  origin = await Origin.start();
  certificate = pemFile(box, issue({ names: ['a.example'] }));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { feature: '+http2', timeout_idle: '2' },
    args: [
      ...['-a', 'tls=127.0.0.1:0,HTTPS', '-a', 'pre=127.0.0.1:0,PROXY', '-a', SOCKET],
      ...['--cert', certificate],
    ],
  });
  port = await ports(proxy);
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** A PROXY preamble of version 2 for a client 192.0.2.7:1234 of 192.0.2.8:443. */
const PROXY_V2 = Buffer.concat([
  Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
  Buffer.from([0x21, 0x11, 0, 12, 192, 0, 2, 7, 192, 0, 2, 8, 0x04, 0xd2, 0x01, 0xbb]),
]);

describe('a connection begins', () => {
  it('in clear text', async () => {
    const client = await Http2Client.connect(proxy.port);
    expect(fieldOf(await client.get('/facts'), 'facts')).toBe('HTTP/2.0 127.0.0.1 a0 http');
    client.close();
  });

  it('over TLS where the client asks for h2, and as HTTP/1 where it does not', async () => {
    const client = await Http2Client.connect(port.tls as number, { tls: {} });
    expect(fieldOf(await client.request('/facts', { scheme: 'https' }), 'facts')).toBe(
      'HTTP/2.0 127.0.0.1 tls https',
    );
    client.close();
    const answer = await tlsRequest(port.tls as number, { path: '/facts', ALPNProtocols: ['http/1.1'] });
    expect([answer.alpn, answer.fields.facts]).toEqual(['http/1.1', 'HTTP/1.1 127.0.0.1 tls ']);
  });

  it('after a PROXY preamble, in one packet or in many', async () => {
    for (const size of [1000, 7]) {
      const client = await Http2Client.connect(port.pre as number, { settings: null, isPassive: true });
      const bytes = Buffer.concat([PROXY_V2, PREFACE, settingsFrame(), requestFrame(1, '/facts')]);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      await client.sendPieces(pieces);
      expect(fieldOf(await client.response(1), 'facts')).toBe('HTTP/2.0 192.0.2.7 pre http');
      client.close();
    }
    await proxy.logged(/sess 0 PROXY[\s\S]*Proxy +2 192\.0\.2\.7 1234 192\.0\.2\.8 443/, '-g', 'session');
  });

  it('over a Unix socket', async () => {
    const session = connectHttp2('http://a.example', { createConnection: () => connect(SOCKET) });
    const stream = session.request({ ':path': '/facts' });
    const head = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
    expect(head.facts).toMatch(/^HTTP\/2\.0 0\.0\.0\.0 a\d http$/);
    session.destroy();
  });
});

describe('what is shared', () => {
  let client: Http2Client;
  beforeEach(async () => {
    client = await Http2Client.connect(proxy.port);
  });
  afterEach(() => client.close());

  const one = async (path: string, method = 'GET', fields: Record<string, string> = {}): Promise<string> => {
    const { status, body } = await fetchOnce(proxy.port, path, { host: 'a.example', method, fields });
    return `${status} ${body}`;
  };
  const two = async (path: string, method = 'GET', fields: [string, string][] = []): Promise<string> => {
    const { status, body } = await client.request(path, { method, fields });
    return `${status} ${body}`;
  };

  it('is an object, whichever protocol asks first', async () => {
    origin.on('/first', (_, n) => respond('200 OK', FRESH, `one ${n}`));
    origin.on('/second', (_, n) => respond('200 OK', FRESH, `two ${n}`));
    expect([await one('/first'), await two('/first')]).toEqual(['200 one 1', '200 one 1']);
    expect([await two('/second'), await one('/second')]).toEqual(['200 two 1', '200 two 1']);
  });

  it('is a fetch under way, by clients of both', async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    origin.on('/together', [{ hold: held }, ...respond('200 OK', FRESH, 'together')]);
    const before = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
    const asked = [...[1, 2, 3].map(() => two('/together')), ...[1, 2].map(() => one('/together'))];
    await proxy.counterReaches('MAIN.busy_sleep', before + 4);
    answer();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['200 together']));
    expect(origin.seen('/together')).toHaveLength(1);
  });

  it('is what a purge or a ban takes away', async () => {
    for (const path of ['/purged', '/banned'])
      origin.on(path, (_, n) => respond('200 OK', { ...FRESH, 'X-Tag': 'tagged' }, String(n)));
    for (const path of ['/purged', '/banned'])
      expect([await two(path), await one(path)]).toEqual(['200 1', '200 1']);
    expect(await two('/purged', 'PURGE')).toMatch(/^200 /);
    expect(await two('/', 'BAN', [['x-tag', 'tagged']])).toMatch(/^202 /);
    for (const path of ['/purged', '/banned'])
      expect([await one(path), await two(path)]).toEqual(['200 2', '200 2']);
  });

  it('is grace: who comes late gets the old object, and one fetch makes a new one', async () => {
    origin.on('/grace', (_, n) => [{ wait: 50 }, ...respond('200 OK', {}, `grace ${n}`)]);
    expect(await two('/grace')).toBe('200 grace 1');
    await delay(200);
    expect(await Promise.all([two('/grace'), two('/grace')])).toEqual(['200 grace 1', '200 grace 1']);
    await until('the new one', async () => origin.seen('/grace').length === 2 || null);
    await until('the new object', async () => (await two('/grace')) === '200 grace 2' || null);
  });

  it('is one connection, by a hundred requests at once that are answered as each is ready', async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    origin.on('/slow', [{ hold: held }, ...respond('200 OK', FRESH, 'slow')]);
    origin.on('/large', respond('200 OK', FRESH, LARGE));
    const order: string[] = [];
    const ask = async (path: string): Promise<string> => {
      const { body } = await client.get(path);
      order.push(path);
      if (order.length === 98) answer();
      return body.length > 1000 ? `${body.length}` : body.toString();
    };
    for (let i = 0; i < 97; i++) origin.on(`/each/${i}`, respond('200 OK', FRESH, `each ${i}`));
    const answers = await Promise.all([
      ask('/slow'),
      ask('/large'),
      ask('/slow'),
      ...Array.from({ length: 97 }, (_, i) => ask(`/each/${i}`)),
    ]);
    expect(answers.slice(0, 3)).toEqual(['slow', String(LARGE.length), 'slow']);
    expect(answers.slice(3)).toEqual(Array.from({ length: 97 }, (_, i) => `each ${i}`));
    expect(order.slice(-2)).toEqual(['/slow', '/slow']);
  });
});

describe('a connection ends', () => {
  it('with GOAWAY after timeout_idle, and not while a request is under way', async () => {
    origin.on('/pass/long', [{ wait: 4500 }, ...respond('200 OK', {}, 'long')]);
    const client = await Http2Client.connect(proxy.port);
    expect((await client.get('/pass/long')).body.toString()).toBe('long');
    expect(await client.end()).toBe(0);
    await proxy.logged(/SessClose +RX_CLOSE_IDLE/, '-g', 'session', '-q', 'SessClose ~ IDLE');
  });

  it('when an upload pauses for longer than timeout_idle, with its stream alone', async () => {
    origin.on('/pass/up', respond('200 OK', {}, 'taken'));
    const client = await Http2Client.connect(proxy.port);
    client.send(
      requestFrame(1, '/pass/up', { method: 'POST', body: '', fields: [['content-length', '10']] }),
    );
    await client.until(() => client.frames.some(({ stream }) => stream === 1), 'an answer or a reset');
    expect(client.soFar(1).complete || client.soFar(1).reset !== null || client.soFar(1).status >= 400).toBe(
      true,
    );
    client.send(requestFrame(3, '/facts'));
    expect((await client.response(3)).status).toBe(200);
    client.close();
  });

  it('after the client has sent GOAWAY and its requests are answered', async () => {
    origin.on('/pass/last', [{ wait: 200 }, ...respond('200 OK', {}, 'last')]);
    const client = await Http2Client.connect(proxy.port);
    client.send(requestFrame(1, '/pass/last'), frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8)));
    expect((await client.response(1)).body.toString()).toBe('last');
    await client.end();
  });

  it('after the client has half-closed it, and what it has asked for is answered', async () => {
    origin.on('/pass/half', [{ wait: 200 }, ...respond('200 OK', {}, 'half')]);
    const client = await Http2Client.connect(proxy.port, { isPassive: true });
    client.send(requestFrame(1, '/pass/half'));
    client.socket.end();
    expect((await client.response(1)).body.toString()).toBe('half');
  });
});

it('counts the bytes of priorities as Varnish 7.7 does, and none of padding', async () => {
  const path = '/facts-counted';
  const block = Buffer.from([0x82, 0x86, 0x44, path.length, ...Buffer.from(path), 0x41, 1, 0x61]);
  const priority = Buffer.alloc(5);
  const client = await Http2Client.connect(proxy.port);
  const ends = FLAG.END_HEADERS | FLAG.END_STREAM;
  client.send(
    frame(FRAME.PRIORITY, 0, 9, priority),
    frame(FRAME.HEADERS, ends | FLAG.PRIORITY, 1, Buffer.concat([priority, block])),
    frame(FRAME.HEADERS, ends | FLAG.PADDED, 3, Buffer.concat([Buffer.from([4]), block, Buffer.alloc(4)])),
  );
  await client.response(1);
  await client.response(3);
  client.send(frame(FRAME.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 8])));
  await client.ping();
  client.close();
  const log = await proxy.logged(/SessClose/, '-g', 'session', '-q', `ReqURL eq "${path}"`);
  const counted = [...log.matchAll(/ReqAcct +(\d+) (\d+) (\d+) /g)].map(([, ...counts]) =>
    counts.map(Number),
  );
  const [[heads = 0, payloads = 0] = [], ...streams] = counted;
  expect(streams).toEqual([
    [block.length + 5, 0, block.length + 5],
    [block.length, 0, block.length],
  ]);
  // SETTINGS, its ACK, PRIORITY, two HEADERS, RST_STREAM and PING; each other frame is a WINDOW_UPDATE.
  const frames = heads / 9;
  expect(payloads).toBe(5 + 4 + 8 + 4 * (frames - 7));
});

describe('a program', () => {
  it('changes for new requests of a connection, while those under way keep theirs', async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    origin.on('/pass/kept', [{ hold: held }, ...respond('200 OK', {}, 'kept')]);
    const client = await Http2Client.connect(proxy.port);
    const kept = client.get('/pass/kept');
    await until('it at the origin', async () => origin.hasBegun('/pass/kept') || null);
    const file = box.path('second.vcl');
    writeFileSync(
      file,
      backendProgram(
        origin.port,
        'sub vcl_deliver { set resp.http.program = "second"; } sub vcl_recv { return (pass); }',
      ),
    );
    expect((await proxy.adm('vcl.load', 'second', file)).code).toBe(0);
    await proxy.adm('vcl.use', 'second');
    origin.on('/after', respond('200 OK', {}, 'after'));
    expect(fieldOf(await client.get('/after'), 'program')).toBe('second');
    answer();
    const answered = await kept;
    expect([answered.body.toString(), fieldOf(answered, 'program')]).toEqual(['kept', undefined]);
    await proxy.adm('vcl.use', 'boot');
    client.close();
  });
});

describe('feature -http2', () => {
  it('leaves both listeners with HTTP/1', async () => {
    const other = await startProxy(box, {
      program: backendProgram(origin.port, PROGRAM),
      params: { feature: '-http2' },
      args: ['-a', 'tls=127.0.0.1:0,HTTPS', '--cert', certificate],
      dir: box.path('without'),
    });
    const { tls } = await ports(other);
    const answer = await tlsRequest(tls as number, { path: '/facts', ALPNProtocols: ['h2', 'http/1.1'] });
    expect([answer.alpn, answer.status]).toEqual(['http/1.1', 200]);
    const client = await Http2Client.connect(other.port);
    expect(await client.end()).toBeNull();
    await other.logged(/SessClose +REQ_HTTP20/, '-g', 'session');
    await other.stop();
  });
});

it('a daemon that ends sends GOAWAY to its clients', async () => {
  const client = await Http2Client.connect(proxy.port);
  await client.get('/facts');
  expect((await proxy.stop()).code).toBe(0);
  expect(await client.end()).toBe(0);
});
