// A runtime that lacks every interface that is used beyond the published ones: traffic of each kind is served all the
// same, over sockets and with one thread, and the daemon says at its start which are missing and what that costs.
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issue } from '../harness/certificates.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';
import { clientHello, tlsRequest } from '../harness/tls-client.ts';
import { pemFile, ports } from '../harness/tls-proxy.ts';

const BODY = 'x'.repeat(300_000);
const PAGE = '<p>a text that is longer than what is stored unpacked<esi:remove>gone</esi:remove></p>'.repeat(
  100,
);

describe('without private interfaces of the runtime', () => {
  const box = new Sandbox('proxyd-private-interfaces');
  let origin: Origin;
  let proxy: RunningProxy;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('/large', respond('200 OK', { 'Cache-Control': 'max-age=100' }, BODY));
    origin.on('/pass', respond('200 OK', {}, 'passed'));
    origin.on('/page', respond('200 OK', {}, PAGE));
    process.env.PROXYD_PRIVATE_INTERFACES = 'off';
    proxy = await startProxy(box, {
      program: `vcl 4.1;
        backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
        sub vcl_recv {
          if (req.url == "/pipe") { return (pipe); }
          if (req.url == "/pass") { return (pass); }
        }
        sub vcl_backend_response {
          if (bereq.url == "/page") { set beresp.do_esi = true; set beresp.do_gzip = true; }
        }`,
      params: { worker_threads: '2' },
      args: ['-a', 'tls=127.0.0.1:0,HTTPS', '--cert', pemFile(box, issue({ names: ['a.example'] }))],
    }).finally(() => {
      delete process.env.PROXYD_PRIVATE_INTERFACES;
    });
  });
  afterAll(async () => {
    await proxy?.stop();
    await origin?.close();
    box.dispose();
  });

  it('names what is missing, and the cost', () => {
    for (const name of [
      ...['connection handles', 'socket handles', 'listener handles', 'direct socket writes'],
      ...['zlib handles', 'TLS failures', 'contexts to add to', 'destroy hooks'],
    ])
      expect(proxy.daemon.stderr).toMatch(new RegExp(`Warning: Node v\\S+ has no ${name}: \\w`));
  });

  it('serves misses, hits and ranges', async () => {
    for (const kind of ['miss', 'hit']) {
      const response = await proxy.get('/large');
      expect([kind, response.status, response.body.length]).toEqual([kind, 200, BODY.length]);
    }
    const part = await proxy.get('/large', { fields: { Range: 'bytes=5-9' } });
    expect([part.status, part.body.toString()]).toEqual([206, 'xxxxx']);
    expect(origin.seen('/large')).toHaveLength(1);
  });

  it('packs pages of edge-side includes', async () => {
    const { body } = await proxy.get('/page', { fields: { 'Accept-Encoding': 'gzip' } });
    expect(gunzipSync(body).toString()).toBe(PAGE.replaceAll(/<esi:remove>.*?<.esi:remove>/g, ''));
  });

  it('speaks TLS, and a client that resets the connection has gone away', async () => {
    const { tls = 0 } = await ports(proxy);
    expect((await tlsRequest(tls, { path: '/large' })).body.length).toBe(BODY.length);
    const hello = await clientHello();
    for (let i = 0; i < 5; i++) {
      const socket = connect(tls, '127.0.0.1');
      socket.write(hello);
      await new Promise((resolve) => socket.once('data', resolve));
      socket.resetAndDestroy();
    }
    await until('all have failed', async () => (await proxy.counters())['TLS.failed'] === 5);
    expect((await proxy.counters())['TLS.failed_closed']).toBe(5);
    expect(await proxy.log('-g', 'raw', '-i', 'TLS')).not.toMatch(/broken|econnreset/i);
  });

  it('passes bodies both ways, on one connection', async () => {
    const connection = await ClientConnection.open(proxy.port);
    for (let i = 0; i < 3; i++) {
      connection.send(`POST /pass HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
      const response = await connection.response('POST');
      expect([response.status, response.body.toString()]).toEqual([200, 'passed']);
    }
    connection.close();
    expect(origin.seen('/pass').map((r) => r.body.toString() === BODY)).toEqual([true, true, true]);
  });

  it('pipes', async () => {
    origin.on('/pipe', respond('200 OK', {}, 'piped'));
    const response = await proxy.get('/pipe');
    expect([response.status, response.body.toString()]).toEqual([200, 'piped']);
  });
});
