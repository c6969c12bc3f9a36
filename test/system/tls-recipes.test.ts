// The programs of daemon/tls/LISTENERS.md, as they stand there but for their ports, beside each other: clients by their
// certificates, and a listener that sends to the other one. And what passes through a balancer that tells who the client is.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Issued, issue } from '../harness/certificates.ts';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { tlsRequest } from '../harness/tls-client.ts';
import { pemFile, ports } from '../harness/tls-proxy.ts';

const box = new Sandbox('proxyd-tls-recipes');
const page = readFileSync(join(ROOT, 'daemon/tls/LISTENERS.md'), 'utf8');

/** The program of the page that has this text. */
function recipe(part: string): string {
  const found = [...page.matchAll(/```vcl\n([\s\S]*?)```/g)].map((m) => m[1] as string);
  const [program] = found.filter((text) => text.includes(part));
  if (program === undefined) throw new Error(`no program of the page has ${part}`);
  return program;
}

let origin: Origin;
let proxy: RunningProxy;
let at: Record<string, number>;
let clients: Issued;

async function use(name: string, program: string): Promise<void> {
  const file = box.path(`${name}.vcl`);
  writeFileSync(file, program.replace('"8080"', `"${origin.port}"`).replace('== 80)', `== ${at.plain})`));
  for (const words of [
    ['vcl.load', name, file],
    ['vcl.use', name],
  ]) {
    const done = await proxy.adm(...words);
    expect(done.stdout + done.stderr).not.toContain('error code');
  }
}

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ head }) =>
    respond(
      '200 OK',
      { 'Cache-Control': 'no-store' },
      head
        .split('\r\n')
        .filter((l) => /^x-/i.test(l))
        .sort()
        .join('\n'),
    ),
  );
  clients = issue({ subject: 'clients', isAuthority: true });
  const caFile = box.path('ca');
  writeFileSync(caFile, clients.cert);
  const conf = box.path('conf');
  writeFileSync(
    conf,
    `frontend = {\n name = "tls"\n host = "127.0.0.1"\n port = "0"\n client-verify = optional\n client-verify-ca = "${caFile}"\n}\n` +
      `pem-file = "${pemFile(box, issue({ names: ['a.example'] }))}"\n`,
  );
  proxy = await startProxy(box, {
    program: 'vcl 4.1; backend none none;',
    args: ['-a', 'plain=127.0.0.1:0', '-a', 'balanced=127.0.0.1:0,PROXY', '-A', conf],
  });
  at = await ports(proxy);
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

it('an API wants a certificate, pages do not, and a client cannot say who it is', async () => {
  await use('mutual', recipe('tls.client_cert_verified'));
  const partner = issue({ subject: 'partner' }, clients);
  const stranger = issue({ subject: 'stranger' });
  const show = ({ cert, key }: Issued) => ({ cert, key });
  const lines = ['X-Client: CN=partner'];
  const port = at.tls as number;
  const page = await tlsRequest(port, { path: '/', lines });
  expect([page.status, page.body.toString()]).toEqual([200, expect.not.stringContaining('X-Client')]);
  expect((await tlsRequest(port, { path: '/api/a', lines })).status).toBe(403);
  expect((await tlsRequest(port, { path: '/api/a', lines, ...show(stranger) })).status).toBe(403);
  const known = await tlsRequest(port, { path: '/api/a', lines: ['X-Client: CN=boss'], ...show(partner) });
  expect([known.status, known.body.toString()]).toEqual([
    200,
    expect.stringMatching(/^X-Client: CN=partner$/m),
  ]);
  expect(known.body.toString()).not.toContain('boss');
});

it('the plain listener sends to the other one, which says that it is https', async () => {
  await use('redirect', recipe('synth(301)'));
  const from = await ClientConnection.open(at.plain as number);
  from.send('GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
  const sent = await from.response();
  from.close();
  expect([sent.status, field(sent, 'Location')]).toEqual([301, 'https://a.example/a?b=c']);
  const there = await tlsRequest(at.tls as number, { path: '/a?b=c', lines: ['X-Forwarded-Proto: http'] });
  expect([there.status, there.body.toString()]).toEqual([
    200,
    expect.stringMatching(/^X-Forwarded-Proto: https$/m),
  ]);
});

it('a balancer that terminates TLS sends the client and the server name by PROXY', async () => {
  await use(
    'balanced',
    `vcl 4.1; import proxy; backend default { .host = "127.0.0.1"; .port = "8080"; }
sub vcl_recv { set req.http.X-Name = proxy.authority(); set req.http.X-Ip = client.ip; return (pass); }`,
  );
  const name = Buffer.from('a.example');
  const more = Buffer.concat([Buffer.from([0x02, 0, name.length]), name]);
  const addresses = Buffer.from([192, 0, 2, 1, 192, 0, 2, 2, 0x30, 0x39, 0x01, 0xbb]);
  const length = Buffer.from([0, addresses.length + more.length]);
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
  const connection = await ClientConnection.open(at.balanced as number);
  connection.send(Buffer.concat([signature, Buffer.from([0x21, 0x11]), length, addresses, more]));
  connection.send('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
  const { status, body } = await connection.response();
  connection.close();
  expect(status).toBe(200);
  expect(body.toString()).toMatch(/^X-Ip: 192\.0\.2\.1\nX-Name: a\.example/m);
});
