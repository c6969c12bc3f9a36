// vcl.try: a program is tried on the requests of the log, and touches no traffic.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-program-trials');
afterAll(() => box.dispose());

let origin: Origin;
let proxy: RunningProxy;
const ROUNDS = 5;

const declared = (): string =>
  `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${origin.port}"; }\n`;
const ACTIVE = 'sub vcl_recv { if (req.url ~ "^/private") { return (pass); } }\n';

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', () => respond('200 OK', { 'cache-control': 'max-age=60', 'x-source': 'o' }, 'body'));
  proxy = await startProxy(box, { program: declared() + ACTIVE, args: ['-p', 'feature=+http2'] });
  for (let i = 0; i < ROUNDS; i++)
    for (const path of ['/page', '/private', '/admin', '/img', `/q?a=${i}`])
      await fetchOnce(proxy.port, path);
  await proxy.logged(/(?:ReqURL[\s\S]*?){25}/, '-g', 'request', '-i', 'ReqURL');
});

/** Exit code and reply. */
async function tried(program: string, ...options: string[]): Promise<[code: number | null, reply: string]> {
  const file = box.path('next.vcl');
  writeFileSync(file, program);
  const { code, stdout } = await proxy.adm('vcl.try', ...options, 'next', file);
  return [code, stdout];
}

interface Row {
  what: string;
  before: string;
  after: string;
  requests: number;
  example: { method: string; url: string };
}

async function differences(program: string): Promise<Row[]> {
  const [, body] = await tried(declared() + program, '-j');
  return (JSON.parse(body) as [number, string[], number, { differences: Row[] }])[3].differences;
}

describe('a program', () => {
  it('that is the same decides the same', async () => {
    expect(await tried(declared() + ACTIVE)).toEqual([
      0,
      expect.stringMatching(/^next decides as \S+ does about 25 requests of the last \d+ s\.$/m),
    ]);
  });

  it('with another action, key, backend, lifetime and header is reported with them', async () => {
    const before = origin.requests.length;
    const rows = await differences(`
      backend other { .host = "127.0.0.1"; .port = "1"; }
      sub vcl_recv {
        if (req.url ~ "^/admin") { return (synth(403)); }
        if (req.url ~ "^/img") { set req.backend_hint = other; }
        set req.url = regsub(req.url, "\\?.*", "");
      }
      sub vcl_backend_response { set beresp.ttl = 1h; unset beresp.http.x-source; }`);
    const about = (what: string, after: string): Row | undefined =>
      rows.find((row) => row.what === what && row.after === after);
    expect(about('action', 'hash')).toMatchObject({
      before: 'pass',
      requests: ROUNDS,
      example: { url: '/private' },
    });
    expect(about('action', 'synth')).toMatchObject({
      before: 'hash',
      requests: ROUNDS,
      example: { url: '/admin' },
    });
    expect(about('status', '403')).toMatchObject({ example: { method: 'GET', url: '/admin' } });
    expect(about('backend', 'other')).toMatchObject({ before: 'default', requests: ROUNDS });
    expect(rows.find(({ what }) => what === 'key')).toMatchObject({
      requests: ROUNDS,
      example: { url: '/q?a=4' },
    });
    expect(about('ttl', '3600')).toMatchObject({ before: '60' });
    expect(about('response header x-source', '-')).toMatchObject({ before: 'o' });
    expect(origin.requests.length).toBe(before);
    expect((await proxy.adm('vcl.list')).stdout).not.toContain('next');
  });

  it('is shown as a table', async () => {
    const [, body] = await tried(`${declared()}sub vcl_recv { if (req.url == "/page") { return (pass); } }`);
    expect(body).toMatch(
      /^next decides otherwise than \S+ about 10 of 25 requests of the last \d+ s:\n\nRequests {2}What/,
    );
    expect(body).toMatch(/^ {7}5 {2}action +hash +pass +GET \/page \(\d+\)$/m);
  });

  it('that fails is reported as failing', async () => {
    const rows = await differences('sub vcl_recv { if (req.url == "/page") { return (fail("no")); } }');
    expect(rows.find(({ what }) => what === 'failure')).toMatchObject({ after: 'no', requests: ROUNDS });
  });
});

describe('errors', () => {
  it.each([
    ['what does not compile', () => `${declared()}sub vcl_recv { nonsense; }`, /VCL compilation failed/],
    [
      'vcl_init that fails',
      () => `${declared()}sub vcl_init { return (fail("not today")); }`,
      /Cannot try next: vcl_init of after: .*not today/,
    ],
  ])('%s', async (_, program, message) => {
    expect(await tried(program())).toEqual([1, expect.stringMatching(message)]);
  });

  it('a file that is not there', async () => {
    const { code, stdout } = await proxy.adm('vcl.try', 'next', '/none.vcl');
    expect([code, stdout]).toEqual([1, expect.stringContaining("Cannot read file '/none.vcl'")]);
  });
});

it('a request of HTTP/2 is tried as one', async () => {
  const client = await Http2Client.connect(proxy.port);
  expect((await client.get('/page')).status).toBe(200);
  client.close();
  await proxy.logged(/HTTP\/2\.0[\s\S]*?End/, '-g', 'request');
  const rows = await differences('sub vcl_recv { if (req.proto == "HTTP/2.0") { return (synth(418)); } }');
  expect(rows.find(({ what }) => what === 'status')).toMatchObject({ after: '418', requests: 1 });
});
