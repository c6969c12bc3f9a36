// Programs for Varnish 7.2 to 9.0 in a running daemon: second tries that are refused, traces of single
// requests, parameters, and fetches that wait for a connection to an abstract socket.
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const NAME = `proxyd-newer-${process.pid}`;
const box = new Sandbox('proxyd-newer-language');
let proxy: RunningProxy;
let origin: Server;
/** Requests for /slow that have not been answered. */
const slow: Socket[] = [];

beforeAll(async () => {
  origin = createServer((socket) => {
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      // A kept connection is closed by its second request.
      if (++count > 1) socket.destroy();
      else if (bytes.toString().startsWith('GET /slow')) slow.push(socket);
      else socket.write(OK);
    });
  });
  await new Promise<void>((listening) => origin.listen(`\0${NAME}`, listening));
  const program = `vcl 4.1;
backend default { .path = "@${NAME}"; }
backend narrow { .path = "@${NAME}"; .max_connections = 1; .wait_limit = 1; .wait_timeout = 60s; }
sub vcl_recv {
  if (req.url ~ "^/slow") { set req.backend_hint = narrow; }
  if (req.url == "/traced") { set req.trace = true; }
  return (pass);
}
sub vcl_backend_fetch {
  if (bereq.url == "/once") { set bereq.retry_connect = false; }
}
sub vcl_deliver { set resp.http.ttl = param.default_ttl; set resp.http.ahead = param.transit_buffer; }`;
  proxy = await startProxy(box, { program, params: { worker_threads: '1', default_ttl: '77' } });
});
afterAll(async () => {
  await box.dispose();
  for (const socket of slow) socket.destroy();
  origin.close();
});

describe('a program for a later release', () => {
  it('reads parameters as they are now', async () => {
    expect(field(await proxy.get('/'), 'ttl')).toBe('77.000');
    await proxy.adm('param.set', 'default_ttl', '78');
    expect(field(await proxy.get('/'), 'ttl')).toBe('78.000');
    await proxy.adm('param.set', 'transit_buffer', '64k');
    expect(field(await proxy.get('/'), 'ahead')).toBe('65536');
    await proxy.adm('param.reset', 'transit_buffer');
  });

  it('refuses a second try on another connection for one fetch', async () => {
    expect((await proxy.get('/')).status).toBe(200);
    expect((await proxy.get('/once')).status).toBe(503);
    expect((await proxy.get('/')).status).toBe(200);
    // The same fetch without that statement is tried again.
    expect((await proxy.get('/twice')).status).toBe(200);
  });

  it('has one request traced, and its fetch, although vsl_mask leaves traces out', async () => {
    await proxy.get('/untraced');
    await proxy.get('/traced');
    const log = await proxy.logged(/BereqURL +\/traced/, '-g', 'request', '-q', 'ReqURL ~ "traced"');
    const [untraced = '', traced = ''] = log
      .split(/(?=\* +<< Request)/)
      .filter((one) => one.includes('ReqURL'));
    expect(untraced).toContain('/untraced');
    expect(untraced).not.toContain('VCL_trace');
    expect(traced.match(/- +VCL_trace/g)?.length).toBeGreaterThan(1);
    expect(traced).toMatch(/-- +VCL_trace/);
  });

  it('lets one fetch wait for a connection, and no more', async () => {
    const first = proxy.get('/slow/1');
    await until('the first request', () => slow.length === 1 || null);
    const second = proxy.get('/slow/2');
    await proxy.counterReaches('MAIN.backend_wait', 1);
    expect((await proxy.get('/slow/3')).status).toBe(503);
    slow[0]?.end(OK);
    expect((await first).status).toBe(200);
    await until('the second request', () => slow.length === 2 || null);
    slow[1]?.end(OK);
    expect((await second).status).toBe(200);
    expect(await proxy.counters()).toMatchObject({ 'MAIN.backend_busy': 1, 'MAIN.backend_wait_fail': 0 });
  });
});
