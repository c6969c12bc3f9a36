// std.rfc_ttl in a running proxy: the life of an object follows what the program has made of the response. Black box.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-rfc-ttl');
const origin = createServer((_request, response) => {
  response.setHeader('Cache-Control', 'max-age=5');
  response.end('text');
});
await new Promise<void>((resolve) => {
  origin.listen(0, '127.0.0.1', resolve);
});
const { port } = origin.address() as AddressInfo;

const PROGRAM = `vcl 4.1; import std;
backend d { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_backend_response {
  set beresp.http.Before = beresp.ttl;
  set beresp.http.Cache-Control = "max-age=300, stale-while-revalidate=7";
  set beresp.ttl = 1h;
  std.rfc_ttl();
  set beresp.http.After = beresp.ttl + " " + beresp.grace;
}`;

let proxy: RunningProxy;
beforeAll(async () => {
  proxy = await startProxy(box, { program: PROGRAM });
});
afterAll(async () => {
  origin.close();
  await box.dispose();
});

it('calculates ttl and grace again, and logs them', async () => {
  const answer = await proxy.get('/');
  expect(field(answer, 'before')).toBe('5.000');
  expect(field(answer, 'after')).toBe('300.000 7.000');
  await proxy.logged(/ TTL +b RFC 5 10 0 .* cacheable\n/, '-g', 'raw');
  await proxy.logged(/ TTL +b RFC 300 7 0 .* cacheable\n/, '-g', 'raw');
});
