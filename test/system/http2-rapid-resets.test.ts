// Clients that open requests and reset them at once, with the limit of the parameter and with one that the program has set
// for their connection (import h2).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Http2Client } from '../harness/http2-client.ts';
import { FRAME, frame, requestFrame, uint32 } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const CANCEL = 8;
const ENHANCE_YOUR_CALM = 11;
const LIMIT = 20;
const OWN_LIMIT = 3;

const box = new Sandbox('proxyd-http2-resets');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'fine'));
  // It is never answered: what is answered at once is over before the reset of it is read.
  origin.on('/reset', [{ hold: new Promise(() => undefined) }]);
  const recv = `sub vcl_recv {
    if (req.url == "/strict") { h2.rapid_reset_limit(${OWN_LIMIT}); }
    if (req.url == "/free") { h2.rapid_reset_limit(0); }
    set req.http.budget = h2.rapid_reset_budget();
  }
  sub vcl_deliver { set resp.http.budget = req.http.budget; set resp.http.is = h2.is(); }`;
  const program = backendProgram(origin.port, recv).replace(/(vcl 4\.\d;)/, '$1 import h2;');
  proxy = await startProxy(box, {
    program,
    args: ['-p', 'feature=+http2', '-p', `h2_rapid_reset_limit=${LIMIT}`, '-p', 'h2_rapid_reset_period=3600'],
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Requests that are begun and taken back, each in a write of its own. */
function resetMany(client: Http2Client, count: number): void {
  for (let i = 0; i < count; i++) {
    const stream = 101 + 2 * i;
    client.send(requestFrame(stream, '/reset'), frame(FRAME.RST_STREAM, 0, stream, uint32(CANCEL)));
  }
}

it.each([
  ['the parameter', '/page', LIMIT],
  ['the program', '/strict', OWN_LIMIT],
])('a connection that resets more requests than %s allows is closed', async (_who, path, limit) => {
  const before = await proxy.counters();
  const client = await Http2Client.connect(proxy.port);
  const { fields } = await client.get(path);
  expect(fields).toContainEqual(['is', 'true']);
  expect(fields).toContainEqual(['budget', `${limit}.000`]);
  resetMany(client, limit);
  client.send(frame(FRAME.PING, 0, 0, 'so far ok'.slice(0, 8)));
  await client.frame(FRAME.PING);
  expect(client.ended).toBe(false);
  client.send(requestFrame(9001, '/reset'), frame(FRAME.RST_STREAM, 0, 9001, uint32(CANCEL)));
  expect(await client.end()).toBe(ENHANCE_YOUR_CALM);
  await until('the counters', async () => {
    const now = await proxy.counters();
    return ['sc_rapid_reset', 'h2_flood_reset', 'h2_goaway_calm', 'h2_goaway'].every(
      (name) => (now[`MAIN.${name}`] ?? 0) === (before[`MAIN.${name}`] ?? 0) + 1,
    );
  });
  await proxy.logged('RAPID_RESET', '-g', 'raw', '-q', 'SessClose ~ RAPID_RESET', '-i', 'SessClose');
});

it('a connection without a limit, by its program, stays open', async () => {
  const client = await Http2Client.connect(proxy.port);
  await client.get('/free');
  resetMany(client, 10 * LIMIT);
  client.send(requestFrame(9001, '/page'));
  expect((await client.response(9001)).status).toBe(200);
  client.close();
});
