// TLS to origins through a real daemon: what is verified, what a failure says, sessions, pools, probes, pipes, bodies that
// are cut, and that no byte of a key leaves the daemon.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { CertificateMaker } from '../harness/origin-certificates.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { command, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-tls-origins');
const make = new CertificateMaker(join(box.path('pem'), '..', 'pem'));
const root = make.authority('root', { subject: '/CN=Test Root' });
const other = make.authority('other', { subject: '/CN=Other Root' });
const names = ['DNS:a.example', 'DNS:*.b.example'];
const good = make.issue('good', { by: root, names });
const renewed = make.issue('renewed', { by: other, names });
const client = make.issue('client', { by: root });
const FAULTY = {
  expired: make.issue('expired', { by: root, names, from: -9, until: -3 }),
  early: make.issue('early', { by: root, names, from: 3, until: 9 }),
  elsewhere: make.issue('elsewhere', { by: other, names }),
  own: make.issue('own', { names, subject: '/CN=Own' }),
  misnamed: make.issue('misnamed', { by: root, names: ['DNS:c.example', 'DNS:d.example'] }),
  purpose: make.issue('purpose', { by: root, names, extensions: ['extendedKeyUsage=clientAuth'] }),
};
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const WORDS: Record<keyof typeof FAULTY, string> = {
  expired: `TLS: certificate expired on ${day(-3)}`,
  early: `TLS: certificate is not valid before ${day(3)}`,
  elsewhere: 'TLS: issuer unknown: CN=Other Root; the origin sends its own certificate alone',
  own: 'TLS: certificate is self-signed (CN=Own)',
  misnamed: 'TLS: name a.example is not among c.example, d.example',
  purpose: 'TLS: wrong purpose: the certificate is not for servers',
};

const BIG = randomBytes(10 << 20);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

let origin: Origin;
let mutual: Origin;
let proxy: RunningProxy;
const servers: Server[] = [];
const sockets = new Set<Socket>();
const origins: Origin[] = [];

const NO_STORE = { 'Cache-Control': 'no-store' };
const CLOSE = { ...NO_STORE, Connection: 'close' };
const HEAD = 'HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n';

/** An origin of usual pages. */
async function startOrigin(options: Parameters<typeof Origin.start>[1]): Promise<Origin> {
  const made = await Origin.start(0, options);
  origins.push(made);
  return made
    .on('*', respond('200 OK', NO_STORE, 'hello'))
    .on('/close', [...respond('200 OK', CLOSE, 'bye'), { close: true }])
    .on('/big', respond('200 OK', NO_STORE, BIG))
    .on('/length-cut', [{ send: `${HEAD}Content-Length: 1000\r\n\r\nonly this` }, { cut: true }])
    .on('/length-whole', [{ send: `${HEAD}Content-Length: 5\r\n\r\nwhole` }, { cut: true }])
    .on('/chunks-cut', [{ send: `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n` }, { cut: true }])
    .on('/chunks-whole', [
      { send: `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n` },
      { cut: true },
    ])
    .on('/eof', [{ send: `${HEAD}Connection: close\r\n\r\nto the end` }, { close: true }])
    .on('/eof-cut', [{ send: `${HEAD}Connection: close\r\n\r\nto the e` }, { cut: true }])
    .on('/eof-late', [{ send: `${HEAD}Connection: close\r\n\r\nto the end` }, { wait: 60 }, { close: true }])
    .on('/upload', (request) => respond('200 OK', NO_STORE, sha(request.body)));
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** After a head it echoes. */
function echoing(socket: Socket): void {
  let head = '';
  const onHead = (bytes: Buffer): void => {
    head += bytes.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    socket.off('data', onHead);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.write(Buffer.from(head.slice(end + 4), 'latin1'));
    socket.on('data', (more) => socket.write(more));
    socket.on('end', () => socket.end());
  };
  socket.on('data', onHead);
  socket.on('error', () => undefined);
}

interface Declared {
  port: number;
  more?: string;
  ca?: string;
}

function backend(name: string, { port, more = '', ca = `.ssl_ca = "${root.certFile}";` }: Declared): string {
  return `backend ${name} { .host = "127.0.0.1"; .port = "${port}"; .host_header = "a.example"; .ssl = 1; ${ca} ${more} }\n`;
}

function programOf(backends: Record<string, Declared>): string {
  const all = Object.entries(backends);
  const choose = all.map(([name]) => `if (req.http.X-To == "${name}") { set req.backend_hint = ${name}; }`);
  return `vcl 4.1;\n${all.map(([name, declared]) => backend(name, declared)).join('')}
sub vcl_recv { ${choose.join('\n')} if (req.http.Upgrade) { return (pipe); } return (pass); }
sub vcl_pipe { if (req.http.Upgrade) { set bereq.http.Upgrade = req.http.Upgrade; set bereq.http.Connection = req.http.Connection; } }
`;
}

const to = (name: string) => ({ fields: { 'X-To': name } });

beforeAll(async () => {
  origin = await startOrigin({ cert: good.cert, key: good.key, ALPNProtocols: ['http/1.1'] });
  mutual = await startOrigin({
    cert: good.cert,
    key: good.key,
    ca: root.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const faulty: Record<string, Declared> = {};
  for (const [name, { cert, key }] of Object.entries(FAULTY))
    faulty[name] = { port: (await startOrigin({ cert, key })).port };
  const plain = await listen(
    createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
  );
  const silent = await listen(createServer());
  const echo = await listen(createTlsServer({ cert: good.cert, key: good.key }, echoing));
  const old = await startOrigin({ cert: good.cert, key: good.key, maxVersion: 'TLSv1.2' });
  const keys = `.ssl_cert = "${client.certFile}"; .ssl_key = "${client.keyFile}";`;
  proxy = await startProxy(box, {
    program: programOf({
      site: { port: origin.port },
      ...faulty,
      plain: { port: plain },
      silent: { port: silent, more: '.connect_timeout = 0.3s;' },
      mutual: { port: mutual.port, more: keys },
      stranger: { port: mutual.port },
      careless: { port: faulty.expired?.port ?? 0, ca: '', more: '.ssl_noverify = 1;' },
      echo: { port: echo },
      old: { port: old.port },
      polled: {
        port: origin.port,
        more: '.probe = { .interval = 0.2s; .initial = 0; .threshold = 2; .expect_close = false; }',
      },
      sick: { port: faulty.misnamed?.port ?? 0, more: '.probe = { .interval = 0.2s; }' },
    }),
    params: { worker_threads: '1', vsl_mask: '+Backend_health' },
  });
});

afterAll(async () => {
  await box.dispose();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  await Promise.all(origins.map((each) => each.close()));
});

describe('a connection', () => {
  it('asks for the name, and is logged', async () => {
    expect((await proxy.get('/', to('site'))).status).toBe(200);
    expect(origin.handshakes.at(-1)).toMatchObject({ servername: 'a.example', alpn: 'http/1.1' });
    await proxy.logged(
      /BackendSSL +b site TLSv1\.3 TLS_AES_256_GCM_SHA384 (full|resumed) verified http\/1\.1 CN=good/,
      '-g',
      'raw',
    );
  });

  it('is kept for the next request', async () => {
    await proxy.get('/', to('site'));
    const before = origin.handshakes.length;
    for (let i = 0; i < 5; i++) expect((await proxy.get('/', to('site'))).status).toBe(200);
    expect(origin.handshakes.length).toBe(before);
  });

  it.each(['site', 'old'])('resumes a session: %s', async (name) => {
    await proxy.get('/close', to(name));
    await proxy.get('/close', to(name));
    const version = name === 'old' ? 'TLSv1.2' : 'TLSv1.3';
    await proxy.logged(
      new RegExp(`BackendSSL +b ${name} ${version.replace('.', '\\.')} \\S+ resumed verified`),
      '-g',
      'raw',
    );
    if (name === 'site') expect(origin.handshakes.at(-1)?.resumed).toBe(true);
  });

  it('shows its certificate where it is asked for', async () => {
    expect((await proxy.get('/', to('mutual'))).status).toBe(200);
    expect(mutual.handshakes.at(-1)?.client).toBe('client');
    expect((await proxy.get('/', to('stranger'))).status).toBe(503);
    await proxy.logged(
      /FetchError +b (backend stranger: )?TLS: alert 116 \(certificate required/,
      '-g',
      'raw',
    );
  });

  it('is made without verification if the program disables it', async () => {
    expect((await proxy.get('/', to('careless'))).status).toBe(200);
    await proxy.logged(/BackendSSL +b careless TLSv1\.3 \S+ full unverified/, '-g', 'raw');
  });
});

describe('a failure is named', () => {
  // By default it is over before a loaded machine has read the log.
  beforeAll(() => proxy.adm('param.set', 'backend_remote_error_holddown', '60'));
  afterAll(() => proxy.adm('param.reset', 'backend_remote_error_holddown'));

  it.each(Object.entries(WORDS))('%s', async (name, words) => {
    expect((await proxy.get('/', to(name))).status).toBe(503);
    const log = await proxy.logged(`backend ${name}: ${words}`, '-g', 'raw');
    expect(log).toMatch(new RegExp(`BackendSSL +b ${name}: TLS: `));
    expect(origin.requests.filter(({ head }) => head.includes(`X-To: ${name}`))).toEqual([]);
    await proxy.counterReaches(`VBE.boot.${name}.fail_tls`, 1);
    // Within the hold-down it is not tried again, and the reason is the same.
    await proxy.get('/', to(name));
    await proxy.get('/', to(name));
    const all = await proxy.logged(
      new RegExp(`(FetchError +b backend ${name}: TLS: [\\s\\S]*){3}`),
      '-g',
      'raw',
    );
    expect([...all.matchAll(new RegExp(`FetchError +b backend ${name}: TLS: `, 'g'))].length).toBe(3);
    await proxy.counterReaches(`VBE.boot.${name}.helddown`, 2);
  });

  it('not TLS', async () => {
    expect((await proxy.get('/', to('plain'))).status).toBe(503);
    await proxy.logged('backend plain: TLS: not TLS at all', '-g', 'raw');
  });

  it('too slow', async () => {
    expect((await proxy.get('/', to('silent'))).status).toBe(503);
    await proxy.logged('backend silent: TLS: handshake timed out', '-g', 'raw');
  });
});

describe('a probe', () => {
  it('speaks TLS and verifies', async () => {
    await proxy.logged(/polled .*healthy 4---X-RH \d.* "HTTP\/1\.1 200 OK"/, '-g', 'raw');
    expect((await proxy.get('/', to('polled'))).status).toBe(200);
    await proxy.logged('Open error TLS: name a.example is not among c.example, d.example', '-g', 'raw');
    expect((await proxy.adm('backend.list', 'boot.sick')).stdout).toMatch(/boot\.sick +probe +0\/\d+ +sick/);
  });
});

describe('a body', () => {
  it('of 10 MB is the same', async () => {
    expect(sha((await proxy.get('/big', to('site'))).body)).toBe(sha(BIG));
  });

  it('of 10 MB is sent as it is', async () => {
    const connection = await ClientConnection.open(proxy.port);
    const fields = { 'X-To': 'site', 'Content-Length': String(BIG.length) };
    connection.send(requestText('/upload', { method: 'POST', fields }));
    connection.send(BIG);
    const answer = await connection.response('POST');
    expect(answer.body.toString()).toBe(sha(BIG));
    connection.close();
  });

  it.each([
    ['/length-whole', 'whole'],
    ['/chunks-whole', 'whole'],
    ['/eof', 'to the end'],
    ['/eof-late', 'to the end'],
  ])('is whole: %s', async (url, text) => {
    const answer = await proxy.get(url, to('site'));
    expect([answer.status, answer.body.toString()]).toEqual([200, text]);
  });

  it.each(['/length-cut', '/chunks-cut', '/eof-cut'])('is cut: %s', async (url) => {
    const connection = await ClientConnection.open(proxy.port);
    connection.send(requestText(url, to('site')));
    const outcome = await connection.response('GET').then(
      ({ status, complete }) => (complete ? status : 'cut'),
      () => 'cut',
    );
    connection.close();
    expect([503, 'cut']).toContain(outcome);
    if (url === '/eof-cut')
      await proxy.logged('TLS: the connection was cut: it ended without close_notify', '-g', 'raw');
  });
});

it('pipes websockets', async () => {
  const socket = connect(proxy.port, '127.0.0.1');
  let got = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    got = Buffer.concat([got, bytes]);
  });
  const take = (length: () => number): Promise<Buffer> =>
    until('the echo', async () => {
      if (length() <= 0 || got.length < length()) return null;
      const head = got.subarray(0, length());
      got = got.subarray(length());
      return head;
    });
  const fields = { 'X-To': 'echo', Upgrade: 'websocket', Connection: 'Upgrade' };
  socket.write(requestText('/ws', { fields }));
  expect((await take(() => got.indexOf('\r\n\r\n') + 4)).toString()).toMatch(/^HTTP\/1\.1 101 /);
  for (let i = 0; i < 3; i++) {
    const bytes = randomBytes(100_000);
    socket.write(bytes);
    expect(sha(await take(() => bytes.length))).toBe(sha(bytes));
  }
  socket.destroy();
});

it('writes a PROXY header in front of TLS', async () => {
  const secure = createTlsServer({ cert: good.cert, key: good.key }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok'),
    );
  });
  const heads: string[] = [];
  const port = await listen(
    createServer((socket) => {
      socket.once('data', (bytes) => {
        const end = bytes.indexOf('\r\n') + 2;
        heads.push(bytes.toString('latin1', 0, end));
        // Paused, or what is put back is dropped before the handshake reads it.
        socket.pause();
        socket.unshift(bytes.subarray(end));
        secure.emit('connection', socket);
      });
    }),
  );
  const more = '.proxy_header = 1; .probe = { .interval = 0.2s; .expect_close = false; }';
  const own = await startProxy(box, { program: programOf({ site: { port, more } }) });
  // Sick until the first poll is answered, as in Varnish.
  await own.logged(/site .*healthy .* "HTTP\/1\.1 200 OK"/, '-g', 'raw');
  const answer = await own.get('/', to('site'));
  expect([answer.status, answer.body.toString()]).toEqual([200, 'ok']);
  await until('heads of a request and a probe', async () => (heads.length > 1 ? true : null));
  for (const head of heads) expect(head).toMatch(/^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\r\n$/);
  await own.requestsLogged(1);
  expect(await own.log('-g', 'raw')).not.toContain('FetchError');
  await own.stop();
});

it('verifies anew after a program with another authority, also with several threads', async () => {
  const changing = await startOrigin({ cert: good.cert, key: good.key });
  const own = await startProxy(box, {
    program: programOf({ site: { port: changing.port } }),
    params: { worker_threads: '4' },
  });
  const statuses = async (): Promise<number[]> =>
    (await Promise.all(Array.from({ length: 12 }, () => own.get('/', to('site'))))).map((r) => r.status);
  expect(await statuses()).toEqual(Array(12).fill(200));
  const file = make.file(
    'second.vcl',
    programOf({ site: { port: changing.port, ca: `.ssl_ca = "${other.certFile}";` } }),
  );
  expect((await own.adm('vcl.load', 'second', file)).code).toBe(0);
  await own.adm('vcl.use', 'second');
  expect(await statuses()).toEqual(Array(12).fill(503));
  changing.present({ cert: renewed.cert, key: renewed.key });
  await until('the certificate of the other authority', async () => {
    const all = await statuses();
    return all.every((status) => status === 200) || null;
  });
  // The first program has the authority of before, for its new connections.
  await own.killWorker('SIGKILL');
  expect(await statuses()).toEqual(Array(12).fill(200));
  await own.stop();
});

it('-b https://host:port is a backend that is verified', async () => {
  const address = make.issue('address', { by: root, names: ['IP:127.0.0.1'] });
  const at = await startOrigin({ cert: address.cert, key: address.key });
  const trusting = await startProxy(box, {
    backend: `https://127.0.0.1:${at.port}`,
    env: { SSL_CERT_FILE: root.certFile },
  });
  expect((await trusting.get('/')).status).toBe(200);
  expect((await trusting.adm('vcl.show', 'boot')).stdout).toContain('.ssl = 1;');
  await trusting.stop();
  const strict = await startProxy(box, { backend: `https://127.0.0.1:${at.port}` });
  expect((await strict.get('/')).status).toBe(503);
  await strict.logged('TLS: issuer unknown: CN=Test Root', '-g', 'raw');
  await strict.stop();
  const [program, lead] = command('proxyd', 'daemon');
  const wrong = await run(program, [...lead, '-C', '-b', 'https://a.example/path']);
  expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining('nothing else')]);
});

it('shows no byte of a key', async () => {
  expect((await proxy.get('/', to('mutual'))).status).toBe(200);
  const secrets = client.key
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-'))
    .map((line) => line.slice(0, 40));
  expect(secrets.length).toBeGreaterThan(1);
  const [program, lead] = command('proxyd', 'daemon');
  const file = join(proxy.dir, '..', `${proxy.dir.split('/').at(-1)}.vcl`);
  const shown = [
    await proxy.log('-g', 'raw'),
    (await proxy.adm('vcl.show', '-v', 'boot')).stdout,
    (await proxy.adm('backend.list', '-p')).stdout,
    (await proxy.adm('backend.list', '-j')).stdout,
    (await proxy.adm('debug.panic.worker')).stdout,
    (await run(program, [...lead, '-C', '-f', file])).stdout,
    proxy.daemon.stderr + proxy.daemon.stdout,
  ];
  await proxy.killWorker('SIGSEGV');
  shown.push((await proxy.adm('panic.show')).stdout);
  const files = readdirSync(proxy.dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(proxy.dir, name))
    .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile() === true);
  expect(files.length).toBeGreaterThan(1);
  for (const name of files) shown.push(readFileSync(name, 'latin1'));
  for (const text of shown) for (const secret of secrets) expect(text.includes(secret)).toBe(false);
});
