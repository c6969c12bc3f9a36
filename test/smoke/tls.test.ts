// A listener that speaks TLS: traffic of each kind through it, which certificate is presented, sessions that are resumed,
// and what log, counters and program know of the connection.
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectNet } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issue } from '../harness/certificates.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { refusal, tlsConnect, tlsRequest } from '../harness/tls-client.ts';

const box = new Sandbox('proxyd-smoke-tls');
const FRESH = { 'Cache-Control': 'max-age=100' };
const LARGE = Buffer.alloc(3_000_000);
for (let i = 0; i < LARGE.length; i++) LARGE[i] = (i * 7 + (i >> 8)) & 255;
let origin: Origin;
let proxy: RunningProxy;
let tls = 0;
let preamble = 0;

beforeAll(async () => {
  origin = await Origin.start();
  const certificate = (name: string, ...names: string[]): string => {
    const { cert, key } = issue({ subject: name, names });
    const file = box.path(`${name}.pem`);
    writeFileSync(file, cert + key, { mode: 0o600 });
    return file;
  };
  const files = [
    certificate('first', 'a.example'),
    certificate('wild', '*.b.example'),
    certificate('exact', 'www.b.example'),
  ];
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `
import tls;
import std;
sub vcl_recv {
  if (req.url == "/facts") { return (synth(200)); }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/tube") { return (pipe); }
}
sub vcl_synth {
  set resp.http.is = tls.is_tls();
  set resp.http.version = tls.version();
  set resp.http.cipher = tls.cipher();
  set resp.http.authority = tls.authority();
  set resp.http.alpn = tls.alpn();
  set resp.http.ja3 = tls.ja3();
  set resp.http.sign = tls.cert_sign();
  set resp.http.key = tls.cert_key();
  set resp.http.client = client.ip;
}
sub vcl_backend_response { set beresp.http.origins = tls.is_tls(); if (bereq.url == "/page") { set beresp.do_esi = true; } }`,
    ),
    params: { tls_ja3: 'on' },
    args: [
      ...['-a', 'tls=127.0.0.1:0,HTTPS', '-a', 'pre=127.0.0.1:0,HTTPS,PROXY'],
      ...files.flatMap((file) => ['--cert', file]),
    ],
  });
  const listed = (await proxy.adm('listen.list')).stdout;
  const port = (name: string): number => Number(new RegExp(`^${name} \\S+ (\\d+)`, 'm').exec(listed)?.[1]);
  tls = port('tls');
  preamble = port('pre');
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('traffic over TLS', () => {
  it('is stored and hit', async () => {
    origin.on('/hit', respond('200 OK', FRESH, 'cached'));
    expect((await tlsRequest(tls, { path: '/hit' })).body.toString()).toBe('cached');
    const hit = await tlsRequest(tls, { path: '/hit' });
    expect([hit.status, hit.body.toString()]).toEqual([200, 'cached']);
    expect(hit.fields['x-proxy-id']).toMatch(/^\d+ \d+$/);
    expect(origin.seen('/hit')).toHaveLength(1);
  });

  it('brings large bodies byte by byte, down and up', async () => {
    origin.on('/large', respond('200 OK', FRESH, LARGE));
    for (let i = 0; i < 2; i++)
      expect((await tlsRequest(tls, { path: '/large' })).body.equals(LARGE)).toBe(true);
    const range = await tlsRequest(tls, { path: '/large', lines: ['Range: bytes=1000000-1999999'] });
    expect([range.status, range.body.equals(LARGE.subarray(1_000_000, 2_000_000))]).toEqual([206, true]);
    origin.on('/pass/up', respond('200 OK', {}, 'taken'));
    await tlsRequest(tls, { path: '/pass/up', method: 'POST', body: LARGE });
    expect(origin.seen('/pass/up')[0]?.body.equals(LARGE)).toBe(true);
  });

  it('has pages of fragments, and answers many requests of one connection in order', async () => {
    origin.on('/page', respond('200 OK', FRESH, '<p><esi:include src="/part"/></p>'));
    origin.on('/part', respond('200 OK', FRESH, 'b'));
    expect((await tlsRequest(tls, { path: '/page' })).body.toString()).toMatch(/<p>[^<]*b<\/p>/);
    const socket = await tlsConnect(tls);
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    for (let i = 0; i < 200; i++) {
      origin.on(`/n${i}`, respond('200 OK', FRESH, `<${i}>`));
      socket.write(`GET /n${i} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
    }
    await until('all answers', () => text.includes('<199>'));
    expect(text.match(/<\d+>/g)).toEqual(Array.from({ length: 200 }, (_, i) => `<${i}>`));
    socket.destroy();
  });

  it('can be a pipe', async () => {
    origin.on('/tube', [
      { send: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nwelcome' },
      { close: true },
    ]);
    const socket = await tlsConnect(tls);
    socket.write('GET /tube HTTP/1.1\r\nHost: a.example\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    await new Promise((resolve) => socket.once('end', resolve));
    expect(text).toMatch(/^HTTP\/1.1 101[\s\S]*welcome$/);
    socket.destroy();
  });

  it('is read by the runtime’s https client, with keep-alive', async () => {
    const status = await new Promise((resolve, reject) => {
      request(
        { port: tls, host: '127.0.0.1', path: '/hit', servername: 'a.example', rejectUnauthorized: false },
        (answer) => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode));
        },
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });
});

describe('the handshake', () => {
  it('presents the certificate of the name: exact, wildcard, else the first', async () => {
    const of = async (servername: string): Promise<string> => (await tlsRequest(tls, { servername })).subject;
    expect(await of('www.b.example')).toBe('exact');
    expect(await of('WWW.b.example')).toBe('exact');
    expect(await of('img.b.example')).toBe('wild');
    expect(await of('a.example')).toBe('first');
    expect(await of('other.example')).toBe('first');
    expect(await of('')).toBe('first');
  });

  it('speaks 1.2 and 1.3 and nothing older, and resumes', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const only = { minVersion: version, maxVersion: version };
      const first = await tlsRequest(tls, only);
      expect([first.version, first.resumed]).toEqual([version, false]);
      const again = await tlsRequest(tls, { ...only, ...(first.session && { session: first.session }) });
      expect([again.status, again.resumed]).toEqual([first.status, true]);
    }
    expect(
      await refusal(tls, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    ).not.toBe('');
    expect(await refusal(tls, { ALPNProtocols: ['nonsense'] })).not.toBe('');
    expect((await tlsRequest(tls, { ALPNProtocols: ['nonsense', 'http/1.1'] })).alpn).toBe('http/1.1');
  });

  it('is known to the program, the log and the counters', async () => {
    const { fields } = await tlsRequest(tls, {
      path: '/facts',
      servername: 'www.b.example',
      ALPNProtocols: ['http/1.1'],
    });
    expect(fields).toMatchObject({
      is: 'true',
      version: 'TLSv1.3',
      cipher: expect.stringMatching(/^TLS_AES_/) as string,
      authority: 'www.b.example',
      alpn: 'http/1.1',
      ja3: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      sign: 'ecdsa-with-SHA256',
      key: 'EC256',
    });
    const plain = await proxy.get('/facts');
    expect(plain.fields.find(([name]) => name === 'is')?.[1]).toBe('false');
    const log = await proxy.logged(
      'www.b.example http/1.1 full',
      '-g',
      'session',
      '-q',
      'TLS ~ "www.b.example http/1.1"',
    );
    expect(log).toMatch(/Begin +sess 0 TLS\n/);
    expect(log).toMatch(/TLS +TLSv1\.3 TLS_AES_\w+ www\.b\.example http\/1\.1 full\n/);
    const counters = await proxy.counters();
    expect(counters['TLS.handshakes']).toBe((counters['TLS.full'] ?? 0) + (counters['TLS.resumed'] ?? 0));
    expect(counters['TLS.resumed']).toBeGreaterThanOrEqual(2);
    expect(counters['TLS.certs']).toBe(3);
  });

  it('follows a PROXY preamble, whose addresses count', async () => {
    const socket = connectNet(preamble, '127.0.0.1');
    socket.write('PROXY TCP4 192.0.2.7 192.0.2.8 1234 443\r\n');
    const { fields } = await tlsRequest(preamble, { path: '/facts', socket });
    expect(fields).toMatchObject({ client: '192.0.2.7', is: 'true' });
    await proxy.logged(/sess 0 TLS\+PROXY[\s\S]*1 192\.0\.2\.7 1234 192\.0\.2\.8 443/, '-g', 'session');
  });
});

describe('what is no TLS', () => {
  it('gets a 400 in words on a TLS port, and TLS gets one on a plain port', async () => {
    const plain = await ClientConnection.open(tls);
    plain.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const answer = await plain.response();
    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toMatch(/speaks TLS/);
    plain.close();
    const other = await ClientConnection.open(proxy.port);
    other.send(Buffer.from('16030100050100000103', 'hex'));
    const words = await other.response();
    expect(words.status).toBe(400);
    expect(words.body.toString()).toMatch(/plain HTTP/);
    other.close();
    await proxy.logged('request refused: it is TLS', '-g', 'raw');
    await proxy.logged('failed - a plain HTTP request', '-g', 'raw');
    const counters = await proxy.counters();
    expect(counters['TLS.failed_plain']).toBe(1);
    expect(counters['MAIN.refused_tls']).toBe(1);
  });
});
