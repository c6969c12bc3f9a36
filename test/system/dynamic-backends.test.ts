// Backends by names that are looked up, patterns and places of addresses, in a running proxy. Black box: only dist/ and its
// commands.
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { locationDatabase } from '../harness/location-database.ts';
import { CertificateMaker } from '../harness/origin-certificates.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-dynamic');

async function origin(answer: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.end(`${answer} ${request.headers.host ?? ''}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}
const origins = [await origin('a'), await origin('b')];
const [a = '', b = ''] = origins.map((server) => String((server.address() as AddressInfo).port));

const make = new CertificateMaker(box.path('pem'));
const root = make.authority('root');
const { cert, key } = make.issue('local', { by: root, names: ['DNS:localhost'] });
/** Says which name it was asked for. */
const secure = createTlsServer({ cert, key }, ({ socket, headers }, response) => {
  const { servername } = socket as unknown as { servername: string | false };
  response.setHeader('Cache-Control', 'no-store');
  response.end(`s ${servername} ${headers.host ?? ''}`);
});
await new Promise<void>((resolve) => {
  secure.listen(0, '127.0.0.1', resolve);
});
const s = String((secure.address() as AddressInfo).port);

const places = box.path('places.mmdb');
writeFileSync(
  places,
  locationDatabase({ '127.0.0.0/8': new Map([['country', new Map([['iso_code', 'XX']])]]) }),
);

const PROGRAM = `vcl 4.1;
import directors; import dynamic; import geoip2; import goto; import re2;
backend none none;
backend secure { .host = "127.0.0.1"; .port = "${s}"; .ssl = 1; .ssl_ca = "${root.certFile}"; }
acl local { "127.0.0.0"/8; }
sub vcl_init {
  new d = dynamic.director(port = "${a}", whitelist = local, retry_after = 60s);
  new t = dynamic.director(port = "${s}", whitelist = local, tls = secure);
  new rr = directors.round_robin();
  rr.add_backend(d.backend("localhost", "${b}"));
  new app = re2.set(anchor = start);
  app.add("/layered", backend = rr.backend());
  app.add("/any");
  new db = geoip2.geoip2("${places}");
}
sub vcl_recv {
  if (req.url == "/pipe") { return (pipe); }
  return (pass);
}
sub vcl_pipe { set bereq.backend = d.backend("localhost"); }
sub vcl_backend_fetch {
  if (bereq.url == "/tls") { set bereq.backend = t.backend(bereq.http.to); }
  else if (bereq.url == "/goto") { set bereq.backend = goto.dns_backend(bereq.http.to, local, "${s}", tls = secure); }
  else if (app.match(bereq.url) && app.saved(BE, select = FIRST)) { set bereq.backend = app.backend(select = FIRST); }
  else { set bereq.backend = d.backend(bereq.http.to); }
}
sub vcl_deliver { set resp.http.place = db.lookup("country/iso_code", client.ip); }`;

let proxy: RunningProxy;
beforeAll(async () => {
  // The list shows the hosts that the first thread was asked for.
  proxy = await startProxy(box, { program: PROGRAM, params: { worker_threads: '1', vcc_err_unref: 'off' } });
});
afterAll(async () => {
  for (const server of [...origins, secure]) server.close();
  await box.dispose();
});

const answer = async (path: string, fields: Record<string, string> = {}): Promise<string> => {
  const got = await proxy.get(path, { fields });
  return `${got.status} ${got.body.toString().slice(0, 1)}`;
};
const listed = async (): Promise<string> => (await proxy.adm('backend.list')).stdout;

it('a pipe waits for the first lookup of a host', async () => {
  expect(await answer('/pipe')).toBe('200 a');
});

it('a fetch waits for the first lookup, and others use the same backend', async () => {
  expect(await answer('/any', { to: 'LOCALHOST' })).toBe('200 a');
  expect(await answer('/any', { to: '127.0.0.1' })).toBe('200 a');
  const list = await listed();
  expect(list).toMatch(new RegExp(`^boot\\.d\\(localhost:${a}\\) +probe +1/1 +healthy`, 'm'));
  expect(list).toMatch(new RegExp(`^boot\\.d\\(127\\.0\\.0\\.1:${a}\\) `, 'm'));
  expect((await proxy.counters())[`VBE.boot.d(127.0.0.1:${a}).req`]).toBeGreaterThanOrEqual(2);
});

it('a host within another director, chosen by a set of patterns, is used too', async () => {
  expect(await answer('/layered')).toBe('200 b');
});

it('a host without an address, or with one that is not allowed, is no backend, and the log says why', async () => {
  expect((await answer('/any', { to: 'nothing.invalid' })).slice(0, 3)).toBe('503');
  expect((await answer('/any', { to: '192.0.2.1' })).slice(0, 3)).toBe('503');
  for (const text of [
    /vmod-dynamic boot d nothing\.invalid:\d+ getaddrinfo E\w+/,
    /vmod-dynamic boot d 192\.0\.2\.1:\d+ whitelist mismatch 192\.0\.2\.1/,
    /Director d\(nothing\.invalid:\d+\) returned no backend/,
  ])
    await proxy.logged(text, '-g', 'raw', '-i', 'Error,FetchError');
});

it.each(['/tls', '/goto'])(
  'hosts are spoken to over TLS as a backend of the program is, each by its own name: %s',
  async (path) => {
    const got = await proxy.get(path, { fields: { to: 'LOCALHOST' } });
    expect(got.body.toString()).toBe('s localhost example.test');
    // The certificate has no such name.
    expect((await answer(path, { to: '127.0.0.1' })).slice(0, 3)).toBe('503');
    await proxy.logged('TLS: name 127.0.0.1 is not among localhost', '-g', 'raw', '-i', 'FetchError');
  },
);

it('the place of a client is that of the file', async () => {
  expect(field(await proxy.get('/any', { fields: { to: 'localhost' } }), 'place')).toBe('XX');
});

it('a program whose file cannot be read, or whose set is empty, does not load', async () => {
  const load = async (name: string, init: string): Promise<string> => {
    const text = `vcl 4.1; import re2; import geoip2; backend none none; sub vcl_init { ${init} } sub vcl_recv { return (pass); }`;
    const file = box.path(`${name}.vcl`);
    writeFileSync(file, text);
    const got = await proxy.adm('vcl.load', name, file);
    return got.stdout + got.stderr;
  };
  expect(await load('one', 'new x = geoip2.geoip2("/nowhere.mmdb");')).toContain(
    'geoip2.geoip2: /nowhere.mmdb: No such file or directory',
  );
  const tls =
    'import dynamic; backend plain { .host = "127.0.0.1"; } backend s { .host = "127.0.0.1"; .ssl = 1; .ssl_noverify = 1; }';
  const other = (init: string): string => `} ${tls} sub vcl_init { ${init}`;
  expect(await load('three', other('new x = dynamic.director(port = "https", tls = plain);'))).toContain(
    'dynamic.director x: tls has to be a backend of the program with .ssl = 1',
  );
  expect(await load('four', other('new x = dynamic.director(tls = s);'))).toContain(
    'tls at port http: use port = "https"',
  );
  expect(
    await load('five', other('new x = dynamic.director(port = "443", tls = s, via = plain);')),
  ).toContain('either via or tls');
  expect(await load('two', 'new x = re2.set();')).toContain('x set initialization: no patterns were added');
});
