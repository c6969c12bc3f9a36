// Functions of extensions that return a promise, in a running proxy: every state that may wait does, others are
// served meanwhile, a promise that fails or times out fails its transaction alone, and a client that leaves while the
// program waits leaves nothing. Debug mode asserts the resources of each transaction at its end.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-waits');
const FILE = `${box.path('wait')}.mjs`;
const MODULE = (port: number): string => `import { get } from 'node:http';
const later = (ms, value) => new Promise((done) => setTimeout(done, ms, value));
export const extension = {
  abi: 1,
  functions: {
    pause: { signature: 'STRING pause(INT ms)', waits: true, call: async (ctx, ms) => (await later(ms), ctx.state) },
    held: { signature: 'STRING held()', waits: true, timeout: 120, call: (ctx) => new Promise((done) => {
      get('http://127.0.0.1:${port}/held', { agent: false }, (answer) => answer.resume().on('end', () => done(ctx.state)));
    }) },
    slow: { signature: 'BOOL slow()', waits: true, timeout: 0.05, call: () => later(5000, true) },
    refuse: { signature: 'BOOL refuse()', waits: true, call: () => Promise.reject(new Error('not today')) },
  },
};
`;

const WAITS = (state: string, header: string): string =>
  `if (req.http.W == "${state}") { set ${header} = wait.pause(20); }`;
const BACKEND_WAITS = (state: string, header: string): string =>
  `if (bereq.http.W == "${state}") { set ${header} = wait.pause(20); }`;

function program(port: number): string {
  return `vcl 4.1; import wait from "${FILE}"; import std;
backend default { .host = "127.0.0.1"; .port = "${port}"; }
backend dead { .host = "127.0.0.1"; .port = "1"; }
sub vcl_recv {
  ${WAITS('recv', 'req.http.seen')}
  if (req.url == "/gone") { std.log(wait.held()); return (synth(200)); }
  if (req.url == "/slow" && wait.slow()) { return (synth(200)); }
  if (req.url == "/refuse" && wait.refuse()) { return (synth(200)); }
  if (req.url == "/quick") { return (synth(204)); }
  if (req.method == "PURGE") { return (purge); }
  if (req.url == "/dead") { set req.backend_hint = dead; return (pass); }
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/pipe") { return (pipe); }
  return (hash);
}
sub vcl_hit { ${WAITS('hit', 'req.http.seen')} if (req.http.Long == "hit") { std.log(wait.held()); } }
sub vcl_miss { ${WAITS('miss', 'req.http.seen')} if (req.http.Long == "miss") { std.log(wait.held()); } }
sub vcl_pass { ${WAITS('pass', 'req.http.seen')} }
sub vcl_purge { ${WAITS('purge', 'req.http.seen')} }
sub vcl_pipe { ${WAITS('pipe', 'bereq.http.seen')} if (req.http.Long == "pipe") { std.log(wait.held()); } }
sub vcl_deliver {
  ${WAITS('deliver', 'req.http.seen')}
  if (req.http.Long == "deliver") { std.log(wait.held()); }
  if (req.http.seen) { set resp.http.seen = req.http.seen; }
}
sub vcl_synth {
  ${WAITS('synth', 'req.http.seen')}
  if (req.http.seen) { set resp.http.seen = req.http.seen; }
  return (deliver);
}
sub vcl_backend_fetch { ${BACKEND_WAITS('backend_fetch', 'bereq.http.seen')} }
sub vcl_backend_response {
  ${BACKEND_WAITS('backend_response', 'beresp.http.seen')}
  if (bereq.http.seen) { set beresp.http.seen = bereq.http.seen; }
  set beresp.ttl = 1h;
}
sub vcl_backend_error { ${BACKEND_WAITS('backend_error', 'beresp.http.seen')} }
`;
}

// Long enough that it does not come with the head in one read, and of other bytes in each.
const BODY = Array.from({ length: 60_000 }, (_, i) => String(i).padStart(5, '0')).join('');

let origin: Origin;
let proxy: RunningProxy;
let release: () => void = () => undefined;

/** Programs that wait for held() do so from now on until release() is called; resolves once one does. */
function holds(): Promise<unknown> {
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  origin.on('/held', () => [{ hold }, ...respond('200 OK')]);
  const before = origin.seen('/held').length;
  return until('a program that waits', () => origin.seen('/held').length > before);
}
beforeAll(async () => {
  origin = await Origin.start();
  writeFileSync(FILE, MODULE(origin.port));
  origin.on('*', respond('200 OK', {}, BODY));
  origin.on('/pipe', (req) =>
    respond('200 OK', { seen: /^seen: (.*)$/im.exec(req.head)?.[1] ?? '-', Connection: 'close' }, BODY),
  );
  proxy = await startProxy(box, { program: program(origin.port), params: { debug: '+req_state' } });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

it.each([
  ['recv', '/recv', 'GET', 200],
  ['miss', '/miss', 'GET', 200],
  ['hit', '/miss', 'GET', 200],
  ['deliver', '/miss', 'GET', 200],
  ['pass', '/pass', 'GET', 200],
  ['purge', '/miss', 'PURGE', 200],
  ['synth', '/quick', 'GET', 204],
  ['pipe', '/pipe', 'GET', 200],
  ['backend_fetch', '/fetch', 'GET', 200],
  ['backend_response', '/response', 'GET', 200],
  ['backend_error', '/dead', 'GET', 503],
])('vcl_%s waits', async (state, path, method, status) => {
  const answer = await proxy.get(path, { method, fields: { W: state } });
  expect([answer.status, field(answer, 'seen'), answer.complete]).toEqual([status, state, true]);
  if (status === 200 && method === 'GET') expect(answer.body.toString('latin1')).toBe(BODY);
});

it.each([
  ['/slow', 'wait.slow() did not answer within 0.05 s'],
  ['/refuse', 'wait.refuse: not today'],
])('%s fails its transaction, in words', async (path, words) => {
  expect((await proxy.get(path)).status).toBe(503);
  await proxy.logged(words, '-g', 'raw', '-i', 'VCL_Error');
});

it('serves others while one waits', async () => {
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const waiting = holds();
  const waited = proxy.get('/gone').then(note('waited'));
  await waiting;
  await Promise.all([proxy.get('/quick').then(note('quick')), proxy.get('/quick').then(note('quick'))]);
  release();
  await waited;
  expect(order).toEqual(['quick', 'quick', 'waited']);
});

it.each([
  ['recv', '/gone'],
  ['miss', '/left'],
  ['hit', '/recv'],
  ['deliver', '/recv'],
  ['pipe', '/pipe'],
])('a client that leaves in vcl_%s leaves nothing behind', async (state, path) => {
  const before = (await proxy.log('-g', 'raw', '-i', 'VCL_Log')).split('\n').length;
  const client = await ClientConnection.open(proxy.port);
  const waiting = holds();
  client.send(requestText(path, { fields: { Long: state } }));
  await waiting;
  client.reset();
  // Seen by the proxy or not: both are right.
  await delay(50);
  release();
  await expect
    .poll(async () => (await proxy.log('-g', 'raw', '-i', 'VCL_Log')).split('\n').length)
    .toBeGreaterThan(before);
  // The worker would have ended with a panic if the transaction held something at its end.
  expect((await proxy.get(path === '/pipe' ? '/quick' : path)).complete).toBe(true);
  expect((await proxy.adm('panic.show')).stdout + (await proxy.adm('panic.show')).stderr).toMatch(
    /has not panicked/,
  );
});
