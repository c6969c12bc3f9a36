// A storage that is none, which only an extension can give: an object that is to go there cannot be stored. Black box: only
// dist/ and its commands.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-no-storage');
const module = `${box.path('none')}.mjs`;
writeFileSync(
  module,
  `export const extension = { abi: 1,
  functions: { storage: { signature: 'STEVEDORE storage()', call: () => null } },
};`,
);
let origin: Origin;
let proxy: RunningProxy;
beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { ETag: '"1"' }, 'hello'));
  origin.on('/again', ({ head }) =>
    /if-none-match/i.test(head) ? respond('304 Not Modified') : respond('200 OK', { ETag: '"1"' }, 'hello'),
  );
  proxy = await startProxy(box, {
    program: `vcl 4.0;
import std;
import none from "${module}";
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv {
  if (req.url == "/kept") { set req.storage = none.storage(); set req.http.kept = std.cache_req_body(1KB); return (pass); }
}
sub vcl_backend_response {
  if (bereq.url == "/again" && !beresp.was_304) { set beresp.ttl = 0.001s; set beresp.grace = 0s; set beresp.keep = 1h; return (deliver); }
  if (beresp.storage == none.storage()) { std.log("none before"); }
  set beresp.storage = none.storage();
  if (beresp.storage == none.storage()) { std.log("none after"); }
  if (beresp.storage == storage.s0) { std.log("s0 after"); }
  std.log("is <" + beresp.storage + "> <" + beresp.storage_hint + ">");
  if (bereq.url == "/hint") { set beresp.storage_hint = "s0"; }
  if (bereq.url == "/uncacheable") { set beresp.uncacheable = true; }
  if (bereq.url == "/short") { set beresp.ttl = 1s; set beresp.grace = 0s; set beresp.keep = 0s; }
}
sub vcl_backend_error { std.log("error " + beresp.storage); }
`,
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function output(url: string): Promise<string[]> {
  const tags = ['-i', 'VCL_Log,FetchError,Storage'];
  const log = await proxy.logged(/./, '-g', 'request', ...tags, '-q', `ReqURL eq "${url}"`);
  return [...log.matchAll(/^-+ +(\S+) +(.*)$/gm)].map(([, tag, text]) => `${tag} ${text}`.trim());
}

it('is none: the fetch fails', async () => {
  const answer = await proxy.get('/plain');
  expect([answer.status, answer.reason]).toEqual([503, 'Backend fetch failed']);
  expect(await output('/plain')).toEqual([
    'VCL_Log none after',
    'VCL_Log is <> <>',
    'FetchError Could not get storage',
    'VCL_Log error storage.s0',
    'Storage malloc Transient',
  ]);
});

it.each(['/hint', '/uncacheable', '/short'])('goes elsewhere as it would have: %s', async (url) => {
  expect((await proxy.get(url)).status).toBe(200);
});

it('is none for what a 304 brings back, too', async () => {
  expect((await proxy.get('/again')).status).toBe(200);
  expect((await proxy.get('/again')).status).toBe(503);
  expect(await output('/again')).toContain('FetchError Could not get storage');
});

it('is Transient for the body of a request', async () => {
  const client = await ClientConnection.open(proxy.port);
  client.send(requestText('/kept', { method: 'POST', body: 'hello' }));
  expect((await client.response()).status).toBe(200);
  client.close();
  expect((await output('/kept'))[0]).toBe('Storage malloc Transient');
});
