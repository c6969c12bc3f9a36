// Each failure of TLS with an origin, with a real server and certificates made by openssl: the words of the FetchError.
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { afterAll, afterEach, expect, it } from 'vitest';
import { connectOrigin } from '../../../daemon/backend/connect.ts';
import { OriginConnection } from '../../../daemon/backend/connection.ts';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';
import { TlsClients } from '../../../daemon/backend/tls-client.ts';
import type { BackendTls } from '../../../daemon/contract/program.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import type { SystemError } from '../../../daemon/system-error.ts';
import { Turns } from '../../../daemon/turns/turns.ts';
import { CertificateMaker, type Issued } from '../../harness/origin-certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'proxyd-tls-'));
const make = new CertificateMaker(directory);
const root = make.authority('root', { subject: '/O=Test/CN=Test Root' });
const other = make.authority('other', { subject: '/CN=Other Root' });
const good = make.issue('good', { by: root, names: ['DNS:a.example', 'DNS:*.b.example', 'IP:127.0.0.1'] });

const servers: Server[] = [];
const cleanup: (() => void)[] = [];

afterEach(() => {
  for (const undo of cleanup.splice(0)) undo();
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => rmSync(directory, { recursive: true }));

function listen(server: Server): Promise<number> {
  servers.push(server);
  return new Promise((done) =>
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
  );
}

function serve({ cert, key }: Pick<Issued, 'cert' | 'key'>, more: TlsOptions = {}): Promise<number> {
  const server = createServer({ cert, key, ...more }, (socket) => {
    socket.on('error', () => undefined);
    cleanup.push(() => socket.destroy());
  });
  server.on('tlsClientError', () => undefined);
  return listen(server);
}

const clients = new TlsClients();
const SETTINGS: BackendTls = {
  name: 'a.example',
  sni: true,
  verifyPeer: true,
  verifyHost: true,
  ca: 'ca',
  systemCa: false,
  cert: null,
  key: null,
};

async function connect(
  port: number,
  more: Partial<BackendTls> = {},
  pem: Record<string, string> = {},
  timeout = 20,
): Promise<OriginConnection | SystemError> {
  // A digest stands for its text.
  const texts = { ca: root.cert, ...pem };
  const settings = { ...SETTINGS, ca: texts.ca, ...more };
  const byDigest = Object.fromEntries(Object.values(texts).map((text) => [text, text]));
  const client = await clients.of(settings, byDigest, new Turns());
  const buffer = { bytes: Buffer.alloc(65536), turnOver: () => undefined };
  const got = await connectOrigin(
    { kind: 'tcp', address: '127.0.0.1', port },
    { timeout, key: '', tls: { client, lead: null }, owner },
    {
      readBuffer: buffer,
      limits: { maxLine: 8192, maxFields: 58, maxSize: 32768 },
      pacer: new PiecePacer(),
      readTurns: new ByteTurns((run) => setImmediate(run)),
    },
  );
  if (got instanceof OriginConnection) cleanup.push(() => got.destroy());
  return got;
}

const owner = { keep: () => undefined, tooLate: () => undefined, gone: () => undefined };

async function words(...args: Parameters<typeof connect>): Promise<string | undefined> {
  const got = await connect(...args);
  if (got instanceof OriginConnection) return 'connected';
  expect(got.code).toBe('TLS');
  return got.words;
}

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

it('accepts a certificate of the authority with the name', async () => {
  const got = (await connect(await serve(good))) as OriginConnection;
  expect(got).toBeInstanceOf(OriginConnection);
  expect(got.tls?.recordText('x')).toBe('x TLSv1.3 TLS_AES_256_GCM_SHA384 full verified - CN=good');
  expect(got.tls).toMatchObject({ serverName: 'a.example', isVerified: true, alpn: null });
});

it('says which protocol ALPN agreed on', async () => {
  const got = (await connect(await serve(good, { ALPNProtocols: ['http/1.1'] }))) as OriginConnection;
  expect(got.tls?.alpn).toBe('http/1.1');
});

it.each([
  ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLSv1.3', 'TLS_AES_256_GCM_SHA384'],
] as const)('speaks %s', async (version, cipher) => {
  const got = (await connect(await serve(good, { maxVersion: version }))) as OriginConnection;
  expect(got.tls).toMatchObject({ protocol: version, cipher });
});

it('accepts names by wildcard, and addresses', async () => {
  const port = await serve(good);
  expect(await words(port, { name: 'x.b.example' })).toBe('connected');
  expect(await words(port, { name: '127.0.0.1', sni: false })).toBe('connected');
  expect(await words(port, { name: 'x.y.b.example' })).toBe(
    'TLS: name x.y.b.example is not among a.example, *.b.example, 127.0.0.1',
  );
  expect(await words(port, { name: '127.0.0.2', sni: false })).toBe(
    'TLS: name 127.0.0.2 is not among a.example, *.b.example, 127.0.0.1',
  );
  expect(await words(port, { name: 'x.y.b.example', verifyHost: false })).toBe('connected');
});

it('does not take the common name for a name', async () => {
  const port = await serve(make.issue('cn', { by: root, subject: '/CN=a.example' }));
  expect(await words(port)).toBe(
    'TLS: name a.example is not in the certificate, which has no names; its subject (CN=a.example) does not count (RFC 9525)',
  );
});

it('shows a few of many names, and no control characters of theirs', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `DNS:${i}.example`);
  const port = await serve(make.issue('many', { by: root, names }));
  expect(await words(port)).toBe(
    `TLS: name a.example is not among ${names
      .slice(0, 8)
      .map((name) => name.slice(4))
      .join(', ')}, … (20)`,
  );
});

it('names the day on which a certificate expired, or begins', async () => {
  const names = ['DNS:a.example'];
  const old = await serve(make.issue('old', { by: root, names, from: -9, until: -3 }));
  expect(await words(old)).toBe(`TLS: certificate expired on ${day(-3)}`);
  const early = await serve(make.issue('early', { by: root, names, from: 2, until: 5 }));
  expect(await words(early)).toBe(`TLS: certificate is not valid before ${day(2)}`);
  expect(await words(early, { verifyPeer: false })).toBe('connected');
});

it('names the issuer whose certificate expired', async () => {
  const middle = make.authority('middle-old', { by: root, from: -9, until: -3, subject: '/CN=Old Middle' });
  const leaf = make.issue('under-old', { by: middle, names: ['DNS:a.example'] });
  const port = await serve({ cert: leaf.cert + middle.cert, key: leaf.key });
  expect(await words(port)).toBe(`TLS: certificate of the issuer CN=Old Middle expired on ${day(-3)}`);
});

it('says that a certificate is self-signed', async () => {
  const own = make.issue('own', { names: ['DNS:a.example'], subject: '/CN=Own' });
  expect(await words(await serve(own))).toBe('TLS: certificate is self-signed (CN=Own)');
  expect(await words(await serve(own), {}, { ca: own.cert })).toBe('connected');
  expect(await words(await serve(own), { verifyPeer: false, verifyHost: false, ca: null })).toBe('connected');
});

it('names an unknown issuer', async () => {
  const names = ['DNS:a.example'];
  const leaf = make.issue('elsewhere', { by: other, names });
  expect(await words(await serve(leaf))).toBe(
    'TLS: issuer unknown: CN=Other Root; the origin sends its own certificate alone: the chain is incomplete unless that issuer is a root',
  );
  expect(await words(await serve({ cert: leaf.cert + other.cert, key: leaf.key }))).toBe(
    'TLS: issuer unknown: CN=Other Root is not a trusted authority (self-signed)',
  );
  const middle = make.authority('middle', { by: other, subject: '/CN=Middle' });
  const below = make.issue('below', { by: middle, names });
  expect(await words(await serve({ cert: below.cert + middle.cert, key: below.key }))).toBe(
    'TLS: issuer unknown: CN=Other Root',
  );
});

it('says that a chain is incomplete', async () => {
  const middle = make.authority('middle2', { by: root, subject: '/CN=Middle Two' });
  const leaf = make.issue('leaf2', { by: middle, names: ['DNS:a.example'] });
  expect(await words(await serve(leaf))).toBe(
    'TLS: issuer unknown: CN=Middle Two; the origin sends its own certificate alone: the chain is incomplete unless that issuer is a root',
  );
  expect(await words(await serve({ cert: leaf.cert + middle.cert, key: leaf.key }))).toBe('connected');
  // An authority that the operator names need not be a root.
  expect(await words(await serve(leaf), {}, { ca: middle.cert })).toBe('connected');
});

it('says that a certificate has another purpose', async () => {
  const leaf = make.issue('client-only', {
    by: root,
    names: ['DNS:a.example'],
    extensions: ['extendedKeyUsage=clientAuth'],
  });
  expect(await words(await serve(leaf))).toBe('TLS: wrong purpose: the certificate is not for servers');
});

it('says that an issuer is no authority', async () => {
  const leaf = make.issue('by-leaf', { by: good, names: ['DNS:a.example'] });
  expect(await words(await serve({ cert: leaf.cert + good.cert, key: leaf.key }))).toBe(
    'TLS: issuer is no authority: CN=good must not sign certificates',
  );
});

it('says that a chain is longer than an authority allows', async () => {
  const one = make.issue('zero', {
    by: root,
    extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0'],
  });
  const two = make.authority('two', { by: one });
  const leaf = make.issue('deep', { by: two, names: ['DNS:a.example'] });
  expect(await words(await serve({ cert: leaf.cert + two.cert + one.cert, key: leaf.key }))).toBe(
    'TLS: issuer is no authority: the chain is longer than one of it allows',
  );
});

it('says that a key or a signature is weak', async () => {
  const names = ['DNS:a.example'];
  const short = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:768'];
  const leaf = make.issue('short', { by: root, names, key: short });
  const lax = { ciphers: 'DEFAULT@SECLEVEL=0' };
  expect(await words(await serve(leaf, lax))).toMatch(/^TLS: weak key/);
  const old = make.issue('sha1', { by: root, names, digest: 'sha1' });
  expect(await words(await serve(old, lax))).toMatch(/^TLS: weak signature/);
});

it('says that a server does not speak TLS', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  expect(await words(await listen(server))).toMatch(/^TLS: not TLS at all: /);
});

it('says that a server answers before it is spoken to', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.example ESMTP\r\n');
  });
  expect(await words(await listen(server))).toMatch(/^TLS: not TLS at all: /);
});

it('says that the connection was closed, reset, or silent', async () => {
  const closing = createTcpServer((socket) =>
    socket.once('data', () => socket.end()).on('error', () => undefined),
  );
  expect(await words(await listen(closing))).toBe(
    'TLS: the origin closed the connection during the handshake',
  );
  const resetting = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  expect(await words(await listen(resetting))).toBe(
    'TLS: the origin closed the connection during the handshake',
  );
  const silent = createTcpServer((socket) => cleanup.push(() => socket.destroy()));
  expect(await words(await listen(silent), {}, {}, 0.1)).toBe('TLS: handshake timed out');
});

it('leaves failures of the connection as they are', async () => {
  const port = await listen(createTcpServer());
  await new Promise((done) => servers.pop()?.close(done));
  expect(await connect(port)).toMatchObject({ code: 'ECONNREFUSED', errno: 111 });
});

it('names alerts', async () => {
  const old = await serve(good, {
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  expect(await words(old)).toBe('TLS: alert 70 (protocol version: it speaks neither TLS 1.2 nor 1.3)');
  const ciphers = await serve(good, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA256' });
  expect(await words(ciphers)).toMatch(/^TLS: alert 40 \(handshake failure: /);
  const alpn = await serve(good, { ALPNProtocols: ['h2'] });
  expect(await words(alpn)).toBe('TLS: alert 120 (no application protocol: it does not speak HTTP/1.1)');
  const client = await serve(good, { requestCert: true, ca: root.cert, maxVersion: 'TLSv1.2' });
  expect(await words(client)).toMatch(/^TLS: alert 40 \(.*client certificate/);
});

const NUMBERS = [
  ...[10, 20, 22, 30, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 60, 70, 71, 80, 86, 90, 100],
  ...[109, 110, 112, 113, 115, 116, 120],
];

it.each(NUMBERS)('has words for alert %i', async (number) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, number])));
  });
  expect(await words(await listen(server))).toMatch(new RegExp(`^TLS: alert ${number} \\([a-z].*\\)$`));
});
