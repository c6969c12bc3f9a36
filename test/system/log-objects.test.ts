// proxylog-json beside a running daemon: an object for each way that a request can go, groups, probes and files, and the
// examples of its manual page, which jq evaluates where it is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OBJECT_EXAMPLES } from '../../console/documents/objects-page.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { type Finished, findProgram, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxylog-json');
let origin: Origin;
let proxy: RunningProxy;

interface Message {
  headers: Record<string, string>;
  url?: string;
  method?: string;
  proto: string;
  status?: number;
  hdrBytes: number;
  bodyBytes: number;
}
type LogObject = Record<string, unknown> & { req: Message; resp: Message };

const json = (...args: string[]): Promise<Finished> =>
  run(process.execPath, [join(ROOT, 'dist/console/bin/proxylog-json.js'), '-n', proxy.dir, ...args]);

async function objects<T = LogObject>(...args: string[]): Promise<T[]> {
  const { code, stdout, stderr } = await json('-d', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(Buffer.from(line, 'latin1').toString('utf8')));
}

/** Objects of requests for a URL. */
const ofUrl = (url: string, ...args: string[]): Promise<LogObject[]> =>
  objects('-q', `ReqURL eq "${url}" or BereqURL eq "${url}"`, ...args);

beforeAll(async () => {
  origin = await Origin.start();
  const cacheable = { 'Cache-Control': 'max-age=100', 'X-Two': 'a' };
  origin.on('*', respond('200 OK', cacheable, 'hello\n'));
  origin.on('/cookies', [
    { send: 'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n' },
  ]);
  origin.on('/page', respond('200 OK', cacheable, '<esi:include src="/part"/>'));
  origin.on('/broken', [{ close: true }]);
  origin.on('/tunnel', [{ send: 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ntunnelled' }, { close: true }]);
  origin.on('/probe', [...respond('200 OK', { Connection: 'close' }), { close: true }]);
  proxy = await startProxy(box, {
    program: `vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; .probe = { .url = "/probe"; .interval = 100ms; } }
sub vcl_recv {
  set req.http.X-Added = "by the program";
  if (req.url == "/pass") { return (pass); }
  if (req.url == "/tunnel") { return (pipe); }
  if (req.url == "/synth") { return (synth(418, "Teapot")); }
  if (req.url == "/fail") { return (fail); }
  if (req.url == "/logs") { std.log("first: 1"); std.log("second: 2"); }
}
sub vcl_backend_fetch { if (bereq.url == "/abandon") { return (abandon); } }
sub vcl_backend_response {
  set beresp.http.X-Seen = "1";
  if (bereq.url == "/page") { set beresp.do_esi = true; }
}
sub vcl_deliver { unset resp.http.X-Two; set resp.http.X-Last = "1"; }`,
    params: { feature: '+http2' },
  });
  await proxy.logged('Went healthy', '-g', 'raw', '-i', 'Backend_health');
  // Which of the two comes first in the log is tested.
  await proxy.get('/a');
  await proxy.requestsLogged(1);
  for (const url of ['/a', '/pass', '/synth', '/fail', '/logs', '/abandon', '/broken', '/cookies'])
    await proxy.get(url);
  await proxy.get('/page');
  await exchange({ port: proxy.port }, 'GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await exchange({ port: proxy.port }, 'GET /odd HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  const client = await Http2Client.connect(proxy.port);
  await client.get('/over-two');
  client.close();
  await proxy.requestsLogged(13);
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

describe('proxylog-json', () => {
  it.each([
    ['/a', ['miss', 'hit']],
    ['/pass', ['pass']],
    ['/tunnel', ['pipe']],
    ['/synth', ['synth']],
    ['/fail', ['fail']],
    ['/abandon', ['synth']],
    ['/broken', ['miss']],
    ['/over-two', ['miss']],
  ])('says how %s was handled', async (url, handling) => {
    expect((await ofUrl(url)).map((o) => o.handling)).toEqual(handling);
  });

  it('shows a request as it came and the response as it left', async () => {
    const [first] = await ofUrl('/a');
    expect(first).toMatchObject({ side: 'client', vcl: 'boot', req: { method: 'GET', proto: 'HTTP/1.1' } });
    expect(first?.req.headers).not.toHaveProperty('x-added');
    expect(first?.resp).toMatchObject({
      status: 200,
      bodyBytes: 6,
      headers: { 'x-last': '1', 'x-seen': '1' },
    });
    expect(first?.resp.headers).not.toHaveProperty('x-two');
    expect(first?.client).toMatchObject({ rAddr: '127.0.0.1', sock: 'a0' });
    expect(first?.links).toEqual([{ type: 'bereq', id: expect.any(String), reason: 'fetch' }]);
  });

  it('shows a fetch as it went and the response as it came', async () => {
    const [fetch] = await ofUrl('/a', '-b');
    expect(fetch).toMatchObject({
      side: 'backend',
      handling: 'fetch',
      storage: 'malloc s0',
      backend: { name: 'default', rAddr: '127.0.0.1', rPort: origin.port },
    });
    expect(fetch?.req.headers).toMatchObject({ 'x-added': 'by the program' });
    expect(fetch?.resp.headers).toMatchObject({ 'x-two': 'a' });
    expect(fetch?.resp.headers).not.toHaveProperty('x-seen');
    expect(fetch).not.toHaveProperty('client');
  });

  it('has the values of Set-Cookie as a list', async () => {
    const [fetch] = await ofUrl('/cookies', '-b');
    expect(fetch?.resp).toMatchObject({ 'set-cookie': ['a=1', 'b=2'] });
  });

  it('has what the program logged, and errors', async () => {
    expect((await ofUrl('/logs'))[0]?.logs).toEqual(['first: 1', 'second: 2']);
    const [broken] = await ofUrl('/broken', '-b');
    expect(broken).toMatchObject({ handling: 'error', resp: { status: 503 } });
    expect(broken?.errors).toContainEqual(expect.any(String));
  });

  it('has no handling of a request that the program has not seen', async () => {
    const odd = (await objects()).find((o) => o.resp.status === 400);
    expect(odd).toBeDefined();
    expect(odd).not.toHaveProperty('handling');
  });

  it('shows fragments of pages with -E alone, and both sides with -b and -c', async () => {
    const urls = async (...args: string[]): Promise<unknown[]> =>
      (await objects(...args)).map((o) => [o.side, o.req.url]);
    expect(await urls()).not.toContainEqual(['client', '/part']);
    expect(await urls('-E')).toContainEqual(['client', '/part']);
    const both = await urls('-b', '-c');
    expect(both).toContainEqual(['backend', '/part']);
    expect(both).toContainEqual(['client', '/page']);
    expect(both).not.toContainEqual(['client', '/part']);
  });

  it('has a list for each group with -g request', async () => {
    const [group] = await objects<LogObject[]>('-g', 'request', '-q', 'ReqURL eq "/page"');
    expect(group?.map((o) => [o.side, o.req.url])).toEqual(
      expect.arrayContaining([
        ['client', '/page'],
        ['backend', '/page'],
        ['client', '/part'],
        ['backend', '/part'],
      ]),
    );
  });

  it('has an object for each probe with -g probe', async () => {
    const healthy = { name: 'default', event: 'Went', state: 'healthy', answer: 'HTTP/1.1 200 OK' };
    const probes = await objects<Record<string, unknown>>('-g', 'probe');
    expect(probes).toContainEqual(expect.objectContaining(healthy));
  });

  it('leaves out members whose records are left out', async () => {
    const [only] = await ofUrl('/a', '-i', 'ReqURL,RespStatus');
    expect(only).toEqual({
      req: { url: '/a' },
      resp: { status: 200 },
      side: 'client',
      id: expect.any(String),
      timeline: [],
      links: [],
      logs: [],
    });
    expect((await ofUrl('/a', '-x', 'Timestamp'))[0]).toMatchObject({ timeline: [], handling: 'miss' });
  });

  it('ends after as many transactions as -k says', async () => {
    expect(await objects('-k', '2')).toHaveLength(2);
  });

  it('writes into a file of its user, which it appends to with -a', async () => {
    const file = box.path('objects');
    expect((await json('-d', '-q', 'ReqURL eq "/pass"', '-w', file)).code).toBe(0);
    expect((await json('-d', '-q', 'ReqURL eq "/synth"', '-a', '-w', file)).code).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).handling)).toEqual(['pass', 'synth']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('reads a recording', async () => {
    const file = box.path('recording');
    const made = await run(process.execPath, [
      ...[join(ROOT, 'dist/console/bin/proxylog.js'), '-n', proxy.dir],
      ...['-d', '-g', 'request', '-w', file],
    ]);
    expect(made.code).toBe(0);
    const script = join(ROOT, 'dist/console/bin/proxylog-json.js');
    const read = await run(process.execPath, [script, '-r', file, '-q', 'ReqURL eq "/pass"']);
    expect(JSON.parse(read.stdout).handling).toBe('pass');
  });

  it('in the background writes what comes', async () => {
    const [file, pidFile] = [box.path('live'), box.path('pid')];
    const started = await json('-D', '-w', file, '-P', pidFile);
    expect(started).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    box.adopt(pid);
    await proxy.get('/live');
    await until('the object', () => existsSync(file) && readFileSync(file, 'utf8').includes('"/live"'));
    process.kill(pid, 'SIGTERM');
    await until('the end', () => !existsSync(pidFile));
  });

  it.each(['session', 'raw', 'odd'])('does not group by %s', async (grouping) => {
    const { code, stderr } = await json('-g', grouping);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/grouping (mode|type): /)]);
  });

  it.skipIf(findProgram('jq') === null).each(OBJECT_EXAMPLES)('is read by jq: $text', async (example) => {
    const { options, script } = example;
    const { stdout } = await json('-d', ...options.split(' ').filter((word) => word !== '' && word !== '-d'));
    const done = spawnSync('jq', ['-r', script], { input: Buffer.from(stdout, 'latin1'), encoding: 'utf8' });
    expect([done.status, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(/^[^\t\n]+\t/);
  });
});
